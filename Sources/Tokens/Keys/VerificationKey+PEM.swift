extension VerificationKey {
    /// The keys of all blocks of a PEM text, in order: `PUBLIC KEY`, `RSA PUBLIC KEY` and `CERTIFICATE`.
    ///
    /// A certificate is only a container for a key: signature, chain and names are not checked, its dates are kept.
    ///
    /// - Throws: ``KeyError/privateKey`` for a private block, ``KeyError/noKeyInPEM`` when there is no block.
    public static func pem(_ text: String, id: String? = nil) throws(KeyError) -> [VerificationKey] {
        try pem(Array(text.utf8), id: id)
    }

    /// The keys of all blocks of a PEM text, given as bytes.
    public static func pem(_ text: [UInt8], id: String? = nil) throws(KeyError) -> [VerificationKey] {
        var keys: [VerificationKey] = []
        for block in try PEM.blocks(of: text) {
            if let key = try key(of: block, id: id) { keys.append(key) }
        }
        guard !keys.isEmpty else { throw .noKeyInPEM }
        return keys
    }

    private static func key(of block: PEM.Block, id: String?) throws(KeyError) -> VerificationKey? {
        switch block.label {
        case "PUBLIC KEY": return VerificationKey(try DERKey.publicKey(block.bytes), id: id)
        case "RSA PUBLIC KEY": return VerificationKey(try DERKey.rsaPublicKey(block.bytes), id: id)
        case "CERTIFICATE": return try certificate(der: block.bytes, id: id)
        // OpenSSL writes this block before a private key, which names the curve again.
        case "EC PARAMETERS": return nil
        case let label where label.hasSuffix("PRIVATE KEY"): throw .privateKey
        default: throw .unreadable("a PEM block “\(block.label)”")
        }
    }

    public static func certificate(der bytes: [UInt8], id: String? = nil) throws(KeyError) -> VerificationKey {
        let (key, validity) = try DERKey.certificate(bytes)
        return VerificationKey(key, id: id, validity: validity)
    }

    /// A public key in DER: a SubjectPublicKeyInfo, or the RSAPublicKey of PKCS#1.
    public static func publicKey(der bytes: [UInt8], id: String? = nil) throws(KeyError) -> VerificationKey {
        do throws(KeyError) {
            return VerificationKey(try DERKey.publicKey(bytes), id: id)
        } catch {
            // Bytes that are neither get the SubjectPublicKeyInfo error, the more common form; a key rejected for a
            // reason keeps it.
            guard case .unreadable = error, let key = try rsaKey(der: bytes, id: id) else { throw error }
            return key
        }
    }

    private static func rsaKey(der bytes: [UInt8], id: String?) throws(KeyError) -> VerificationKey? {
        do throws(KeyError) {
            return VerificationKey(try DERKey.rsaPublicKey(bytes), id: id)
        } catch .unreadable {
            return nil
        }
    }
}
