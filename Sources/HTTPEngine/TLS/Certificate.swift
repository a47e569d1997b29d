internal import COpenSSL

/// A certificate of OpenSSL, freed with the last reference.
///
/// `@unchecked Sendable`: nobody changes a certificate once it is complete, and OpenSSL locks the caches inside it.
final class Certificate: @unchecked Sendable {
    let pointer: OpaquePointer

    /// Takes the certificate over.
    init(owning pointer: OpaquePointer) { self.pointer = pointer }

    /// Reads DER; `nil` when it is no certificate.
    convenience init?(der bytes: [UInt8]) {
        let pointer: OpaquePointer? = bytes.withUnsafeBufferPointer { buffer in
            var start = buffer.baseAddress
            return OpenSSL.run { d2i_X509(nil, &start, buffer.count) }
        }
        guard let pointer else { return nil }
        self.init(owning: pointer)
    }

    deinit { X509_free(pointer) }

    /// Whether the other certificate was issued by this one, by names, key identifiers and purposes.
    func hasIssued(_ other: Certificate) -> Bool {
        OpenSSL.run { X509_check_issued(pointer, other.pointer) == X509_V_OK }
    }

    /// Whether the key is the one that the certificate speaks of.
    func belongs(to key: PrivateKey) -> Bool {
        OpenSSL.run { X509_check_private_key(pointer, key.pointer) == 1 }
    }

    /// The size of its key in bits.
    var keyBits: Int { X509_get0_pubkey(pointer).map { Int(EVP_PKEY_get_bits($0)) } ?? 0 }

    /// The SHA-256 digest of its DER form.
    var fingerprint: [UInt8] {
        var digest = [UInt8](repeating: 0, count: 32)
        var count: UInt32 = 0
        OpenSSL.run { _ = X509_digest(pointer, EVP_sha256(), &digest, &count) }
        return digest
    }
}
