import JSON
import Tokens
import Wire

/// Finds secrets in a text by their form: known secrets, signatures of tokens, private keys in PEM.
///
/// It searches the text as it is, and without percent escapes.
struct SecretFinder {
    let known: [KnownSecrets]
    /// Whether the text may be a secret found only as a whole value; a member's name is not.
    var mindsWholes = true
    /// Whether `/` ends a token, as in a path.
    var isPath = false

    /// The ranges of secrets, in order and without overlaps.
    func places(in bytes: [UInt8]) -> [Range<Int>] {
        guard bytes.count >= KnownSecrets.shortest else { return [] }
        var found = found(in: bytes)
        if let text = DecodedText(percentEncoded: bytes) { found += self.found(in: text.bytes).map(text.origin) }
        return Self.merged(found)
    }

    private func found(in bytes: [UInt8]) -> [Range<Int>] {
        var found: [Range<Int>] = []
        bytes.withUnsafeBufferPointer { bytes in
            for secrets in known { secrets.find(in: bytes, &found) }
        }
        if mindsWholes { findWholes(in: bytes, &found) }
        findTokens(in: bytes, &found)
        findBlocks(in: bytes, &found)
        return found
    }

    private static func merged(_ places: [Range<Int>]) -> [Range<Int>] {
        var merged: [Range<Int>] = []
        for place in places.sorted(by: { $0.lowerBound < $1.lowerBound }) where !place.isEmpty {
            if let last = merged.last, place.lowerBound <= last.upperBound {
                merged[merged.count - 1] = last.lowerBound..<max(last.upperBound, place.upperBound)
            } else {
                merged.append(place)
            }
        }
        return merged
    }

    /// Adds known secrets that are too short to be found inside texts: those between delimiters.
    private func findWholes(in bytes: [UInt8], _ found: inout [Range<Int>]) {
        let wholes = known.map(\.wholes).filter { !$0.isEmpty }
        guard !wholes.isEmpty else { return }
        var start = 0
        for index in 0...bytes.count where index == bytes.count || Self.endsValue(bytes[index]) {
            let length = index - start
            // Longer ones are found inside texts, or are not words.
            if length >= KnownSecrets.shortest, length < 2 * KnownSecrets.window {
                let piece = Array(bytes[start..<index])
                let isName =
                    index + 1 < bytes.count && bytes[index] == UInt8(ascii: "\"")
                    && bytes[index + 1] == UInt8(ascii: ":")
                if !isName, wholes.contains(where: { $0.contains(piece) }) { found.append(start..<index) }
            }
            start = index + 1
        }
    }

    private static func endsValue(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "'"), UInt8(ascii: "&"), UInt8(ascii: "="), UInt8(ascii: "/"),
            UInt8(ascii: "?"), UInt8(ascii: ";"), UInt8(ascii: ","), UInt8(ascii: ":"), UInt8(ascii: "\r"),
            UInt8(ascii: "\n"):
            true
        default: false
        }
    }

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

    private static let privateWord = Array("PRIVATE".utf8)
    private static let keyWord = Array("KEY".utf8)

    /// ours: shorter runs of letters are words in a sentence about keys.
    private static let shortestLine = 24

    /// Adds the content of private PEM blocks, even without line breaks or an end. RFC 7468 section 2.
    func findBlocks(in bytes: [UInt8], _ found: inout [Range<Int>]) {
        var index = 0
        while let place = bytes[index...].place(of: Self.privateWord) {
            // Forms send `+` for a space.
            let word = place + Self.privateWord.count + 1
            index = min(word, bytes.count)
            guard bytes[index...].starts(with: Self.keyWord) else { continue }
            let start = index + Self.keyWord.count
            let dashes = bytes[start...].prefix { $0 == UInt8(ascii: "-") }.count
            let end = blockEnd(bytes, from: start + dashes)
            if longestRun(bytes[(start + dashes)..<end]) >= Self.shortestLine { found.append((start + dashes)..<end) }
            index = end
        }
    }

    /// Where the content of a block ends: at the dashes of its last line, or at a byte that no block contains.
    private func blockEnd(_ bytes: [UInt8], from start: Int) -> Int {
        var index = start
        while index < bytes.count {
            let byte = bytes[index]
            let isDash = byte == UInt8(ascii: "-")
            // Headers of encrypted blocks contain single dashes. RFC 1421 section 4.6.
            if isDash, index + 1 < bytes.count, bytes[index + 1] == UInt8(ascii: "-") { break }
            // In JSON the lines are separated by escapes.
            guard byte.isBase64 || byte.isBlank || ":,\\".utf8.contains(byte) else { break }
            index += 1
        }
        return index
    }

    private func longestRun(_ bytes: ArraySlice<UInt8>) -> Int { bytes.split { !$0.isBase64 }.map(\.count).max() ?? 0 }
}

extension UInt8 {
    var isBase64URL: Bool { isLetter || isDigit || self == UInt8(ascii: "-") || self == UInt8(ascii: "_") }

    /// Whether the byte is a character of either base64 alphabet, including padding.
    var isBase64: Bool {
        isBase64URL || self == UInt8(ascii: "+") || self == UInt8(ascii: "/") || self == UInt8(ascii: "=")
    }

    var isBlank: Bool { self == 0x20 || self == 0x0A || self == 0x0D || self == 0x09 }
}

/// A string without its percent escapes that knows the origin of each of its bytes.
struct DecodedText {
    let bytes: [UInt8]
    /// Where each byte begins in the escaped text, and where that text ends.
    private let origins: [UInt32]

    /// Decodes every percent escape once; `nil` when there is none.
    init?(percentEncoded text: [UInt8]) {
        guard text.contains(UInt8(ascii: "%")) else { return nil }
        var (bytes, origins): ([UInt8], [UInt32]) = ([], [])
        bytes.reserveCapacity(text.count)
        origins.reserveCapacity(text.count + 1)
        var index = 0
        while index < text.count {
            origins.append(UInt32(index))
            if text[index] == UInt8(ascii: "%"), index + 2 < text.count,
                let high = text[index + 1].hexadecimalDigit,
                let low = text[index + 2].hexadecimalDigit
            {
                bytes.append(high << 4 | low)
                index += 3
            } else {
                bytes.append(text[index])
                index += 1
            }
        }
        guard bytes.count < text.count else { return nil }
        origins.append(UInt32(text.count))
        (self.bytes, self.origins) = (bytes, origins)
    }

    func origin(of place: Range<Int>) -> Range<Int> { Int(origins[place.lowerBound])..<Int(origins[place.upperBound]) }
}
