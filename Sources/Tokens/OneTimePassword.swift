/// Passwords for one use, made of a shared secret and a counter (RFC 4226), which for those by time counts steps of 30 s
/// (RFC 6238).
package struct OneTimePassword: Sendable {
    /// The seconds of a step. Source: RFC 6238 section 4.1.
    package static let stepSeconds = 30
    private static let digits = 6
    private static let modulus: UInt32 = 1_000_000

    private let secret: [UInt8]

    package init(secret: [UInt8]) { self.secret = secret }

    /// The password for a counter, by SHA-1.
    package func password(_ counter: UInt64) -> String {
        let code = OpenSSL.hmacSHA1(withUnsafeBytes(of: counter.bigEndian, Array.init), secret: secret)
        // The last four bits say where the number begins (RFC 4226 section 5.3).
        let start = Int(code[code.count - 1] & 15)
        let number = code[start..<start + 4].reduce(0 as UInt32) { $0 << 8 | UInt32($1) } & 0x7FFF_FFFF
        let text = String(number % Self.modulus)
        return String(repeating: "0", count: Self.digits - text.utf8.count) + text
    }
}
