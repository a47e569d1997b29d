import COpenSSL
import Synchronization

/// An HMAC secret, with one keyed context per hash used.
final class MACKey: Sendable {
    let secret: [UInt8]
    /// Hardly ever more than one, so a linear search is enough.
    private let contexts = Mutex<[(algorithm: Algorithm, context: KeyedContext)]>([])

    init(secret: [UInt8]) { self.secret = secret }

    /// The authentication code of the bytes; `nil` for an algorithm other than HMAC.
    func code(for bytes: [UInt8], algorithm: Algorithm) -> [UInt8]? {
        context(for: algorithm)?.withCode(for: bytes[...]) { Array($0) }
    }

    /// Whether the code authenticates the bytes; compared in constant time.
    func verifies(_ code: [UInt8], of bytes: ArraySlice<UInt8>, algorithm: Algorithm) -> Bool {
        context(for: algorithm)?.withCode(for: bytes) { OpenSSL.areEqual($0, code) } ?? false
    }

    private func context(for algorithm: Algorithm) -> KeyedContext? {
        contexts.withLock { contexts in
            if let known = contexts.first(where: { $0.algorithm == algorithm }) { return known.context }
            guard algorithm.family == .hmac, let digest = algorithm.digestName,
                let context = KeyedContext(secret: secret, digest: digest)
            else { return nil }
            contexts.append((algorithm, context))
            return context
        }
    }
}

/// An HMAC context with its key set and no data yet.
///
/// Fetching the algorithm and setting the key cost more than a whole token; copying this context avoids both. Copies
/// are reused, since making one costs a third of a token; there are as many as there were concurrent calls.
///
/// `@unchecked Sendable`: `context` is written in the initializer and freed in `deinit`; in between it is only the
/// source of `EVP_MAC_CTX_dup`, which reads it and counts references atomically. Only the call that took a copy from
/// the list uses it.
final class KeyedContext: @unchecked Sendable {
    private struct Copy: @unchecked Sendable {
        let context: OpaquePointer
    }

    /// Whether initializing without a key restarts with the old key. Before 3.0.3, OpenSSL's HMAC reports success but
    /// continues (openssl/openssl issue 17811).
    private static let startsAgain = OpenSSL_version_num() >= 0x3000_0030

    private let context: OpaquePointer
    private let byteCount: Int
    private let copies = Mutex<[Copy]>([])

    init?(secret: [UInt8], digest: String) {
        let keyed = OpenSSL.run { Self.keyedContext(secret, digest) }
        guard let keyed else { return nil }
        context = keyed
        byteCount = EVP_MAC_CTX_get_mac_size(keyed)
    }

    deinit {
        for copy in copies.withLock({ $0 }) { EVP_MAC_CTX_free(copy.context) }
        EVP_MAC_CTX_free(context)
    }

    private static func keyedContext(_ secret: [UInt8], _ digest: String) -> OpaquePointer? {
        guard let mac = EVP_MAC_fetch(nil, "HMAC", nil) else { return nil }
        defer { EVP_MAC_free(mac) }
        guard let context = EVP_MAC_CTX_new(mac) else { return nil }
        // The parameter list only borrows both texts, so they must outlive it.
        var digest = Array(digest.utf8CString)
        let isKeyed = OSSL_MAC_PARAM_DIGEST.withCString { name in
            digest.withUnsafeMutableBufferPointer { digest in
                var parameters = [
                    OSSL_PARAM_construct_utf8_string(name, digest.baseAddress, 0), OSSL_PARAM_construct_end(),
                ]
                return EVP_MAC_init(context, secret, secret.count, &parameters) == 1
            }
        }
        if isKeyed { return context }
        EVP_MAC_CTX_free(context)
        return nil
    }

    /// Passes the code to `use`; `nil` when OpenSSL fails.
    func withCode<Result>(for bytes: ArraySlice<UInt8>, _ use: (UnsafeBufferPointer<UInt8>) -> Result) -> Result? {
        guard let copy = copy() else { return nil }
        defer { giveBack(copy) }
        guard bytes.withUnsafeBufferPointer({ EVP_MAC_update(copy, $0.baseAddress, $0.count) }) == 1 else { return nil }
        return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: byteCount) { buffer in
            var written = 0
            let isComplete = EVP_MAC_final(copy, buffer.baseAddress, &written, byteCount) == 1
            return isComplete && written == byteCount ? use(UnsafeBufferPointer(buffer)) : nil
        }
    }

    private func copy() -> OpaquePointer? {
        if let copy = copies.withLock({ $0.popLast() }) {
            if EVP_MAC_init(copy.context, nil, 0, nil) == 1 { return copy.context }
            EVP_MAC_CTX_free(copy.context)
        }
        return EVP_MAC_CTX_dup(context)
    }

    private func giveBack(_ copy: OpaquePointer) {
        guard Self.startsAgain else { return EVP_MAC_CTX_free(copy) }
        let copy = Copy(context: copy)
        copies.withLock { $0.append(copy) }
    }
}

/// One-time passwords from a shared secret and a counter (RFC 4226); time-based ones count steps of 30 s (RFC 6238).
package struct OneTimePassword: Sendable {
    /// The length of a step. Source: RFC 6238 section 4.1.
    package static let stepSeconds = 30
    private static let digits = 6
    private static let modulus: UInt32 = 1_000_000

    private let secret: [UInt8]

    package init(secret: [UInt8]) { self.secret = secret }

    /// The password for a counter, by HMAC-SHA-1.
    package func password(_ counter: UInt64) -> String {
        let code = OpenSSL.hmacSHA1(withUnsafeBytes(of: counter.bigEndian, Array.init), secret: secret)
        // The last four bits say where the number begins (RFC 4226 section 5.3).
        let start = Int(code[code.count - 1] & 15)
        let number = code[start..<start + 4].reduce(0 as UInt32) { $0 << 8 | UInt32($1) } & 0x7FFF_FFFF
        return (number % Self.modulus).digits(atLeast: Self.digits)
    }
}

/// Digests, for tags that change with their content.
public enum Digest {
    public static func sha256(_ bytes: [UInt8]) -> [UInt8] { OpenSSL.sha256(bytes) }

    /// Whether digests or secrets are equal, in a time that depends only on their lengths.
    public static func areEqual(_ first: [UInt8], _ second: [UInt8]) -> Bool { OpenSSL.areEqual(first, second) }
}
