/// A JSON number, kept as it was written.
///
/// `1800000000`, `1800000000.0`, `1.8e9` and `1e400` are four different numbers here, since a claim's form can decide
/// whether a server accepts it.
public struct JSONNumber: Sendable, Hashable {
    /// The text of the number, as RFC 8259 section 6 allows it.
    public let literal: String

    /// Takes a text that is known to be a number of RFC 8259 section 6.
    init(checked literal: String) {
        self.literal = literal
    }

    /// A number without fraction.
    public init(_ value: Int) {
        literal = String(value)
    }

    /// The shortest form that reads back as the same value; infinities and NaN, which JSON has not, become `null`'s
    /// nearest neighbour `0`.
    public init(_ value: Double) {
        if let whole = Int(exactly: value) {
            literal = String(whole)
        } else {
            literal = value.isFinite ? value.description : "0"
        }
    }

    /// Whether the text has neither fraction nor exponent.
    public var isInteger: Bool {
        literal.utf8.withContiguousStorageIfAvailable(Self.areDigits) ?? Self.areDigits(literal.utf8)
    }

    /// Whether a number's text has neither fraction nor exponent.
    private static func areDigits(_ text: some Sequence<UInt8>) -> Bool {
        text.allSatisfy { $0 != UInt8(ascii: ".") && $0 | 0x20 != UInt8(ascii: "e") }
    }

    /// The value when it was written without fraction and exponent and fits, otherwise `nil`.
    public var int: Int? {
        if let digits = literal.utf8.withContiguousStorageIfAvailable(Self.shortInt), let int = digits { return int }
        return isInteger ? Int(literal) : nil
    }

    /// The value of up to 18 digits and nothing else: what nearly every number is, and quicker read than by the library.
    private static func shortInt(_ text: UnsafeBufferPointer<UInt8>) -> Int? {
        guard text.count <= 18 else { return nil }
        var value = 0
        for byte in text {
            let digit = Int(byte) - 0x30
            guard (0...9).contains(digit) else { return nil }
            value = value * 10 + digit
        }
        return value
    }

    /// The nearest binary value; infinite for texts such as `1e400`.
    public var double: Double {
        // Up to fifteen digits an integer is exact, and reading it so is several times quicker.
        if literal.utf8.count <= 15, let int = Int(literal) { return Double(int) }
        return Double(literal) ?? .infinity
    }
}

extension JSONNumber: CustomStringConvertible {
    /// The number as it was written.
    public var description: String { literal }
}
