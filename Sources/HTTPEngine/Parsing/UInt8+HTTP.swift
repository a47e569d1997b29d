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

    /// Whether these bytes are that text.
    func equals(_ text: StaticString) -> Bool {
        guard count == text.utf8CodeUnitCount else { return false }
        return text.withUTF8Buffer { zip(self, $0).allSatisfy { $0 == $1 } }
    }

    /// These bytes as a decimal number; `nil` unless they are digits and nothing else, or when there are too many.
    var decimalNumber: Int? {
        guard !isEmpty, count <= 18, allSatisfy(\.isDigit) else { return nil }
        return reduce(0) { $0 * 10 + Int($1 - 0x30) }
    }
}

extension BidirectionalCollection<UInt8> where SubSequence == Self {
    /// These bytes without the blanks at both ends.
    var trimmed: Self {
        var slice = drop { $0.isBlank }
        while let last = slice.last, last.isBlank { slice.removeLast() }
        return slice
    }
}
