extension SecretFinder {
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

    private func longestRun(_ bytes: ArraySlice<UInt8>) -> Int {
        bytes.split { !$0.isBase64 }.map(\.count).max() ?? 0
    }
}
