internal import JSON

/// A value in a YAML document, and where it begins in the file.
///
/// A class, so that passing it costs only a reference count.
final class YAMLNode: Sendable {
    enum Content: Sendable {
        /// A text; a plain one, without quotes, may be something other than a string.
        case scalar(String, isPlain: Bool)
        case sequence([YAMLNode])
        case mapping([Member])
    }

    struct Member: Sendable {
        let name: YAMLNode
        let value: YAMLNode
    }

    let content: Content
    /// Counted from 1.
    let line: Int
    /// Counted from 1, in Unicode scalars.
    let column: Int

    init(_ content: Content, line: Int, column: Int) {
        self.content = content
        self.line = line
        self.column = column
    }

    /// The text of a scalar, uninterpreted.
    var text: String? {
        if case .scalar(let text, _) = content { text } else { nil }
    }

    /// A scalar's value by the core schema of YAML 1.2; one that is not plain is a string.
    static func value(_ text: String, isPlain: Bool) -> JSON {
        guard isPlain else { return .string(text) }
        switch text {
        case "", "~", "null": return .null
        case "true": return true
        case "false": return false
        default:
            // A plain scalar that parses as a JSON number is a number; everything else is a string.
            guard let first = text.utf8.first, first == UInt8(ascii: "-") || (0x30...0x39).contains(first),
                case .number(let number)? = try? JSON.parse(text.utf8)
            else { return .string(text) }
            return .number(number)
        }
    }
}
