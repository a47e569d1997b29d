import COpenSSL

/// An OpenSSL certificate, freed with the last reference.
///
/// `@unchecked Sendable`: a complete certificate is never changed, and OpenSSL locks its internal caches.
final class Certificate: @unchecked Sendable {
    let pointer: OpaquePointer

    /// Takes ownership of the certificate.
    init(owning pointer: OpaquePointer) { self.pointer = pointer }

    /// Reads DER; `nil` when it is not a certificate.
    convenience init?(der bytes: [UInt8]) {
        let pointer: OpaquePointer? = bytes.withUnsafeBufferPointer { buffer in
            var start = buffer.baseAddress
            return TLSErrors.run { d2i_X509(nil, &start, buffer.count) }
        }
        guard let pointer else { return nil }
        self.init(owning: pointer)
    }

    deinit { X509_free(pointer) }

    /// Whether this certificate issued the other, by names, key identifiers and purposes.
    func hasIssued(_ other: Certificate) -> Bool {
        TLSErrors.run { X509_check_issued(pointer, other.pointer) == X509_V_OK }
    }

    func belongs(to key: PrivateKey) -> Bool { TLSErrors.run { X509_check_private_key(pointer, key.pointer) == 1 } }

    var keyBits: Int { X509_get0_pubkey(pointer).map { Int(EVP_PKEY_get_bits($0)) } ?? 0 }

    var fingerprint: [UInt8] {
        var digest = [UInt8](repeating: 0, count: 32)
        var count: UInt32 = 0
        TLSErrors.run { _ = X509_digest(pointer, EVP_sha256(), &digest, &count) }
        return digest
    }
}

/// An OpenSSL private key, freed with the last reference.
///
/// `@unchecked Sendable`: the key is never changed, and OpenSSL 3 lets any number of threads use one.
final class PrivateKey: @unchecked Sendable {
    let pointer: OpaquePointer

    /// Takes ownership of the key.
    init(owning pointer: OpaquePointer) { self.pointer = pointer }

    /// Reads DER in the forms found in PEM files: PKCS #8, or the specific ones of RSA and EC.
    convenience init?(der bytes: [UInt8]) {
        let pointer: OpaquePointer? = bytes.withUnsafeBufferPointer { buffer in
            var start = buffer.baseAddress
            return TLSErrors.run { d2i_AutoPrivateKey(nil, &start, buffer.count) }
        }
        guard let pointer else { return nil }
        self.init(owning: pointer)
    }

    deinit { EVP_PKEY_free(pointer) }
}

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
