/// Markup as a parser reads it, as far as our pages go: a second pair of eyes on what the writer wrote.
struct ReadMarkup {
    struct Tag: Equatable {
        var name: String
        var attributes: [[String]]

        subscript(attribute: String) -> String? { attributes.first { $0[0] == attribute }?[1] }
        /// The tag without values.
        var shape: String { ([name] + attributes.map { $0[0] }).joined(separator: " ") }
    }

    /// Start and end tags in order; the name of an end tag begins with a slash.
    private(set) var tags: [Tag] = []
    /// The text behind each tag.
    private(set) var texts: [String] = []

    init(_ bytes: [UInt8]) {
        var rest = String(decoding: bytes, as: UTF8.self).unicodeScalars[...]
        while let open = rest.firstIndex(of: "<") {
            rest = rest[open...].dropFirst()
            var tag = Tag(name: String(Self.take(&rest) { $0 != " " && $0 != ">" }), attributes: [])
            while rest.first == " " {
                rest.removeFirst()
                let name = String(Self.take(&rest) { $0 != "=" && $0 != " " && $0 != ">" })
                var value = ""
                if rest.starts(with: "=\"".unicodeScalars) {
                    rest.removeFirst(2)
                    value = Self.decoded(Self.take(&rest) { $0 != "\"" })
                    rest.removeFirst()
                }
                tag.attributes.append([name, value])
            }
            rest = rest.dropFirst()
            // Only its own end tag ends a script, and nothing in it is decoded (HTML, section 13.2.5.4).
            let text = tag.name == "script" ? Self.script(&rest) : Self.decoded(Self.take(&rest) { $0 != "<" })
            tags.append(tag)
            texts.append(text)
        }
    }

    /// The text right behind the first such tag.
    func text(of name: String, where isMeant: (Tag) -> Bool = { _ in true }) -> String? {
        tags.firstIndex { $0.name == name && isMeant($0) }.map { texts[$0] }
    }

    func all(_ names: String...) -> [Tag] { tags.filter { names.contains($0.name) } }

    private static func take(
        _ rest: inout Substring.UnicodeScalarView, _ isPart: (Unicode.Scalar) -> Bool
    ) -> Substring.UnicodeScalarView {
        let part = rest.prefix(while: isPart)
        rest = rest[part.endIndex...]
        return part
    }

    private static func script(_ rest: inout Substring.UnicodeScalarView) -> String {
        var text = ""
        while let first = rest.first, !String(rest.prefix(8)).lowercased().hasPrefix("</script") {
            text.unicodeScalars.append(first)
            rest.removeFirst()
        }
        return text
    }

    private static let references = [
        "amp": "&", "lt": "<", "gt": ">", "quot": "\"", "#39": "'", "#13": "\r",
    ]

    private static func decoded(_ text: Substring.UnicodeScalarView) -> String {
        var decoded = ""
        var rest = text
        while let first = rest.popFirst() {
            if first == "&", let end = rest.firstIndex(of: ";"), let character = references[String(rest[..<end])] {
                decoded += character
                rest = rest[end...].dropFirst()
            } else {
                decoded.unicodeScalars.append(first)
            }
        }
        return decoded
    }
}
