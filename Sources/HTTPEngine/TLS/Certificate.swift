internal import COpenSSL

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

    func belongs(to key: PrivateKey) -> Bool {
        TLSErrors.run { X509_check_private_key(pointer, key.pointer) == 1 }
    }

    var keyBits: Int { X509_get0_pubkey(pointer).map { Int(EVP_PKEY_get_bits($0)) } ?? 0 }

    var fingerprint: [UInt8] {
        var digest = [UInt8](repeating: 0, count: 32)
        var count: UInt32 = 0
        TLSErrors.run { _ = X509_digest(pointer, EVP_sha256(), &digest, &count) }
        return digest
    }
}
