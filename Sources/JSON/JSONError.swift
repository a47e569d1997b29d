/// Why a text is not JSON, and where.
public struct JSONError: Error, Sendable, Hashable {
    /// What is wrong.
    public enum Reason: Sendable, Hashable {
        /// The text ended inside a value.
        case endOfText
        /// A byte that may not stand there.
        case unexpectedByte(UInt8)
        /// A byte-order mark stands before the text.
        case byteOrderMark
        /// A string holds bytes that are not UTF-8.
        case invalidUTF8
        /// A `\u` escape names half of a surrogate pair.
        case loneSurrogate
        /// A number breaks the grammar, such as `01` or `1.`.
        case malformedNumber
        /// Arrays and objects are nested deeper than allowed.
        case tooDeep(maximum: Int)
        /// Something follows the value.
        case trailingBytes
    }

    /// What is wrong.
    public let reason: Reason
    /// The offset of the offending byte from the start of the text, in bytes.
    public let offset: Int
    /// The line of that byte, counted from 1.
    public let line: Int
    /// The byte's place in its line, counted from 1.
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
    /// The place and the reason in one line.
    public var description: String { "line \(line), column \(column): \(reason)" }
}

extension JSONError.Reason: CustomStringConvertible {
    /// The reason as a phrase for people.
    public var description: String {
        switch self {
        case .endOfText: "the text ends inside a value"
        case .unexpectedByte(let byte): "unexpected \(Self.name(of: byte))"
        case .byteOrderMark: "a byte-order mark stands before the text"
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
