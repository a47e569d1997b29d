/// Why certificates and key are unusable; the description is one line for the user.
package enum TLSIdentityError: Error, Hashable, CustomStringConvertible {
    /// One of the two texts.
    package enum Part: String, Sendable {
        case certificates = "certificate"
        case privateKey = "private key"
    }

    case noCertificate
    case noPrivateKey
    /// A block, counted from 1, is broken or does not match its label.
    case unreadableBlock(Int, of: Part)
    case encryptedPrivateKey
    case foreignPrivateKey
    /// By the certificate of the key, counted from 1.
    case misplacedCertificate(Int)
    /// By the certificate, counted from 1.
    case brokenChain(Int)
    case weakKey(Int, bits: Int)
    case weakSignature(Int)
    case unusable(String)

    package var description: String {
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
