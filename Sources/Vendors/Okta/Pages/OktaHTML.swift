/// Markup as a value, which is written out with every text and attribute escaped.
///
/// Names of elements and attributes are literals of the program, so no value can become markup. An address from outside
/// has one place, the `action` of a form, and there ``OktaContentPolicy`` says where the form may lead.
indirect enum OktaHTML: Sendable {
    case text(String)
    case element(StaticString, [(name: StaticString, value: String)], [OktaHTML])
    case script(OktaScript)

    /// An element; attributes that are `nil` are left out.
    static func tag(
        _ name: StaticString, _ attributes: KeyValuePairs<StaticString, String?> = [:],
        @OktaHTMLBuilder _ content: () -> [OktaHTML] = { [] }
    ) -> OktaHTML {
        .element(name, attributes.compactMap { name, value in value.map { (name, $0) } }, content())
    }

    static func tag(
        _ name: StaticString, _ attributes: KeyValuePairs<StaticString, String?>, _ text: String
    ) -> OktaHTML {
        tag(name, attributes) { text }
    }

    /// An element with one text and no attributes.
    static func tag(_ name: StaticString, _ text: String) -> OktaHTML { tag(name) { text } }

    /// An attribute that is there or not, such as `checked`.
    static func flag(_ isSet: Bool) -> String? { isSet ? "" : nil }

    /// The document that this element is the root of.
    var document: [UInt8] {
        var bytes = Array("<!DOCTYPE html>\n".utf8)
        write(to: &bytes)
        return bytes
    }

    /// Appends the markup.
    func write(to bytes: inout [UInt8]) {
        switch self {
        case .text(let text): Self.escape(text, to: &bytes)
        case .script(let script): bytes += "<script>\(script.text)</script>\n".utf8
        case .element(let name, let attributes, let content):
            bytes.append(UInt8(ascii: "<"))
            bytes.append(name)
            for attribute in attributes {
                bytes.append(UInt8(ascii: " "))
                bytes.append(attribute.name)
                bytes += "=\"".utf8
                Self.escape(attribute.value, to: &bytes)
                bytes.append(UInt8(ascii: "\""))
            }
            bytes.append(UInt8(ascii: ">"))
            Self.write(content, of: "\(name)", to: &bytes)
        }
    }

    private static func write(_ content: [OktaHTML], of name: String, to bytes: inout [UInt8]) {
        if containers.contains(name) || name == "textarea" {
            // A parser drops one line break at the start of a text area, so that of the value comes second.
            bytes.append(UInt8(ascii: "\n"))
        }
        for node in content { node.write(to: &bytes) }
        if !voids.contains(name) { bytes += "</\(name)>".utf8 }
        if !phrases.contains(name) { bytes.append(UInt8(ascii: "\n")) }
    }

    /// Elements without content and end tag (HTML, section 13.1.2).
    private static let voids: Set = ["input", "link", "meta"]
    /// Elements that begin a line of their own, for readers of the source.
    private static let containers: Set = [
        "html", "head", "body", "header", "main", "aside", "section", "form", "fieldset", "details", "div", "dl", "ul",
    ]
    /// Elements in the flow of a text, where a line break would show as a space.
    private static let phrases: Set = ["a", "bdi", "code", "em", "small", "span", "strong"]

    /// Controls stay as they are, since a form must send a value back as it came; but for a parser a carriage return is
    /// a line feed, and NUL is no character (HTML, sections 13.2.3.5 and 13.2.5).
    private static func escape(_ text: String, to bytes: inout [UInt8]) {
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "&"): bytes += "&amp;".utf8
            case UInt8(ascii: "<"): bytes += "&lt;".utf8
            case UInt8(ascii: ">"): bytes += "&gt;".utf8
            case UInt8(ascii: "\""): bytes += "&quot;".utf8
            case UInt8(ascii: "'"): bytes += "&#39;".utf8
            case UInt8(ascii: "\r"): bytes += "&#13;".utf8
            case 0: bytes += "\u{FFFD}".utf8
            default: bytes.append(byte)
            }
        }
    }
}

extension [UInt8] {
    fileprivate mutating func append(_ text: StaticString) { text.withUTF8Buffer { append(contentsOf: $0) } }
}

/// Collects markup, so that a page reads like the document it becomes.
@resultBuilder enum OktaHTMLBuilder {
    static func buildExpression(_ node: OktaHTML) -> [OktaHTML] { [node] }
    static func buildExpression(_ nodes: [OktaHTML]) -> [OktaHTML] { nodes }
    static func buildExpression(_ text: String) -> [OktaHTML] { [.text(text)] }
    static func buildBlock(_ parts: [OktaHTML]...) -> [OktaHTML] { parts.flatMap { $0 } }
    static func buildOptional(_ part: [OktaHTML]?) -> [OktaHTML] { part ?? [] }
    static func buildEither(first part: [OktaHTML]) -> [OktaHTML] { part }
    static func buildEither(second part: [OktaHTML]) -> [OktaHTML] { part }
    static func buildArray(_ parts: [[OktaHTML]]) -> [OktaHTML] { parts.flatMap { $0 } }
}
