/// Why a text is not valid JSON, and where.
public struct JSONError: Error, Sendable, Hashable {
    /// What is wrong with the text.
    public enum Reason: Sendable, Hashable {
        /// The text ended inside a value.
        case endOfText
        /// A byte that is not allowed here.
        case unexpectedByte(UInt8)
        /// The text starts with a byte-order mark.
        case byteOrderMark
        /// A string holds bytes that are not UTF-8.
        case invalidUTF8
        /// A `\u` escape is half of a surrogate pair.
        case loneSurrogate
        /// A number violates the grammar, such as `01` or `1.`.
        case malformedNumber
        /// Arrays and objects are nested deeper than allowed.
        case tooDeep(maximum: Int)
        /// Bytes follow the value.
        case trailingBytes
    }

    /// What is wrong.
    public let reason: Reason
    /// The offset of the offending byte, in bytes from 0.
    public let offset: Int
    /// The line of that byte, counted from 1.
    public let line: Int
    /// The column of that byte, in bytes from 1.
    public let column: Int

    init(_ reason: Reason, at offset: Int, in text: UnsafeBufferPointer<UInt8>) {
        let before = text.prefix(offset)
        self.reason = reason
        self.offset = offset
        line = 1 + before.count { $0 == UInt8(ascii: "\n") }
        column = 1 + before.reversed().prefix { $0 != UInt8(ascii: "\n") }.count
    }
}

extension JSONError: CustomStringConvertible {
    public var description: String { "line \(line), column \(column): \(reason)" }
}

extension JSONError.Reason: CustomStringConvertible {
    /// The reason as a phrase.
    public var description: String {
        switch self {
        case .endOfText: "the text ends inside a value"
        case .unexpectedByte(let byte): "unexpected \(Self.name(of: byte))"
        case .byteOrderMark: "a byte-order mark precedes the text"
        case .invalidUTF8: "a string is not valid UTF-8"
        case .loneSurrogate: "an escape names half of a surrogate pair"
        case .malformedNumber: "malformed number"
        case .tooDeep(let maximum): "nested deeper than \(maximum)"
        case .trailingBytes: "something follows the value"
        }
    }

    private static func name(of byte: UInt8) -> String {
        if (0x21...0x7E).contains(byte) { return "“\(Character(UnicodeScalar(byte)))”" }
        return "byte 0x\(byte < 16 ? "0" : "")\(String(byte, radix: 16, uppercase: true))"
    }
}
