internal import COpenSSL

/// Helpers for every use of OpenSSL.
enum OpenSSL {
    /// Runs OpenSSL calls and then clears this thread's error queue.
    ///
    /// Failed calls and some successful ones leave errors there, which a TLS connection on the same thread would take
    /// for its own.
    static func run<Value, Failure: Error>(_ body: () throws(Failure) -> Value) throws(Failure) -> Value {
        defer { ERR_clear_error() }
        return try body()
    }

    /// Compares in a time that depends only on the lengths.
    static func areEqual(_ first: [UInt8], _ second: [UInt8]) -> Bool {
        first.withUnsafeBufferPointer { areEqual($0, second) }
    }

    static func areEqual(_ first: UnsafeBufferPointer<UInt8>, _ second: [UInt8]) -> Bool {
        first.count == second.count && CRYPTO_memcmp(first.baseAddress, second, first.count) == 0
    }

    static func sha256(_ bytes: [UInt8]) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: 32)
        var count: UInt32 = 0
        run { _ = EVP_Digest(bytes, bytes.count, &digest, &count, EVP_sha256(), nil) }
        return digest
    }

    /// The authentication code by HMAC with SHA-1, 20 bytes: only for one-time passwords, which are made with it.
    static func hmacSHA1(_ bytes: [UInt8], secret: [UInt8]) -> [UInt8] {
        var code = [UInt8](repeating: 0, count: 20)
        var count: UInt32 = 0
        run { _ = HMAC(EVP_sha1(), secret, Int32(clamping: secret.count), bytes, bytes.count, &code, &count) }
        return code
    }
}
