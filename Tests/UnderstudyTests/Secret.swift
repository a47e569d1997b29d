import Foundation
import JSON
import Support
import Tokens

/// A secret text, with the part that identifies it.
struct Secret: Sendable {
    /// A description of it.
    let about: String
    /// The text that a client puts in a wrong place.
    let text: String
    /// The part that must not appear: all of it, a token's signature, or a line from the middle of a key.
    let core: String

    init(_ about: String, _ text: String, core: String? = nil) {
        (self.about, self.text, self.core) = (about, text, core ?? text)
    }

    /// A token, whose header and claims may be shown.
    static func token(_ about: String, _ text: String) -> Secret {
        Secret(about, text, core: text.split(separator: ".").last.map(String.init) ?? text)
    }

    /// A private key in PEM.
    static func key(_ path: String) throws -> Secret {
        let pem = try String(contentsOfFile: path, encoding: .utf8)
        let block = pem.split(separator: "\n").drop { !$0.hasPrefix("-----BEGIN") }.map(String.init)
        return Secret(path, block.joined(separator: "\n"), core: block[block.count / 2])
    }

    /// The forms in which it could appear: as it is, percent-encoded, and in base64 if the core is the whole text.
    var forms: [[UInt8]] {
        let base64 = Data(text.utf8).base64EncodedString()
        return [Array(core.utf8), Array(Self.percentEncoded(core).utf8)]
            + (core == text ? [Array(base64.utf8), Array(Base64URL.encode(Array(text.utf8)).utf8)] : [])
    }

    /// On one line, for use in a header field.
    var line: String { text.replacing("\n", with: " ") }

    /// The text with every byte percent-encoded.
    static func percentEncoded(_ text: String) -> String {
        text.utf8.map { "%" + ($0 < 16 ? "0" : "") + String($0, radix: 16, uppercase: true) }.joined()
    }
}
