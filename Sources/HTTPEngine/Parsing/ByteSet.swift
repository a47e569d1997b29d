/// A set of ASCII characters in 128 bits; a lookup is a shift.
struct ByteSet: Sendable {
    private var low: UInt64 = 0
    private var high: UInt64 = 0

    /// The set of these ASCII characters.
    init(_ characters: String) {
        for byte in characters.utf8 { insert(byte) }
    }

    init(_ range: ClosedRange<UInt8>, except excepted: UInt8) {
        for byte in range where byte != excepted { insert(byte) }
    }

    private mutating func insert(_ byte: UInt8) {
        if byte < 64 { low |= 1 << byte } else if byte < 128 { high |= 1 << (byte - 64) }
    }

    func contains(_ byte: UInt8) -> Bool {
        // The masking shift uses the amount modulo 64, as both halves need.
        byte < 128 && (byte < 64 ? low : high) &>> UInt64(byte) & 1 == 1
    }

    private static let alphanumerics = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

    /// The characters of a token (RFC 9110 section 5.6.2).
    static let token = ByteSet(alphanumerics + "!#$%&'*+-.^_`|~")
    /// The characters of a request target: all visible ones except `#`, since real clients send `[`, `]` and `^`
    /// unescaped.
    static let target = ByteSet(0x21...0x7E, except: UInt8(ascii: "#"))
    // ours: RFC 3986 also allows sub-delimiters and percent-encoding, which no reachable host uses and which two
    // parties may read differently.
    /// The characters of a host name.
    static let hostName = ByteSet(alphanumerics + "-._~")
}
