internal import COpenSSL

/// What every use of OpenSSL here needs.
enum OpenSSL {
    /// Runs some calls of OpenSSL and empties this thread's queue of errors afterwards.
    ///
    /// A failed call leaves its errors there, some successful ones do too, and a TLS connection on the same thread would
    /// take them for its own.
    static func run<Value, Failure: Error>(_ body: () throws(Failure) -> Value) throws(Failure) -> Value {
        defer { ERR_clear_error() }
        return try body()
    }

    /// Whether both byte strings are equal, in a time that depends on their lengths alone.
    static func areEqual(_ first: [UInt8], _ second: [UInt8]) -> Bool {
        first.withUnsafeBufferPointer { areEqual($0, second) }
    }

    /// The same for bytes that lie in no array.
    static func areEqual(_ first: UnsafeBufferPointer<UInt8>, _ second: [UInt8]) -> Bool {
        first.count == second.count && CRYPTO_memcmp(first.baseAddress, second, first.count) == 0
    }

    /// The SHA-256 digest.
    static func sha256(_ bytes: [UInt8]) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: 32)
        var count: UInt32 = 0
        run { _ = EVP_Digest(bytes, bytes.count, &digest, &count, EVP_sha256(), nil) }
        return digest
    }
}
