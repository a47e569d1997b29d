extension UInt8 {
    static var carriageReturn: UInt8 { 0x0D }
    static var lineFeed: UInt8 { 0x0A }
    static var space: UInt8 { 0x20 }
    static var tab: UInt8 { 0x09 }

    /// Whether the byte is a blank (RFC 9110 section 5.6.3).
    var isBlank: Bool { self == .space || self == .tab }

    /// Whether the byte is allowed in a field value (RFC 9110 section 5.5): no control characters except tab.
    var isFieldContent: Bool { self >= .space ? self != 0x7F : self == .tab }

    var isDigit: Bool { self &- 0x30 < 10 }

    var hexadecimalValue: Int? {
        switch self {
        case 0x30...0x39: Int(self) - 0x30
        case 0x41...0x46: Int(self) - 0x41 + 10
        case 0x61...0x66: Int(self) - 0x61 + 10
        default: nil
        }
    }

    var lowercased: UInt8 { self &- 0x41 < 26 ? self | 0x20 : self }
}

extension Collection<UInt8> {
    /// Compares case-insensitively with a lowercase text.
    func equals(ignoringCase text: StaticString) -> Bool {
        guard count == text.utf8CodeUnitCount else { return false }
        return text.withUTF8Buffer { zip(self, $0).allSatisfy { $0.lowercased == $1 } }
    }

    func equals(_ text: StaticString) -> Bool {
        guard count == text.utf8CodeUnitCount else { return false }
        return text.withUTF8Buffer { zip(self, $0).allSatisfy { $0 == $1 } }
    }

    /// The decimal number; `nil` unless there are 1 to 18 digits and nothing else.
    var decimalNumber: Int? {
        guard !isEmpty, count <= 18, allSatisfy(\.isDigit) else { return nil }
        return reduce(0) { $0 * 10 + Int($1 - 0x30) }
    }
}

extension BidirectionalCollection<UInt8> where SubSequence == Self {
    /// The bytes without leading and trailing blanks.
    var trimmed: Self {
        var slice = drop { $0.isBlank }
        while let last = slice.last, last.isBlank { slice.removeLast() }
        return slice
    }
}
