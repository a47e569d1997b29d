import JSON
import Tokens

/// A script in a page, which the page's policy allows by its hash.
///
/// Only a literal makes one, and what is interpolated is JSON: a value stays a value.
struct OktaScript: Sendable, ExpressibleByStringInterpolation {
    /// The code, exactly as it stands between the tags.
    let text: String

    init(stringLiteral value: String) { text = value }

    init(stringInterpolation: Interpolation) { text = stringInterpolation.text }

    /// The source expression that allows the script (CSP level 3, section 2.3.1).
    var source: String { "'sha256-\(Base64.encode(Digest.sha256(Array(text.utf8))))'" }

    struct Interpolation: StringInterpolationProtocol {
        fileprivate var text = ""

        init(literalCapacity: Int, interpolationCount: Int) {}

        mutating func appendLiteral(_ literal: String) { text += literal }

        /// Appends the value as a literal of JavaScript.
        ///
        /// Brackets and ampersands are escaped, so that no value ends the element or begins a comment of HTML, and so
        /// are the two line separators that are line breaks for old engines.
        mutating func appendInterpolation(_ value: JSON) {
            for scalar in value.text.unicodeScalars {
                switch scalar {
                case "<": text += "\\u003c"
                case ">": text += "\\u003e"
                case "&": text += "\\u0026"
                case "\u{2028}": text += "\\u2028"
                case "\u{2029}": text += "\\u2029"
                default: text.unicodeScalars.append(scalar)
                }
            }
        }
    }
}
