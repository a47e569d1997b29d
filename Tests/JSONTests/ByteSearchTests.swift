import JSON
import Testing

@Suite("Bytes within bytes")
struct ByteSearchTests {
    /// All texts of the given length over a small alphabet.
    private static func texts(_ count: Int) -> [[UInt8]] {
        count == 0 ? [[]] : texts(count - 1).flatMap { text in [1, 2].map { text + [$0] } }
    }

    @Test("are found where comparing at every place finds them")
    func small() {
        let patterns = (0...4).flatMap(Self.texts)
        for text in (0...7).flatMap(Self.texts) {
            let bytes = ([9] + text)[1...]
            for pattern in patterns {
                let places = bytes.startIndex...bytes.endIndex
                #expect(bytes.place(of: pattern) == places.first { bytes[$0...].starts(with: pattern) })
            }
        }
    }

    @Test("are found at the end of a slice, and not behind it")
    func slices() {
        let bytes = Array("abcabcd".utf8)
        #expect(bytes[...].place(of: Array("abcd".utf8)) == 3)
        #expect(bytes[..<6].place(of: Array("abcd".utf8)) == nil)
        #expect(bytes[1...].place(of: Array("abc".utf8)) == 3)
    }
}
