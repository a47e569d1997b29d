import JSON
import Wire

/// A body of type `multipart/form-data` (RFC 7578, RFC 2046 section 5.1), read strictly and within limits.
struct MultipartForm: Sendable {
    struct Part: Sendable {
        /// The parameter `name` of its `Content-Disposition`.
        let name: String
        /// The parameter `filename*` if it can be decoded, else `filename`.
        let fileName: String?
        /// `Content-Type` as sent.
        let type: String?
        let bytes: [UInt8]
    }

    /// Why a body is not a valid form.
    enum Problem: Error, Hashable, CustomStringConvertible {
        case noBoundary
        case noOpening
        case noClosing
        case brokenDelimiter
        case brokenHead
        case headTooLong
        case noName
        case tooManyParts

        var description: String {
            switch self {
            case .noBoundary: "the content type names no boundary of 1 to 70 characters"
            case .noOpening: "the body does not begin with the boundary"
            case .noClosing: "the closing boundary is missing"
            case .brokenDelimiter: "something stands behind a boundary"
            case .brokenHead: "a part's head is broken"
            case .headTooLong: "a part's head is longer than \(MultipartForm.longestHead) bytes"
            case .noName: "a part has no Content-Disposition with a name"
            case .tooManyParts: "there are more than \(MultipartForm.capacity) parts"
            }
        }
    }

    /// ours: limits. Clients send one part.
    static let capacity = 100
    static let longestHead = 8 * 1024

    private(set) var parts: [Part] = []

    static func isForm(_ type: String) -> Bool {
        type.prefix { $0 != ";" }.split(separator: " ").first?.lowercased() == "multipart/form-data"
    }

    /// Reads a body; before the first boundary and after the last one, only a line break is allowed.
    init(_ body: [UInt8], type: String) throws(Problem) {
        guard let boundary = Self.boundary(of: type) else { throw .noBoundary }
        let delimiter = Array("--\(boundary)".utf8)
        var rest = body[...]
        if rest.starts(with: Self.lineEnd) { rest = rest.dropFirst(2) }
        guard rest.starts(with: delimiter) else { throw .noOpening }
        rest = rest.dropFirst(delimiter.count)
        while true {
            if rest.starts(with: Self.dashes) {
                guard rest.count == 2 || rest.dropFirst(2).elementsEqual(Self.lineEnd) else { throw .brokenDelimiter }
                return
            }
            // RFC 2046 allows blanks after a boundary; no client of the vendor sends any.
            guard rest.starts(with: Self.lineEnd) else { throw .brokenDelimiter }
            guard parts.count < Self.capacity else { throw .tooManyParts }
            let start = rest.startIndex
            guard let end = rest.place(of: Self.lineEnd + delimiter) else { throw .noClosing }
            parts.append(try Part(rest[(start + 2)..<max(start + 2, end)]))
            rest = rest[(end + 2 + delimiter.count)...]
        }
    }

    fileprivate static let lineEnd: [UInt8] = [0x0D, 0x0A]
    private static let dashes: [UInt8] = [0x2D, 0x2D]

    /// The parameter `boundary` of a content type.
    private static func boundary(of type: String) -> String? {
        let parameters = HeaderParameters(type)
        guard let boundary = parameters["boundary"], (1...70).contains(boundary.utf8.count),
            boundary.utf8.allSatisfy({ (0x20...0x7E).contains($0) }), !boundary.hasSuffix(" ")
        else { return nil }
        return boundary
    }
}

extension MultipartForm.Part {
    /// Reads a part: its head, an empty line, its content.
    fileprivate init(_ bytes: ArraySlice<UInt8>) throws(MultipartForm.Problem) {
        let separator = MultipartForm.lineEnd + MultipartForm.lineEnd
        let window = bytes.prefix(MultipartForm.longestHead + 4)
        guard let end = window.place(of: separator) else {
            throw window.count < bytes.count ? .headTooLong : .brokenHead
        }
        guard let head = String(validating: bytes[..<end], as: UTF8.self) else { throw .brokenHead }
        var fields: [String: String] = [:]
        for line in head.split(separator: "\r\n", omittingEmptySubsequences: false) {
            guard let colon = line.firstIndex(of: ":"), colon != line.startIndex else { throw .brokenHead }
            let name = line[..<colon].lowercased()
            guard name.utf8.allSatisfy({ (0x21...0x7E).contains($0) }),
                fields.updateValue(Self.trimmed(line[line.index(after: colon)...]), forKey: name) == nil
            else { throw .brokenHead }
        }
        let disposition = fields["content-disposition"] ?? ""
        let parameters = HeaderParameters(disposition)
        guard disposition.prefix(while: { $0 != ";" }).lowercased() == "form-data", let name = parameters["name"]
        else { throw .noName }
        self.init(
            name: name, fileName: parameters.extended("filename") ?? parameters["filename"],
            type: fields["content-type"],
            bytes: Array(bytes[(end + 4)...]))
    }

    private static func trimmed(_ text: Substring) -> String {
        let isBlank = { (character: Character) in character == " " || character == "\t" }
        let front = text.drop(while: isBlank)
        return String(front[..<(front.lastIndex { !isBlank($0) }.map(front.index(after:)) ?? front.startIndex)])
    }
}

/// The parameters after a value, as in `form-data; name="file"`: tokens or quoted strings (RFC 9110 section 5.6.6).
struct HeaderParameters {
    private var values: [String: String] = [:]

    /// Reads the parameters, up to the first invalid one.
    init(_ field: String) {
        var rest = field.unicodeScalars[...]
        rest = rest.drop { $0 != ";" }
        while rest.popFirst() == ";" {
            rest = rest.drop { $0 == " " || $0 == "\t" }
            let name = String(String.UnicodeScalarView(rest.prefix { $0 != "=" && $0 != ";" }))
            rest = rest.drop { $0 != "=" && $0 != ";" }
            guard rest.first == "=" else { continue }
            rest.removeFirst()
            let value = rest.first == "\"" ? Self.quoted(&rest) : Self.token(&rest)
            if let value, values[name.lowercased()] == nil { values[name.lowercased()] = value }
            rest = rest.drop { $0 == " " || $0 == "\t" }
        }
    }

    subscript(name: String) -> String? { values[name] }

    /// The value of `NAME*`, which declares its character set (RFC 8187 section 3.2); `nil` if absent or unreadable.
    ///
    /// RFC 7578 section 4.2 forbids clients to send it, but some libraries do; if both forms are present, it is
    /// preferred (RFC 6266 section 4.3).
    func extended(_ name: String) -> String? {
        guard let value = values[name + "*"] else { return nil }
        let parts = value.split(separator: "'", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, let bytes = PercentEncoding.bytes(parts[2]) else { return nil }
        switch parts[0].lowercased() {
        case "utf-8": return String(validating: bytes, as: UTF8.self)
        case "iso-8859-1": return String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
        default: return nil
        }
    }

    private static func token(_ rest: inout Substring.UnicodeScalarView) -> String? {
        let value = rest.prefix { $0 != ";" && $0 != " " && $0 != "\t" }
        rest = rest.dropFirst(value.count)
        return value.isEmpty ? nil : String(String.UnicodeScalarView(value))
    }

    /// Undoes the escapes of browsers in names: quotes and line breaks only, not even percent signs (WHATWG HTML,
    /// section 4.10.21.8).
    private static func unescaped(_ text: String) -> String {
        guard text.utf8.contains(UInt8(ascii: "%")) else { return text }
        return [("%22", "\""), ("%0D", "\r"), ("%0A", "\n")].reduce(text) { $0.replacing($1.0, with: $1.1) }
    }

    /// A quoted string with its escapes undone; `nil` if unterminated.
    private static func quoted(_ rest: inout Substring.UnicodeScalarView) -> String? {
        rest.removeFirst()
        var value = String.UnicodeScalarView()
        while let scalar = rest.popFirst() {
            if scalar == "\"" { return unescaped(String(value)) }
            // Only quotes and backslashes are escaped this way: browsers leave the backslashes of paths as they are.
            if scalar == "\\", let next = rest.first, next == "\"" || next == "\\" {
                value.append(next)
                rest.removeFirst()
            } else {
                value.append(scalar)
            }
        }
        return nil
    }
}
