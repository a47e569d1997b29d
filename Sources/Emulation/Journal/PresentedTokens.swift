package import Wire

/// The compact tokens in a request or an answer, wherever they stand.
package enum PresentedTokens {
    /// The tokens as sent, each once, in the order in which they are found: in fields, in the target, in the content.
    package static func of(_ request: Request) -> [String] {
        found(in: request.fields.map(\.value) + [request.target, String(decoding: request.body, as: UTF8.self)])
    }

    /// The tokens in texts, each once, in order; of masked ones the part before the signature.
    static func found(in texts: [String]) -> [String] {
        var found: [String] = []
        for text in texts {
            for match in text.matches(of: /eyJ[A-Za-z0-9_-]*\.[A-Za-z0-9_-]*\.[A-Za-z0-9_-]*/) {
                let token = String(match.output)
                if !found.contains(token) { found.append(token) }
            }
        }
        return found
    }

    /// Header and claims of a token, with the dot that the signature follows.
    static func signed(_ token: String) -> Substring {
        token[...(token.lastIndex(of: ".") ?? token.startIndex)]
    }

    /// The text with other signatures in the place of masked ones.
    static func unmasked(_ text: String, _ tokens: [String]) -> String {
        tokens.reduce(text) { $0.replacing(signed($1) + Mask.hidden, with: $1) }
    }
}
