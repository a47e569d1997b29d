internal import COpenSSL

/// A private key of OpenSSL, freed with the last reference.
///
/// `@unchecked Sendable`: nobody changes the key, and OpenSSL 3 lets any number of threads use one.
final class PrivateKey: @unchecked Sendable {
    let pointer: OpaquePointer

    /// Takes the key over.
    init(owning pointer: OpaquePointer) { self.pointer = pointer }

    /// Reads DER in one of the forms that stand in PEM files: PKCS #8, or that of RSA and EC alone.
    convenience init?(der bytes: [UInt8]) {
        let pointer: OpaquePointer? = bytes.withUnsafeBufferPointer { buffer in
            var start = buffer.baseAddress
            return OpenSSL.run { d2i_AutoPrivateKey(nil, &start, buffer.count) }
        }
        guard let pointer else { return nil }
        self.init(owning: pointer)
    }

    deinit { EVP_PKEY_free(pointer) }
}
