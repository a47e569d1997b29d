import HTTPTypes
import JSON

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
            guard let high = rest.popFirst()?.hexadecimalDigit, let low = rest.popFirst()?.hexadecimalDigit else {
                return nil
            }
            bytes.append(high << 4 | low)
        }
        return bytes
    }

    /// A query's text as names and values, in order: split at `&`, cut at the first `=`, then decoded.
    ///
    /// A part with a broken escape stays as it was sent.
    public static func items(of text: Substring) -> [(name: String, value: String)] {
        text.split(separator: "&").map { item in
            let parts = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                .map { String(decode($0) ?? $0) }
            return (parts[0], parts.count > 1 ? parts[1] : "")
        }
    }

    /// The same for a query or form in which `+` means a space (`application/x-www-form-urlencoded`).
    public static func formItems(of text: Substring) -> [(name: String, value: String)] {
        items(of: text.replacing("+", with: " ")[...])
    }

    /// Names and values in the form that ``formItems(of:)`` reads (URL Standard section 5.2).
    package static func form(_ items: [(name: String, value: String)]) -> String {
        let encoded = { encode($0, sparing: "*-._ ").replacing(" ", with: "+") }
        return items.map { encoded($0.name) + "=" + encoded($0.value) }.joined(separator: "&")
    }

    /// The text with everything escaped but ASCII letters, digits and these signs; by default those that are unreserved
    /// (RFC 3986 section 2.3), so that it can be one segment of a path.
    package static func encode(_ text: String, sparing signs: String = "-._~") -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            if byte.isLetter || byte.isDigit || signs.utf8.contains(byte) {
                bytes.append(byte)
            } else {
                bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 0xF)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension Request {
    public var queryItems: [(name: String, value: String)] { query.map { PercentEncoding.items(of: $0) } ?? [] }

    /// The first value of that name in the query; `nil` when there is none.
    public func queryValue(_ name: String) -> String? { queryItems.first { $0.name == name }?.value }

    /// The names and values of a form (`application/x-www-form-urlencoded`), where `+` means a space; empty for other
    /// types and when the content is not UTF-8.
    public var formItems: [(name: String, value: String)] {
        let type = fields[.contentType]?.prefix { $0 != ";" && $0 != " " }.lowercased()
        guard type == "application/x-www-form-urlencoded", let text = String(validating: body, as: UTF8.self) else {
            return []
        }
        return PercentEncoding.formItems(of: text[...])
    }
}
