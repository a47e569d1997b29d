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
}
