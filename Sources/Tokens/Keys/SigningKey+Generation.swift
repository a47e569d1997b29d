internal import COpenSSL

extension SigningKey {
    /// Generates an RSA key pair. Blocks for about 0.2 s at 2048 bits, seconds at 4096.
    package static func generateRSA(bits: Int = 2048, id: String? = nil) throws(KeyError) -> SigningKey {
        guard bits >= 2048 else { throw .rsaTooSmall(bits: bits) }
        guard bits <= 16_384 else { throw .rsaTooLarge(bits: bits) }
        return try generate("RSA", id: id) { EVP_PKEY_CTX_set_rsa_keygen_bits($0, Int32(bits)) == 1 }
    }

    package static func generateEC(_ curve: KeyKind.Curve, id: String? = nil) throws(KeyError) -> SigningKey {
        try generate("EC", id: id) { EVP_PKEY_CTX_set_group_name($0, curve.openSSLName) == 1 }
    }

    package static func generateEd25519(id: String? = nil) throws(KeyError) -> SigningKey {
        try generate("ED25519", id: id) { _ in true }
    }

    private static func generate(
        _ type: String, id: String?, _ configure: (OpaquePointer) -> Bool
    ) throws(KeyError) -> SigningKey {
        let key: OpaquePointer? = OpenSSL.run {
            guard let context = EVP_PKEY_CTX_new_from_name(nil, type, nil) else { return nil }
            defer { EVP_PKEY_CTX_free(context) }
            var key: OpaquePointer?
            guard EVP_PKEY_keygen_init(context) == 1, configure(context), EVP_PKEY_generate(context, &key) == 1 else {
                return nil
            }
            return key
        }
        guard let key else { throw .unreadable("OpenSSL made no \(type) key") }
        return try SigningKey(try AsymmetricKey(owning: key, hasPrivatePart: true), id: id)
    }
}
