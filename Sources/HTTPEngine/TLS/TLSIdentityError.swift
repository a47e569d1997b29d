/// Why certificates and a key cannot serve; the description is one line for the user.
public enum TLSIdentityError: Error, Hashable, CustomStringConvertible {
    /// Which of the two texts is meant.
    public enum Part: String, Sendable {
        /// The text with the certificates.
        case certificates = "certificate"
        /// The text with the private key.
        case privateKey = "private key"
    }

    /// There is no certificate in the text.
    case noCertificate
    /// There is no private key in the text.
    case noPrivateKey
    /// A block, counted from 1, is broken or holds something else than its label says.
    case unreadableBlock(Int, of: Part)
    /// The private key can only be read with a passphrase.
    case encryptedPrivateKey
    /// The private key belongs to none of the certificates.
    case foreignPrivateKey
    /// The private key belongs to a certificate, counted from 1, that is not the first.
    case misplacedCertificate(Int)
    /// A certificate, counted from 1, is not issued by the one behind it.
    case brokenChain(Int)
    /// The key of a certificate, counted from 1, is too short for today.
    case weakKey(Int, bits: Int)
    /// A certificate, counted from 1, is signed with a hash that is too weak for today.
    case weakSignature(Int)
    /// OpenSSL refuses for another reason.
    case unusable(String)

    /// What was found, and what would be right.
    public var description: String {
        switch self {
        case .noCertificate:
            "there is no certificate in it: expected PEM with “-----BEGIN CERTIFICATE-----”, the server's own first."
        case .noPrivateKey:
            "there is no private key in it: expected PEM with “-----BEGIN PRIVATE KEY-----”."
        case .unreadableBlock(let position, let part):
            "PEM block \(position) of the \(part.rawValue) file is unreadable: export it anew, or leave it out."
        case .encryptedPrivateKey:
            "the private key has a passphrase, which nobody here can type: give it without one (openssl pkey -in KEY -out PLAIN)."
        case .foreignPrivateKey:
            "the private key does not belong to the certificate: give the key that the certificate was issued for."
        case .misplacedCertificate(let position):
            "the private key belongs to certificate \(position) of the chain: put that one first, its issuers behind it."
        case .brokenChain(let position):
            "certificate \(position) is not issued by certificate \(position + 1): put the server's own first and behind each its issuer."
        case .weakKey(let position, let bits):
            "the key of certificate \(position) has \(bits) bits, which is too weak: take RSA from 2048 bits, or an elliptic curve from 224."
        case .weakSignature(let position):
            "certificate \(position) is signed with a hash that is too weak: have it issued with SHA-256 or better."
        case .unusable(let reason):
            "OpenSSL refuses it: \(reason)."
        }
    }
}
