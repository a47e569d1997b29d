internal import COpenSSL

extension Certificate {
    var pem: [UInt8] { writePEM { PEM_write_bio_X509($0, pointer) } }

    /// Whether it may issue others: CA:TRUE, and keyCertSign if a key usage is present.
    var isAuthority: Bool { TLSErrors.run { X509_check_ca(pointer) == 1 } }

    /// When it expires, in seconds since 1970; `nil` if OpenSSL cannot read the date.
    var end: Int? {
        TLSErrors.run {
            var days: Int32 = 0
            var seconds: Int32 = 0
            guard let epoch = ASN1_TIME_set(nil, 0) else { return nil }
            defer { ASN1_TIME_free(epoch) }
            guard ASN1_TIME_diff(&days, &seconds, epoch, X509_get0_notAfter(pointer)) == 1 else { return nil }
            return Int(days) * 86_400 + Int(seconds)
        }
    }
}

extension PrivateKey {
    /// The key in PEM (PKCS #8), without a passphrase.
    var pem: [UInt8] { writePEM { PEM_write_bio_PrivateKey($0, pointer, nil, nil, 0, nil, nil) } }

    /// A new P-256 key.
    static func generate() throws(CertificateAuthorityError) -> PrivateKey {
        guard let context = EVP_PKEY_CTX_new_from_name(nil, "EC", nil) else { throw .lastFailure }
        defer { EVP_PKEY_CTX_free(context) }
        var key: OpaquePointer?
        guard EVP_PKEY_keygen_init(context) == 1, EVP_PKEY_CTX_set_group_name(context, "P-256") == 1,
            EVP_PKEY_generate(context, &key) == 1, let key
        else { throw .lastFailure }
        return PrivateKey(owning: key)
    }
}

/// The bytes that a call writes; empty when it fails, which only lack of memory causes.
private func writePEM(_ write: (OpaquePointer) -> Int32) -> [UInt8] {
    TLSErrors.run {
        guard let target = BIO_new(BIO_s_mem()) else { return [] }
        defer { BIO_free(target) }
        guard write(target) == 1 else { return [] }
        var bytes = [UInt8](repeating: 0, count: BIO_ctrl_pending(target))
        let count = BIO_read(target, &bytes, Int32(bytes.count))
        return Array(bytes.prefix(max(0, Int(count))))
    }
}
