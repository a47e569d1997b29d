extension JSON {
    /// The default limit on nesting.
    public static let defaultMaximumDepth = 64

    /// The nesting limit for stored values: an import wraps what requests sent, so it may nest deeper than a request.
    package static let keptDepth = 2 * defaultMaximumDepth

    /// Reads exactly one value (RFC 8259): UTF-8 without a byte-order mark, surrounded by optional whitespace.
    ///
    /// Repeated member names are kept, since RFC 8259 section 4 leaves them to the reader; see
    /// ``JSONObject/duplicateNames``.
    public static func parse(
        _ text: some Collection<UInt8>, maximumDepth: Int = defaultMaximumDepth
    ) throws(JSONError) -> JSON {
        let result = text.withContiguousStorageIfAvailable { parse(contiguous: $0, maximumDepth: maximumDepth) }
        return try (result ?? Array(text).withUnsafeBufferPointer { parse(contiguous: $0, maximumDepth: maximumDepth) })
            .get()
    }

    /// Reads exactly one value from an array of bytes, as for any collection.
    public static func parse(_ text: [UInt8], maximumDepth: Int = defaultMaximumDepth) throws(JSONError) -> JSON {
        try text.withUnsafeBufferPointer { parse(contiguous: $0, maximumDepth: maximumDepth) }.get()
    }

    private static func parse(
        contiguous text: UnsafeBufferPointer<UInt8>, maximumDepth: Int
    ) -> Result<JSON, JSONError> {
        var parser = JSONParser(text: text, maximumDepth: maximumDepth)
        return Result { () throws(JSONError) in try parser.document() }
    }
}

/// A recursive-descent parser over one contiguous text; the depth limit bounds the recursion.
private struct JSONParser {
    let text: UnsafeBufferPointer<UInt8>
    let maximumDepth: Int
    var position = 0
    var depth = 0

    init(text: UnsafeBufferPointer<UInt8>, maximumDepth: Int) {
        self.text = text
        self.maximumDepth = maximumDepth
    }

    mutating func document() throws(JSONError) -> JSON {
        if text.count >= 3, text[0] == 0xEF, text[1] == 0xBB, text[2] == 0xBF { throw error(.byteOrderMark) }
        skipBlanks()
        let value = try value()
        skipBlanks()
        guard position == text.count else { throw error(.trailingBytes) }
        return value
    }

    private mutating func value() throws(JSONError) -> JSON {
        guard let first = peek() else { throw error(.endOfText) }
        switch first {
        case UInt8(ascii: "{"): return .object(try object())
        case UInt8(ascii: "["): return .array(try array())
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return .number(try number())
        case UInt8(ascii: "t"): return try literal("true", .bool(true))
        case UInt8(ascii: "f"): return try literal("false", .bool(false))
        case UInt8(ascii: "n"): return try literal("null", .null)
        default: throw error(.unexpectedByte(first))
        }
    }

    private mutating func object() throws(JSONError) -> JSONObject {
        try enter()
        var members: [JSONObject.Member] = []
        if try !closes(with: UInt8(ascii: "}")) {
            repeat {
                skipBlanks()
                guard peek() == UInt8(ascii: "\"") else { throw unexpected() }
                let name = try string()
                skipBlanks()
                try expect(UInt8(ascii: ":"))
                skipBlanks()
                let member = JSONObject.Member(name: name, value: try value())
                // A typical claims set fits without growing the array by one, two and four.
                if members.isEmpty { members.reserveCapacity(4) }
                members.append(member)
            } while try continues(until: UInt8(ascii: "}"))
        }
        depth -= 1
        return JSONObject(members: members)
    }

    private mutating func array() throws(JSONError) -> [JSON] {
        try enter()
        var elements: [JSON] = []
        if try !closes(with: UInt8(ascii: "]")) {
            repeat {
                skipBlanks()
                elements.append(try value())
            } while try continues(until: UInt8(ascii: "]"))
        }
        depth -= 1
        return elements
    }

    private mutating func enter() throws(JSONError) {
        guard depth < maximumDepth else { throw error(.tooDeep(maximum: maximumDepth)) }
        depth += 1
        position += 1
    }

    /// Consumes the closing bracket if it comes next: the container is empty.
    private mutating func closes(with bracket: UInt8) throws(JSONError) -> Bool {
        skipBlanks()
        guard peek() == bracket else { return false }
        position += 1
        return true
    }

    /// Consumes a comma and returns true, or the closing bracket and returns false.
    private mutating func continues(until bracket: UInt8) throws(JSONError) -> Bool {
        skipBlanks()
        guard let next = peek(), next == UInt8(ascii: ",") || next == bracket else { throw unexpected() }
        position += 1
        return next == UInt8(ascii: ",")
    }

    private mutating func string() throws(JSONError) -> String {
        position += 1
        let start = position
        // A local variable: the parser's own would be written back for every byte.
        var end = start
        var seen: UInt8 = 0
        while end < text.count, !Self.endsPlainText(text[end]) {
            seen |= text[end]
            end += 1
        }
        position = end
        switch peek() {
        case UInt8(ascii: "\""):
            position += 1
            let bytes = UnsafeBufferPointer(rebasing: text[start..<end])
            // Most strings are ASCII, for which the standard library's validation would dominate the cost.
            return seen < 0x80 ? String(decoding: bytes, as: UTF8.self) : try checkedString(bytes, at: start)
        case UInt8(ascii: "\\"): return try escapedString(from: start)
        case nil: throw error(.endOfText)
        default: throw unexpected()
        }
    }

    private static func endsPlainText(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") || byte < 0x20
    }

    /// Continues a string at its first escape.
    private mutating func escapedString(from start: Int) throws(JSONError) -> String {
        var bytes = Array(text[start..<position])
        while let byte = peek() {
            switch byte {
            case UInt8(ascii: "\""):
                defer { position += 1 }
                return try checked(bytes, at: start)
            case UInt8(ascii: "\\"):
                position += 1
                try escape(into: &bytes)
            case 0..<0x20: throw unexpected()
            default:
                bytes.append(byte)
                position += 1
            }
        }
        throw error(.endOfText)
    }

    private mutating func escape(into bytes: inout [UInt8]) throws(JSONError) {
        guard let byte = peek() else { throw error(.endOfText) }
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): bytes.append(byte)
        case UInt8(ascii: "b"): bytes.append(0x08)
        case UInt8(ascii: "f"): bytes.append(0x0C)
        case UInt8(ascii: "n"): bytes.append(0x0A)
        case UInt8(ascii: "r"): bytes.append(0x0D)
        case UInt8(ascii: "t"): bytes.append(0x09)
        case UInt8(ascii: "u"):
            bytes.append(contentsOf: try unicodeEscape().utf8CodeUnits)
            return
        default: throw unexpected()
        }
        position += 1
    }

    /// Reads the digits after `\u`, and a second escape after a leading surrogate.
    private mutating func unicodeEscape() throws(JSONError) -> UnicodeScalar {
        let start = position
        let first = try codeUnit()
        if let scalar = UnicodeScalar(first) { return scalar }
        guard UTF16.isLeadSurrogate(first), peek() == UInt8(ascii: "\\") else { throw loneSurrogate(at: start) }
        position += 1
        guard peek() == UInt8(ascii: "u") else { throw loneSurrogate(at: start) }
        let second = try codeUnit()
        guard UTF16.isTrailSurrogate(second) else { throw loneSurrogate(at: start) }
        return UTF16.decode(UTF16.EncodedScalar([first, second]))
    }

    private func loneSurrogate(at offset: Int) -> JSONError { JSONError(.loneSurrogate, at: offset - 1, in: text) }

    private mutating func codeUnit() throws(JSONError) -> UInt16 {
        position += 1
        var unit: UInt16 = 0
        for _ in 0..<4 {
            guard let byte = peek() else { throw error(.endOfText) }
            guard let digit = byte.hexadecimalDigit else { throw unexpected() }
            unit = unit << 4 | UInt16(digit)
            position += 1
        }
        return unit
    }

    private mutating func number() throws(JSONError) -> JSONNumber {
        let start = position
        if peek() == UInt8(ascii: "-") { position += 1 }
        if peek() == UInt8(ascii: "0") { position += 1 } else { try digits(of: start) }
        if peek() == UInt8(ascii: ".") {
            position += 1
            try digits(of: start)
        }
        if let byte = peek(), byte | 0x20 == UInt8(ascii: "e") {
            position += 1
            if peek() == UInt8(ascii: "+") || peek() == UInt8(ascii: "-") { position += 1 }
            try digits(of: start)
        }
        if let byte = peek(), (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) {
            throw JSONError(.malformedNumber, at: start, in: text)
        }
        return JSONNumber(
            checked: String(decoding: UnsafeBufferPointer(rebasing: text[start..<position]), as: UTF8.self))
    }

    /// Consumes at least one digit.
    private mutating func digits(of start: Int) throws(JSONError) {
        let first = position
        while let byte = peek(), (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { position += 1 }
        if position == first { throw JSONError(.malformedNumber, at: start, in: text) }
    }

    private mutating func literal(_ word: StaticString, _ value: JSON) throws(JSONError) -> JSON {
        for offset in 0..<word.utf8CodeUnitCount { try expect(word.utf8Start[offset]) }
        return value
    }

    private mutating func expect(_ byte: UInt8) throws(JSONError) {
        guard peek() == byte else { throw unexpected() }
        position += 1
    }

    private mutating func skipBlanks() {
        while let byte = peek(), byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { position += 1 }
    }

    private func peek() -> UInt8? { position < text.count ? text[position] : nil }

    private func checked(_ bytes: [UInt8], at start: Int) throws(JSONError) -> String {
        try bytes.withUnsafeBufferPointer { (bytes) throws(JSONError) in try checkedString(bytes, at: start) }
    }

    private func checkedString(_ bytes: UnsafeBufferPointer<UInt8>, at start: Int) throws(JSONError) -> String {
        guard let string = String(validating: bytes, as: UTF8.self) else {
            throw JSONError(.invalidUTF8, at: start, in: text)
        }
        return string
    }

    private func unexpected() -> JSONError { error(peek().map(JSONError.Reason.unexpectedByte) ?? .endOfText) }

    private func error(_ reason: JSONError.Reason) -> JSONError { JSONError(reason, at: position, in: text) }
}

extension UnicodeScalar {
    fileprivate var utf8CodeUnits: String.UTF8View { String(self).utf8 }
}

/// Why a text is not valid JSON, and where.
public struct JSONError: Error, Sendable, Hashable {
    /// What is wrong with the text.
    public enum Reason: Sendable, Hashable {
        /// The text ended inside a value.
        case endOfText
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
