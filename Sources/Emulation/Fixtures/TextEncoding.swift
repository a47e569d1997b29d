import JSON

/// The required encoding of a fixture file, and the complaint about any other.
enum TextEncoding {
    private static let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
    private static let bigEndianMark: [UInt8] = [0xFE, 0xFF]
    private static let littleEndianMark: [UInt8] = [0xFF, 0xFE]

    /// - Throws: a problem that names the position of the first byte that is not UTF-8, or the file's actual encoding.
    static func check(_ file: FixtureStore.File) throws(FixtureProblem) {
        if looksLikeUTF16(file.bytes) {
            throw FixtureProblem(file: file.path, message: "the file is UTF-16; save it as UTF-8")
        }
        guard String(validating: file.bytes, as: UTF8.self) != nil else {
            let count = wholeCharacters(file.bytes)
            throw problem(
                in: file, behind: count,
                "the file is not UTF-8: a byte \(hexadecimal(file.bytes[count])) stands here; save it as UTF-8")
        }
        // A mark at the very beginning is harmless.
        if let place = file.bytes.dropFirst(mark.count).place(of: mark) {
            throw problem(in: file, behind: place, "there is an invisible byte order mark here; remove it")
        }
    }

    private static func problem(
        in file: FixtureStore.File, behind count: Int, _ message: String
    ) -> FixtureProblem {
        let text = file.bytes.prefix(count)
        let line = text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).last ?? []
        return FixtureProblem(
            file: file.path, line: text.count { $0 == UInt8(ascii: "\n") } + 1,
            column: String(decoding: line, as: UTF8.self).unicodeScalars.count + 1, message: message)
    }

    /// Looks for a UTF-16 mark, or for zeros beside the first characters, which are ASCII in every fixture.
    private static func looksLikeUTF16(_ bytes: [UInt8]) -> Bool {
        if bytes.starts(with: bigEndianMark) || bytes.starts(with: littleEndianMark) { return true }
        return bytes.count > 1 && (bytes[0] == 0) != (bytes[1] == 0)
    }

    /// How many leading bytes are valid UTF-8.
    private static func wholeCharacters(_ bytes: [UInt8]) -> Int {
        var decoder = UTF8()
        var iterator = bytes.makeIterator()
        var count = 0
        while case .scalarValue(let scalar) = decoder.decode(&iterator) { count += UTF8.width(scalar) }
        return count
    }

    private static func hexadecimal(_ byte: UInt8) -> String {
        "0x" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
    }
}
