import Tokens

extension SecretFinder {
    /// Adds the parts that make compact tokens valid: the signature of a JWS, everything but the header of a JWE.
    ///
    /// A token is recognized by a part that decodes to the beginning of a JSON object, so garbled and truncated ones
    /// are also found as long as the header or claims are readable.
    func findTokens(in bytes: [UInt8], _ found: inout [Range<Int>]) {
        var index = 0
        while index < bytes.count {
            guard bytes[index].isBase64URL else {
                index += 1
                continue
            }
            let parts = parts(of: bytes, from: index)
            let end = parts.last?.upperBound ?? index
            if let first = hiddenPart(parts, in: bytes) {
                let hidden = parts[first].lowerBound..<signatureEnd(bytes, from: end)
                found.append(hidden)
                index = hidden.upperBound
            }
            index = max(index, end) + 1
        }
    }

    /// The parts of a run of base64url and dots.
    private func parts(of bytes: [UInt8], from start: Int) -> [Range<Int>] {
        var parts: [Range<Int>] = []
        var (first, index) = (start, start)
        while index < bytes.count {
            if bytes[index] == UInt8(ascii: ".") {
                parts.append(first..<index)
                first = index + 1
            } else if !bytes[index].isBase64URL, !isPadding(bytes, index) {
                break
            }
            index += 1
        }
        return parts + [first..<index]
    }

    /// Whether a `=` there pads the part before it, rather than separating a name from its value.
    private func isPadding(_ bytes: [UInt8], _ index: Int) -> Bool {
        guard bytes[index] == UInt8(ascii: "=") else { return false }
        guard index + 1 < bytes.count else { return true }
        return bytes[index + 1] == UInt8(ascii: "=") || !bytes[index + 1].isBase64URL
    }

    /// The index of the first hidden part; all that follow are hidden too. `nil` when the parts are not a token.
    private func hiddenPart(_ parts: [Range<Int>], in bytes: [UInt8]) -> Int? {
        guard parts.count > 1, let first = parts.firstIndex(where: { beginsObject(bytes[$0]) }) else { return nil }
        if parts.count - first == 5, isEncrypted(bytes[parts[first]]) { return first + 1 }
        let hasHeader = first == 0 || first + 1 < parts.count && beginsObject(bytes[parts[first + 1]])
        let hidden = hasHeader ? first + 2 : first + 1
        return hidden < parts.count ? hidden : nil
    }

    private func beginsObject(_ part: ArraySlice<UInt8>) -> Bool {
        guard part.count >= 3, let decoded = Base64URL.decodeLeniently(part.prefix(24)) else { return false }
        let text = decoded.drop(while: \.isBlank)
        guard text.first == UInt8(ascii: "{") else { return false }
        let next = text.dropFirst().drop(while: \.isBlank).first
        return next == nil || next == UInt8(ascii: "\"") || next == UInt8(ascii: "}")
    }

    /// Whether the bytes are the header of a JWE. RFC 7516 section 4.1.2.
    private func isEncrypted(_ header: ArraySlice<UInt8>) -> Bool {
        let text = Base64URL.decodeLeniently(header) ?? []
        return text[...].place(of: Array("\"enc\"".utf8)) != nil
    }

    /// The end of a signature that may use the other alphabet.
    private func signatureEnd(_ bytes: [UInt8], from end: Int) -> Int {
        var end = end
        while end < bytes.count, bytes[end].isBase64 && !(isPath && bytes[end] == UInt8(ascii: "/")) { end += 1 }
        return end
    }
}

extension UInt8 {
    /// Whether the byte is a base64url character.
    var isBase64URL: Bool {
        switch self {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
            true
        default: false
        }
    }

    /// Whether the byte is a character of either base64 alphabet, including padding.
    var isBase64: Bool {
        isBase64URL || self == UInt8(ascii: "+") || self == UInt8(ascii: "/") || self == UInt8(ascii: "=")
    }

    /// Whether the byte is JSON white space.
    var isBlank: Bool { self == 0x20 || self == 0x0A || self == 0x0D || self == 0x09 }
}
