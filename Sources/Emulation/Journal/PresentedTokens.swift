import JSON
package import Wire

/// The compact tokens in a request, wherever they stand.
package enum PresentedTokens {
    /// The tokens as sent, each once, in the order in which they are found: in fields, in the target, in the content.
    package static func of(_ request: Request) -> [String] {
        found(in: request.fields.map(\.value) + [request.target, String(decoding: request.body, as: UTF8.self)])
    }

    private static func found(in texts: [String]) -> [String] {
        var found: [String] = []
        for text in texts {
            var rest = Array(text.utf8)[...]
            while let start = rest.place(of: beginning) {
                let parts = rest[start...].prefix(while: isOfToken)
                    .split(separator: UInt8(ascii: "."), maxSplits: 3, omittingEmptySubsequences: false).prefix(3)
                guard parts.count == 3, let end = parts.last?.endIndex else {
                    rest = rest[(start + beginning.count)...]
                    continue
                }
                let token = String(decoding: rest[start..<end], as: UTF8.self)
                if !found.contains(token) { found.append(token) }
                rest = rest[end...]
            }
        }
        return found
    }

    /// `{"` in base64url, with which every header begins.
    private static let beginning = Array("eyJ".utf8)

    /// Whether it is a letter of base64url or the dot between two parts.
    private static func isOfToken(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."): true
        default: false
        }
    }

    /// Header and claims of a token, with the dot that the signature follows.
    private static func signed(_ token: String) -> Substring {
        token[...(token.lastIndex(of: ".") ?? token.startIndex)]
    }

    /// The text with other signatures in the place of masked ones.
    static func unmasked(_ text: String, _ tokens: [String]) -> String {
        tokens.reduce(text) { $0.replacing(signed($1) + Mask.hidden, with: $1) }
    }
}
