import HTTPTypes

/// Percent-encoding (RFC 3986 section 2.1).
public enum PercentEncoding {
    /// Decodes every escape once; `nil` when an escape is malformed or the result is not UTF-8.
    public static func decode(_ text: Substring) -> Substring? {
        guard text.utf8.contains(UInt8(ascii: "%")) else { return text }
        return bytes(text).flatMap { String(validating: $0, as: UTF8.self) }.map { $0[...] }
    }

    /// The bytes with every escape decoded once, in any character set; `nil` when an escape is malformed.
    public static func bytes(_ text: Substring) -> [UInt8]? {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let high = rest.popFirst().flatMap(value(of:)), let low = rest.popFirst().flatMap(value(of:)) else {
                return nil
            }
            bytes.append(high << 4 | low)
        }
        return bytes
    }

    private static func value(of digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}

extension Request {
    /// The query's names and values in order: split at `&`, then at the first `=`, then decoded; `+` stays `+`.
    ///
    /// A part with a malformed escape stays as sent.
    public var queryItems: [(name: String, value: String)] { query.map { Self.items(of: $0) } ?? [] }

    /// The names and values of a form (`application/x-www-form-urlencoded`), where `+` means a space; empty for other
    /// types and when the content is not UTF-8.
    public var formItems: [(name: String, value: String)] {
        let type = fields[.contentType]?.prefix { $0 != ";" && $0 != " " }.lowercased()
        guard type == "application/x-www-form-urlencoded", let text = String(validating: body, as: UTF8.self) else {
            return []
        }
        return Self.items(of: text.replacing("+", with: " ")[...])
    }

    private static func items(of text: Substring) -> [(name: String, value: String)] {
        text.split(separator: "&").map { item in
            let parts = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                .map { String(PercentEncoding.decode($0) ?? $0) }
            return (parts[0], parts.count > 1 ? parts[1] : "")
        }
    }
}
