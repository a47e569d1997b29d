import JSON
import Tokens

extension SecretFinder {
    /// JWK members that only the owner knows. RFC 7518 section 6.
    static let keyMembers: Set<String> = ["d", "p", "q", "dp", "dq", "qi", "oth", "k"]

    /// Adds private keys: the content of a PEM block, a key's DER in base64, and private members of JWKs.
    func findKeys(in bytes: [UInt8], _ found: inout [Range<Int>]) {
        findBlocks(in: bytes, &found)
        findEncodedKeys(in: bytes, &found)
        if bytes[...].place(of: Self.keyType) != nil {
            findValues(in: bytes, &found) { Self.keyMembers.contains(String(decoding: $0, as: UTF8.self)) }
        }
    }

    private static let keyType = Array("\"kty\"".utf8)
    private static let privateWord = Array("PRIVATE".utf8)
    private static let keyWord = Array("KEY".utf8)

    /// ours: shorter runs of letters are words in a sentence about keys.
    private static let shortestLine = 24

    /// PEM blocks, even without line breaks or an end. RFC 7468 section 2.
    private func findBlocks(in bytes: [UInt8], _ found: inout [Range<Int>]) {
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
            guard byte.isBase64 || byte.isBlank || byte == UInt8(ascii: ":") || byte == UInt8(ascii: ",") else { break }
            index += 1
        }
        return index
    }

    private func longestRun(_ bytes: ArraySlice<UInt8>) -> Int {
        bytes.split { !$0.isBase64 }.map(\.count).max() ?? 0
    }

    /// Private keys as base64-encoded DER without the enclosing lines.
    private func findEncodedKeys(in bytes: [UInt8], _ found: inout [Range<Int>]) {
        var index = 0
        // All of them begin with the byte 0x30, the tag of a sequence.
        while let start = bytes[index...].place(of: UInt8(ascii: "M")) {
            index = start + 1
            let head = bytes[start...].prefix(40)
            guard start == 0 || !bytes[start - 1].isBase64URL, head.count == 40, head.allSatisfy(\.isBase64),
                beginsPrivateKey(head.prefix(16))
            else { continue }
            // Line breaks are part of it.
            index = bytes[start...].firstIndex { !$0.isBase64 && $0 != 0x0A && $0 != 0x0D } ?? bytes.count
            found.append(start..<index)
        }
    }

    /// Whether the text begins a private key: a version, then what follows it in PKCS #8, PKCS #1 or SEC 1.
    private func beginsPrivateKey(_ text: ArraySlice<UInt8>) -> Bool {
        guard let bytes = Base64URL.decodeLeniently(text), bytes.count > 8, bytes[0] == 0x30 else { return false }
        let content = bytes.dropFirst(bytes[1] < 0x80 ? 2 : 2 + Int(bytes[1] & 0x7F))
        guard content.count > 3, content.prefix(2).elementsEqual([0x02, 0x01]) else { return false }
        let (version, next) = (content[content.startIndex + 2], content[content.startIndex + 3])
        return version <= 1 && (next == 0x30 || next == 0x02 || next == 0x04)
    }
}
