internal import COpenSSL

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

    /// All certificates of a text, at least one.
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

    /// The first private key of a text.
    static func privateKey(of text: [UInt8]) throws(TLSIdentityError) -> PrivateKey {
        let blocks = try PEMBlock.all(of: text, .privateKey)
        guard let index = blocks.firstIndex(where: \.isPrivateKey) else { throw .noPrivateKey }
        // Otherwise OpenSSL would ask for the passphrase on the terminal.
        guard !blocks[index].isEncrypted else { throw .encryptedPrivateKey }
        guard let key = PrivateKey(der: blocks[index].bytes) else {
            throw .unreadableBlock(index + 1, of: .privateKey)
        }
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
