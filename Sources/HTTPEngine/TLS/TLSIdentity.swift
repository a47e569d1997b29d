import COpenSSL

/// A server's identity: a certificate chain and the private key of its first certificate.
///
/// It serves TLS 1.2 and 1.3; 1.2 only with forward secrecy and authenticated encryption. Two identities are equal if
/// they are the same object.
package final class TLSIdentity: Sendable {
    let context: TLSContext

    /// Reads both from PEM, and has OpenSSL check them.
    ///
    /// - Parameters:
    ///   - certificateChain: The server's own certificate, then its issuers in order; the root is optional.
    ///   - privateKey: The key of the first certificate, without a passphrase. Both may be the same text.
    package init(certificateChain: [UInt8], privateKey: [UInt8]) throws(TLSIdentityError) {
        let certificates = try Self.certificates(of: certificateChain)
        let key = try Self.privateKey(of: privateKey)
        try Self.check(certificates, key)
        guard let context = TLSContext(.server) else { throw .unusable("out of memory") }
        try TLSErrors.run { () throws(TLSIdentityError) in try Self.give(certificates, key, to: context) }
        self.context = context
    }

    static func certificates(of text: [UInt8]) throws(TLSIdentityError) -> [Certificate] {
        var certificates: [Certificate] = []
        for (index, block) in try PEMBlock.all(of: text, .certificates).enumerated() where block.isCertificate {
            guard let certificate = Certificate(der: block.bytes) else {
                throw .unreadableBlock(index + 1, of: .certificates)
            }
            certificates.append(certificate)
        }
        guard !certificates.isEmpty else { throw .noCertificate }
        return certificates
    }

    static func privateKey(of text: [UInt8]) throws(TLSIdentityError) -> PrivateKey {
        let blocks = try PEMBlock.all(of: text, .privateKey)
        guard let index = blocks.firstIndex(where: \.isPrivateKey) else { throw .noPrivateKey }
        // Otherwise OpenSSL would ask for the passphrase on the terminal.
        guard !blocks[index].isEncrypted else { throw .encryptedPrivateKey }
        guard let key = PrivateKey(der: blocks[index].bytes) else { throw .unreadableBlock(index + 1, of: .privateKey) }
        return key
    }

    private static func check(_ certificates: [Certificate], _ key: PrivateKey) throws(TLSIdentityError) {
        guard let owner = certificates.firstIndex(where: { $0.belongs(to: key) }) else { throw .foreignPrivateKey }
        guard owner == 0 else { throw .misplacedCertificate(owner + 1) }
        for (index, issuer) in certificates.enumerated().dropFirst() where !issuer.hasIssued(certificates[index - 1]) {
            throw .brokenChain(index)
        }
    }

    private static func give(
        _ certificates: [Certificate], _ key: PrivateKey, to context: TLSContext
    ) throws(TLSIdentityError) {
        for (index, certificate) in certificates.enumerated() {
            let code =
                index == 0
                ? Int(SSL_CTX_use_certificate(context.pointer, certificate.pointer))
                // With the last argument 1, OpenSSL takes a reference of its own.
                : SSL_CTX_ctrl(context.pointer, SSL_CTRL_CHAIN_CERT, 1, UnsafeMutableRawPointer(certificate.pointer))
            guard code == 1 else { throw refusal(of: certificate, position: index + 1) }
        }
        guard SSL_CTX_use_PrivateKey(context.pointer, key.pointer) == 1 else {
            throw .unusable(TLSErrors.firstReasonText)
        }
    }

    private static func refusal(of certificate: Certificate, position: Int) -> TLSIdentityError {
        switch TLSErrors.firstReason {
        case SSL_R_EE_KEY_TOO_SMALL, SSL_R_CA_KEY_TOO_SMALL: .weakKey(position, bits: certificate.keyBits)
        case SSL_R_CA_MD_TOO_WEAK: .weakSignature(position)
        default: .unusable(TLSErrors.firstReasonText)
        }
    }
}

extension TLSIdentity: Hashable {
    /// Whether both are the same object.
    package static func == (first: TLSIdentity, second: TLSIdentity) -> Bool { first === second }

    package func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

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
            "PEM block \(position) of the \(part.rawValue) file is unreadable: export it again, or leave it out."
        case .encryptedPrivateKey:
            "the private key has a passphrase, which nobody can enter here: give it without one (openssl pkey -in KEY -out PLAIN)."
        case .foreignPrivateKey:
            "the private key does not belong to the certificate: give the key that the certificate was issued for."
        case .misplacedCertificate(let position):
            "the private key belongs to certificate \(position) of the chain: put that one first, its issuers after it."
        case .brokenChain(let position):
            "certificate \(position) is not issued by certificate \(position + 1): put the server's own first, and after each its issuer."
        case .weakKey(let position, let bits):
            "the key of certificate \(position) has \(bits) bits, which is too weak: use RSA with at least 2048 bits, or an elliptic curve with at least 224."
        case .weakSignature(let position):
            "certificate \(position) is signed with a hash that is too weak: have it issued with SHA-256 or better."
        case .unusable(let reason):
            "OpenSSL refuses it: \(reason)."
        }
    }
}

/// One block of a PEM text (RFC 7468): its label, the headers of an old encrypted key, and the bytes.
struct PEMBlock {
    let label: String
    let headers: String
    let bytes: [UInt8]

    /// Whether the bytes are protected by a passphrase, in PKCS #8 or the older form of RFC 1421.
    var isEncrypted: Bool { label == "ENCRYPTED PRIVATE KEY" || headers.contains("ENCRYPTED") }

    /// Whether the block is a certificate, under any common label.
    var isCertificate: Bool { ["CERTIFICATE", "X509 CERTIFICATE", "TRUSTED CERTIFICATE"].contains(label) }

    var isPrivateKey: Bool { label.hasSuffix("PRIVATE KEY") }

    /// All blocks of a text; other text is ignored.
    static func all(of text: [UInt8], _ part: TLSIdentityError.Part) throws(TLSIdentityError) -> [PEMBlock] {
        try text.withUnsafeBufferPointer { (text) throws(TLSIdentityError) in
            guard let start = text.baseAddress, let count = Int32(exactly: text.count) else { return [] }
            guard let source = BIO_new_mem_buf(start, count) else { throw .unusable("out of memory") }
            defer { BIO_free(source) }
            return try TLSErrors.run { () throws(TLSIdentityError) in
                var blocks: [PEMBlock] = []
                while let block = try next(of: source, part, position: blocks.count + 1) { blocks.append(block) }
                return blocks
            }
        }
    }

    private static func next(
        of source: OpaquePointer, _ part: TLSIdentityError.Part, position: Int
    ) throws(TLSIdentityError) -> PEMBlock? {
        var label: UnsafeMutablePointer<CChar>?
        var headers: UnsafeMutablePointer<CChar>?
        var bytes: UnsafeMutablePointer<UInt8>?
        var count = 0
        guard PEM_read_bio(source, &label, &headers, &bytes, &count) == 1 else {
            // The end of the text is reported as an error too; any other error means a broken block.
            if ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE { return nil }
            throw .unreadableBlock(position, of: part)
        }
        defer {
            // The bytes may be a key.
            CRYPTO_clear_free(bytes, count, nil, 0)
            for pointer in [label, headers] { CRYPTO_free(pointer, nil, 0) }
        }
        return PEMBlock(
            label: label.map { String(cString: $0) } ?? "", headers: headers.map { String(cString: $0) } ?? "",
            bytes: Array(UnsafeBufferPointer(start: bytes, count: count)))
    }
}
