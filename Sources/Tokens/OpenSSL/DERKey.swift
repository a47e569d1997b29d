internal import COpenSSL

/// Keys in DER, the content of PEM blocks.
enum DERKey {
    /// A SubjectPublicKeyInfo (RFC 5280 section 4.1.2.7).
    static func publicKey(_ bytes: [UInt8]) throws(KeyError) -> AsymmetricKey {
        if let numbers = RSANumbers.publicKeyInfo(bytes) {
            return try KeyBuilder.rsa(modulus: numbers.modulus, exponent: numbers.exponent)
        }
        return try key(bytes, "a SubjectPublicKeyInfo", hasPrivatePart: false) { d2i_PUBKEY(nil, &$0, $1) }
    }

    /// An RSAPublicKey (RFC 8017 appendix A.1.1).
    static func rsaPublicKey(_ bytes: [UInt8]) throws(KeyError) -> AsymmetricKey {
        if let numbers = RSANumbers.publicKey(bytes[...]) {
            return try KeyBuilder.rsa(modulus: numbers.modulus, exponent: numbers.exponent)
        }
        return try key(bytes, "an RSAPublicKey", hasPrivatePart: false) { d2i_PublicKey(EVP_PKEY_RSA, nil, &$0, $1) }
    }

    /// A private key: PKCS#8, RSAPrivateKey or ECPrivateKey.
    static func privateKey(_ bytes: [UInt8]) throws(KeyError) -> AsymmetricKey {
        if let numbers = RSANumbers.privateKey(bytes) {
            return try KeyBuilder.rsa(privateNumbers: numbers, checkingParts: false)
        }
        return try key(bytes, "a private key", hasPrivatePart: true) { d2i_AutoPrivateKey(nil, &$0, $1) }
    }

    /// The public key and the dates of a certificate; signature and names are not checked.
    static func certificate(_ bytes: [UInt8]) throws(KeyError) -> (AsymmetricKey, CertificateValidity) {
        let found: (OpaquePointer, CertificateValidity)? = OpenSSL.run {
            let (certificate, isWhole) = decode(bytes) { d2i_X509(nil, &$0, $1) }
            guard let certificate else { return nil }
            defer { X509_free(certificate) }
            guard isWhole, let validity = CertificateValidity(certificate: certificate),
                let key = X509_get_pubkey(certificate)
            else { return nil }
            return (key, validity)
        }
        guard let (key, validity) = found else { throw .unreadable("the bytes are no X.509 certificate in DER") }
        return (try AsymmetricKey(owning: key, hasPrivatePart: false), validity)
    }

    private static func key(
        _ bytes: [UInt8], _ name: String, hasPrivatePart: Bool,
        _ read: (inout UnsafePointer<UInt8>?, Int) -> OpaquePointer?
    ) throws(KeyError) -> AsymmetricKey {
        let (key, isWhole) = OpenSSL.run { decode(bytes, read) }
        guard let key else { throw .unreadable("the bytes are not \(name) in DER") }
        guard isWhole else {
            EVP_PKEY_free(key)
            throw .unreadable("something follows \(name)")
        }
        return try AsymmetricKey(owning: key, hasPrivatePart: hasPrivatePart)
    }

    private static func decode(
        _ bytes: [UInt8], _ read: (inout UnsafePointer<UInt8>?, Int) -> OpaquePointer?
    ) -> (object: OpaquePointer?, isWhole: Bool) {
        bytes.withUnsafeBufferPointer { buffer in
            var position = buffer.baseAddress
            let object = read(&position, buffer.count)
            return (object, position == buffer.baseAddress.map { $0 + buffer.count })
        }
    }
}
