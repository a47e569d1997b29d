extension JSON {
    /// The value as compact JSON: no whitespace, members in order, numbers as written, minimal escaping.
    public var bytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(256)
        write(to: &bytes)
        return bytes
    }

    /// The value as compact JSON text.
    public var text: String { String(decoding: bytes, as: UTF8.self) }

    /// The value as indented JSON text: two spaces a level, empty containers on one line.
    public var prettyText: String {
        var bytes: [UInt8] = []
        write(to: &bytes, indentation: 0)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Appends the value as compact JSON.
    public func write(to bytes: inout [UInt8]) {
        write(to: &bytes, indentation: nil)
    }

    private func write(to bytes: inout [UInt8], indentation: Int?) {
        switch self {
        case .null: bytes.append(contentsOf: "null".utf8)
        case .bool(let value): bytes.append(contentsOf: (value ? "true" : "false").utf8)
        case .number(let number): bytes.append(contentsOf: number.literal.utf8)
        case .string(let string): Self.write(string, to: &bytes)
        case .array(let elements):
            Self.write(elements, between: "[", "]", to: &bytes, indentation: indentation) { element, bytes, inner in
                element.write(to: &bytes, indentation: inner)
            }
        case .object(let object):
            Self.write(object, between: "{", "}", to: &bytes, indentation: indentation) { member, bytes, inner in
                Self.write(member.name, to: &bytes)
                bytes.append(UInt8(ascii: ":"))
                if inner != nil { bytes.append(UInt8(ascii: " ")) }
                member.value.write(to: &bytes, indentation: inner)
            }
        }
    }

    private static func write<Item>(
        _ items: some Collection<Item>, between open: Unicode.Scalar, _ close: Unicode.Scalar,
        to bytes: inout [UInt8], indentation: Int?, _ writeItem: (Item, inout [UInt8], Int?) -> Void
    ) {
        let inner = indentation.map { $0 + 1 }
        bytes.append(UInt8(ascii: open))
        var isFirst = true
        for item in items {
            if !isFirst { bytes.append(UInt8(ascii: ",")) }
            isFirst = false
            breakLine(&bytes, inner)
            writeItem(item, &bytes, inner)
        }
        if !isFirst { breakLine(&bytes, indentation) }
        bytes.append(UInt8(ascii: close))
    }

    private static func breakLine(_ bytes: inout [UInt8], _ indentation: Int?) {
        guard let indentation else { return }
        bytes.append(UInt8(ascii: "\n"))
        bytes.append(contentsOf: repeatElement(UInt8(ascii: " "), count: 2 * indentation))
    }

    /// Appends the string in quotes, with only the escapes that RFC 8259 section 7 requires.
    private static func write(_ string: String, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        // Most strings need no escaping and are copied whole.
        let isCopied: Void? = string.utf8.withContiguousStorageIfAvailable { text in
            if needsEscape(text) {
                writeEscaped(text, to: &bytes)
            } else {
                bytes.append(contentsOf: text)
            }
        }
        if isCopied == nil { writeEscaped(string.utf8, to: &bytes) }
        bytes.append(UInt8(ascii: "\""))
    }

    private static func needsEscape(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        // A loop without an early exit can be vectorized.
        var found: UInt8 = 0
        for byte in text {
            found |= (byte < 0x20 ? 1 : 0) | (byte == UInt8(ascii: "\"") ? 1 : 0) | (byte == UInt8(ascii: "\\") ? 1 : 0)
        }
        return found != 0
    }

    private static func writeEscaped(_ text: some Collection<UInt8>, to bytes: inout [UInt8]) {
        for byte in text {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes.append(contentsOf: [UInt8(ascii: "\\"), byte])
            case 0x0A: bytes.append(contentsOf: "\\n".utf8)
            case 0x0D: bytes.append(contentsOf: "\\r".utf8)
            case 0x09: bytes.append(contentsOf: "\\t".utf8)
            case 0..<0x20:
                bytes.append(contentsOf: (byte < 0x10 ? "\\u000" : "\\u00").utf8)
                bytes.append(contentsOf: String(byte, radix: 16).utf8)
            default: bytes.append(byte)
            }
        }
    }
}
