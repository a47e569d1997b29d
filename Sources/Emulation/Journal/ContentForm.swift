import HTTPTypes
import Tokens
import Wire

/// Content in a form that hides it from its reader: compressed, in another encoding, or of another type than declared.
///
/// One rule for all vendors (ours). It follows from the entry, so no answer depends on it.
extension JournalEntry {
    var contentForm: Finding? {
        guard record.route != nil, !request.body.isEmpty else { return nil }
        let type = request.fields[.contentType]?.prefix { $0 != ";" && $0 != " " }.lowercased() ?? ""
        // Uploads may hold any bytes.
        let isText = type.isEmpty || type.hasSuffix("json") || type.hasPrefix("text/") || type == Self.form
        let note = strangeCoding ?? (isText ? strangeEncoding ?? strangeType(type) : nil)
        return note.map { Finding("content-form", .noted, note: $0, source: "ours") }
    }

    private static let form = "application/x-www-form-urlencoded"

    private var strangeCoding: String? {
        guard let coding = request.fields[.contentEncoding], !["", "identity"].contains(coding.lowercased()) else {
            return nil
        }
        return String(validating: request.body, as: UTF8.self) == nil
            ? "the content is compressed (Content-Encoding: \(coding.shown)); expected it uncompressed"
            : "Content-Encoding is \(coding.shown), but the content is not compressed; expected no such field"
    }

    private var strangeEncoding: String? {
        let body = request.body
        if body.starts(with: [0x1F, 0x8B]) {
            return "the content is compressed with gzip, and no Content-Encoding says so; expected it uncompressed"
        }
        if TextEncoding.looksLikeUTF16(body) { return "the content is UTF-16; expected UTF-8" }
        if body.starts(with: TextEncoding.mark) { return "the content begins with a byte order mark; expected none" }
        guard String(validating: body, as: UTF8.self) == nil else { return nil }
        let place = TextEncoding.wholeCharacters(body)
        let byte = TextEncoding.hexadecimal(body[place])
        return "byte \(place + 1) of the content, \(byte), is not UTF-8, but may be Latin-1; expected UTF-8"
    }

    /// Only of a refused call: many clients send JSON without saying so, and are understood.
    private func strangeType(_ type: String) -> String? {
        guard record.failure != nil else { return nil }
        let text = String(decoding: request.body, as: UTF8.self)
        if type == Self.form {
            let isJSON = record.traits?.readsForms == true && (text.hasPrefix("{") || text.hasPrefix("["))
            return isJSON ? "the content is JSON, sent as \(type)" : nil
        }
        guard text.wholeMatch(of: /[\w.~%+-]+=[^\s{}"]*/) != nil else { return nil }
        return "the content looks like a form, sent as \(type.isEmpty ? "no type" : type)"
    }
}
