internal import JSON

/// Different texts that look the same.
package enum Lookalikes {
    /// Both texts, with everything except ASCII escaped if they differ but look alike; otherwise unchanged.
    ///
    /// Names and ids are compared byte for byte, so “zoé” in another normalization, a Cyrillic “а” or an invisible
    /// space makes another name.
    package static func distinguished(_ first: String, _ second: String) -> (String, String) {
        areAlike(first, second) ? (escaped(first), escaped(second)) : (first, second)
    }

    /// Whether two different texts have no reliably visible difference.
    package static func areAlike(_ first: String, _ second: String) -> Bool {
        guard !first.hasSameBytes(as: second) else { return false }
        // In ASCII only spaces and controls are invisible; looking up Unicode properties is slow.
        if first.utf8.allSatisfy(\.isASCII), second.utf8.allSatisfy(\.isASCII) {
            return first.utf8.lazy.filter(\.isGraphic).elementsEqual(second.utf8.lazy.filter(\.isGraphic))
        }
        if first == second { return true }
        let (own, others) = (visible(first), visible(second))
        guard own.count == others.count else { return false }
        return zip(own, others).allSatisfy { $0 == $1 || !$0.isASCII || !$1.isASCII }
    }

    /// The text with everything but printable ASCII escaped as in JSON, including spaces at its edges.
    package static func escaped(_ text: String) -> String {
        var result = ""
        let blank: UInt32 = 0x20
        let scalars = Array(text.unicodeScalars)
        for (index, scalar) in scalars.enumerated() {
            let isAtEdge = index == 0 || index == scalars.count - 1
            if (0x21...0x7E).contains(scalar.value) || (scalar.value == blank && !isAtEdge) {
                result.unicodeScalars.append(scalar)
            } else {
                for unit in String(scalar).utf16 {
                    result += "\\u" + unit.digits(atLeast: 4, radix: 16)
                }
            }
        }
        return result
    }

    /// The visible characters: without formats, controls, variation selectors and whitespace.
    private static func visible(_ text: String) -> [Character] {
        var seen = String.UnicodeScalarView()
        for scalar in text.unicodeScalars where !isInvisible(scalar) { seen.append(scalar) }
        return Array(String(seen))
    }

    private static func isInvisible(_ scalar: Unicode.Scalar) -> Bool {
        let properties = scalar.properties
        return properties.isDefaultIgnorableCodePoint || properties.isWhitespace
            || properties.generalCategory == .control || properties.generalCategory == .format
    }
}

extension UInt8 {
    fileprivate var isASCII: Bool { self < 0x80 }
    /// Whether it is a visible ASCII character.
    fileprivate var isGraphic: Bool { (0x21...0x7E).contains(self) }
}

extension Fact {
    /// Expected and found, made distinguishable if their texts look alike.
    static func distinguished(_ expected: Fact?, _ found: Fact?) -> (expected: Fact?, found: Fact?) {
        guard let one = expected?.comparedText, let other = found?.comparedText, Lookalikes.areAlike(one, other) else {
            return (expected, found)
        }
        return (.text(Lookalikes.escaped(one)), .text(Lookalikes.escaped(other)))
    }

    private var comparedText: String? {
        switch self {
        case .text(let text): text
        case .json(let value): value.string
        default: nil
        }
    }
}

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
