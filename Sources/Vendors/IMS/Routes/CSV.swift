/// Comma-separated values as defined by RFC 4180; a line may also end with LF alone.
enum CSV {
    /// A row and the number of the line at which it begins, counted from 1.
    struct Line: Sendable, Hashable {
        let number: Int
        let fields: [String]
    }

    /// Why a text is not CSV.
    enum Fault: Error, Hashable, CustomStringConvertible {
        case notUTF8
        case openQuote(line: Int)
        case strayQuote(line: Int)
        case tooManyRows(Int)

        var description: String {
            switch self {
            case .notUTF8: "the content is not UTF-8"
            case .openQuote(let line): "line \(line): a quoted field does not end"
            case .strayQuote(let line): "line \(line): a quote stands inside a field"
            case .tooManyRows(let most): "there are more than \(most) rows"
            }
        }
    }

    /// The rows of a text; empty lines are skipped, but counted.
    static func lines(_ bytes: [UInt8], atMost most: Int = .max) throws(Fault) -> [Line] {
        guard String(validating: bytes, as: UTF8.self) != nil else { throw .notUTF8 }
        var reader = Reader(bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes.dropFirst(3) : bytes[...])
        var lines: [Line] = []
        var count = 0
        while let line = try reader.line() {
            count += 1
            guard count <= most else { throw .tooManyRows(most) }
            if line.fields != [""] { lines.append(line) }
        }
        return lines
    }

    private struct Reader {
        private var rest: ArraySlice<UInt8>
        private var number = 1

        init(_ text: ArraySlice<UInt8>) { rest = text }

        /// The next row; `nil` at the end.
        mutating func line() throws(Fault) -> Line? {
            guard !rest.isEmpty else { return nil }
            let start = number
            var fields = [try field()]
            while rest.first == UInt8(ascii: ",") {
                rest.removeFirst()
                fields.append(try field())
            }
            if rest.first == UInt8(ascii: "\r") { rest.removeFirst() }
            if rest.first == UInt8(ascii: "\n") { rest.removeFirst() }
            number += 1
            return Line(number: start, fields: fields)
        }

        private mutating func field() throws(Fault) -> String {
            if rest.first == UInt8(ascii: "\"") { return try quotedField() }
            let text = rest.prefix { $0 != UInt8(ascii: ",") && $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }
            if text.contains(UInt8(ascii: "\"")) { throw .strayQuote(line: number) }
            rest = rest.dropFirst(text.count)
            return String(decoding: text, as: UTF8.self)
        }

        private mutating func quotedField() throws(Fault) -> String {
            let start = number
            rest.removeFirst()
            var bytes: [UInt8] = []
            while let byte = rest.popFirst() {
                if byte == UInt8(ascii: "\n") { number += 1 }
                guard byte == UInt8(ascii: "\"") else {
                    bytes.append(byte)
                    continue
                }
                if rest.first == UInt8(ascii: "\"") {
                    rest.removeFirst()
                    bytes.append(byte)
                } else if rest.first.map({ ",\r\n".utf8.contains($0) }) ?? true {
                    return String(decoding: bytes, as: UTF8.self)
                } else {
                    throw .strayQuote(line: number)
                }
            }
            throw .openQuote(line: start)
        }
    }
}
