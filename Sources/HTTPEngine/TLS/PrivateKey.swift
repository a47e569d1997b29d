internal import COpenSSL

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
