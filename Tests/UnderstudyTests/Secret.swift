import Foundation
import JSON
import Support
import Tokens

/// Something that nobody may read, with the part of it by which it is recognised.
struct Secret: Sendable {
    /// What it is.
    let about: String
    /// What somebody puts in a wrong place.
    let text: String
    /// What must not be read: all of it, a token's signature, a line from the middle of a key.
    let core: String

    init(_ about: String, _ text: String, core: String? = nil) {
        (self.about, self.text, self.core) = (about, text, core ?? text)
    }

    /// A token, whose header and claims everybody may read.
    static func token(_ about: String, _ text: String) -> Secret {
        Secret(about, text, core: text.split(separator: ".").last.map(String.init) ?? text)
    }

    /// A private key in PEM.
    static func key(_ path: String) throws -> Secret {
        let pem = try String(contentsOfFile: path, encoding: .utf8)
        let block = pem.split(separator: "\n").drop { !$0.hasPrefix("-----BEGIN") }.map(String.init)
        return Secret(path, block.joined(separator: "\n"), core: block[block.count / 2])
    }

    /// How it could be read: as it is, in escapes, and in base64 where that is what was sent.
    var forms: [[UInt8]] {
        let base64 = Data(text.utf8).base64EncodedString()
        return [Array(core.utf8), Array(Self.percentEncoded(core).utf8)]
            + (core == text ? [Array(base64.utf8), Array(Base64URL.encode(Array(text.utf8)).utf8)] : [])
    }

    /// In one line, as a field of a head can hold it.
    var line: String { text.replacing("\n", with: " ") }

    /// Every byte as an escape.
    static func percentEncoded(_ text: String) -> String {
        text.utf8.map { "%" + ($0 < 16 ? "0" : "") + String($0, radix: 16, uppercase: true) }.joined()
    }
}
