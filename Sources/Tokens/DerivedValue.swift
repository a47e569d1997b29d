/// What people send in place of a value that RFCs derive from a text by SHA-256, such as `code_challenge`, `ath`,
/// `ds_hash` or a key's thumbprint.
package enum DerivedValue {
    /// How a wrong value was encoded; `nil` for one that has nothing to do with the digest.
    ///
    /// - Parameters:
    ///   - count: how many bytes of the digest the right value has, from the left.
    ///   - source: the text from which the digest is made, if it is known.
    package static func mistake(
        in found: String, digest: [UInt8], count: Int = 32, of source: [UInt8]? = nil
    ) -> String? {
        let (part, hexadecimal) = (Array(digest.prefix(count)), Array(Hexadecimal.encode(digest).utf8))
        guard found != Base64URL.encode(part) else { return nil }
        let base64 = Base64.encode(part)
        let unpadded = String(base64.prefix { $0 != "=" })
        var forms: [(text: String, name: String)] = [
            (Hexadecimal.encode(part), "the digest in hexadecimal"),
            (Base64URL.encode(part) + String(repeating: "=", count: (3 - count % 3) % 3), "base64url with padding"),
            (base64, "plain base64"), (unpadded, "plain base64 without padding"),
            (Base64URL.encode(hexadecimal), "base64url of the hexadecimal text"),
            (Base64URL.encode(digest), "the whole digest"),
            (Base64URL.encode(digest.prefix(16)), "the left half of the digest"),
        ]
        if let source {
            forms.append((String(decoding: source, as: UTF8.self), "the text itself, not its digest"))
            let broken = Digest.sha256(source + [UInt8(ascii: "\n")])
            forms.append((Base64URL.encode(broken.prefix(count)), "the digest of the text with a line break"))
            if let decoded = Base64URL.decodeLeniently(source) {
                forms.append((Base64URL.encode(Digest.sha256(decoded).prefix(count)), "the digest of the decoded text"))
            }
        }
        let match = forms.first { $0.text == found || $0.text == found.lowercased() && $0.name.hasSuffix("decimal") }
        return match.map {
            "It is \($0.name); expected base64url of \(count) bytes of the SHA-256 digest, without padding."
        }
    }

    /// The same for the digest of a text.
    package static func mistake(in found: String, of source: some Sequence<UInt8>, count: Int = 32) -> String? {
        let source = Array(source)
        return mistake(in: found, digest: Digest.sha256(source), count: count, of: source)
    }
}
