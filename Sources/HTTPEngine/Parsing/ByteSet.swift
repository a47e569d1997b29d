/// A set of ASCII characters in 128 bits, so that a look-up is a shift.
struct ByteSet: Sendable {
    private var low: UInt64 = 0
    private var high: UInt64 = 0

    /// The set of these ASCII characters.
    init(_ characters: String) {
        for byte in characters.utf8 { insert(byte) }
    }

    /// The set of the bytes in that range, without those that are excepted.
    init(_ range: ClosedRange<UInt8>, except excepted: UInt8) {
        for byte in range where byte != excepted { insert(byte) }
    }

    private mutating func insert(_ byte: UInt8) {
        if byte < 64 { low |= 1 << byte } else if byte < 128 { high |= 1 << (byte - 64) }
    }

    func contains(_ byte: UInt8) -> Bool {
        (byte < 64 ? low >> byte : byte < 128 ? high >> (byte - 64) : 0) & 1 == 1
    }

    private static let alphanumerics = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

    /// The characters of a token, RFC 9110 section 5.6.2.
    static let token = ByteSet(alphanumerics + "!#$%&'*+-.^_`|~")
    /// The characters of a request target: all that are visible but `#`, since real clients send `[`, `]` and `^` bare.
    static let target = ByteSet(0x21...0x7E, except: UInt8(ascii: "#"))
    // ours: RFC 3986 also allows sub-delimiters and percent-encodings, which name no host that anybody reaches and
    // which two parties read differently.
    /// The characters of a host name.
    static let hostName = ByteSet(alphanumerics + "-._~")
    /// The characters of an IPv6 address, which may end as an IPv4 address.
    static let hostAddress = ByteSet("0123456789abcdefABCDEF:.")
}

extension UInt8 {
    static var carriageReturn: UInt8 { 0x0D }
    static var lineFeed: UInt8 { 0x0A }
    static var space: UInt8 { 0x20 }
    static var tab: UInt8 { 0x09 }

    /// Whether the byte is a blank as RFC 9110 section 5.6.3 has it.
    var isBlank: Bool { self == .space || self == .tab }

    /// Whether the byte may stand in a field value, RFC 9110 section 5.5: no control character but the tabulator.
    var isFieldContent: Bool { self >= .space ? self != 0x7F : self == .tab }

    /// Whether the byte is a decimal digit.
    var isDigit: Bool { self &- 0x30 < 10 }

    /// The value of a hexadecimal digit.
    var hexadecimalValue: Int? {
        switch self {
        case 0x30...0x39: Int(self) - 0x30
        case 0x41...0x46: Int(self) - 0x41 + 10
        case 0x61...0x66: Int(self) - 0x61 + 10
        default: nil
        }
    }

    /// The letter in lower case.
    var lowercased: UInt8 { self &- 0x41 < 26 ? self | 0x20 : self }
}

extension Collection<UInt8> {
    /// Whether these bytes are that text, which stands in lower case, but for the case of letters.
    func equals(ignoringCase text: StaticString) -> Bool {
        guard count == text.utf8CodeUnitCount else { return false }
        return text.withUTF8Buffer { zip(self, $0).allSatisfy { $0.lowercased == $1 } }
    }

    /// These bytes as a decimal number; `nil` unless they are digits and nothing else, or when there are too many.
    var decimalNumber: Int? {
        guard !isEmpty, count <= 18, allSatisfy(\.isDigit) else { return nil }
        return reduce(0) { $0 * 10 + Int($1 - 0x30) }
    }
}

extension ArraySlice<UInt8> {
    /// These bytes without the blanks at both ends.
    var trimmed: ArraySlice<UInt8> {
        var slice = drop { $0.isBlank }
        while let last = slice.last, last.isBlank { slice.removeLast() }
        return slice
    }
}
