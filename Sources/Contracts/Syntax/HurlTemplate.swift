/// A text in which `{{name}}` stands for the value of a variable.
package struct HurlTemplate: Sendable, Hashable {
    /// A piece of the text.
    package enum Part: Sendable, Hashable {
        /// Characters, with escapes resolved.
        case text(String)
        case variable(HurlVariable)
    }

    /// The pieces in order.
    package let parts: [Part]
    package let place: HurlPlace

    /// The text with its variables as `{{name}}`.
    package var source: String {
        parts.reduce(into: "") { text, part in
            switch part {
            case .text(let piece): text += piece
            case .variable(let variable): text += "{{\(variable.name)}}"
            }
        }
    }

    package var isEmpty: Bool { parts.isEmpty }
}

/// One use of a variable.
package struct HurlVariable: Sendable, Hashable {
    package let name: String
    /// Where its braces start.
    package let place: HurlPlace

    /// Whether a text is a variable name: a letter, then letters, digits, `_` and `-`; not a Hurl function.
    package static func isName(_ text: String) -> Bool {
        text.unicodeScalars.first?.properties.isAlphabetic == true && text.unicodeScalars.allSatisfy(isInName)
            && !functions.contains(text)
    }

    /// Whether a character is allowed in a name.
    static func isInName(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "a"..."z", "A"..."Z", "0"..."9", "_", "-": true
        default: false
        }
    }

    /// Names in braces that Hurl computes.
    static let functions: Set = ["newUuid", "newDate"]
}
