import JSON
import Testing

@Suite("JSON strings")
struct JSONStringTests {
    @Test(
        "are unescaped",
        arguments: [
            ("\\\"\\\\\\/\\b\\f\\n\\r\\t", "\"\\/\u{8}\u{C}\n\r\t"), ("\\u0041\\u00e9\\u00E9", "A\u{E9}\u{E9}"),
            ("\\u0000", "\u{0}"), ("a\\u2028b", "a\u{2028}b"), ("\\ud83d\\ude00", "\u{1F600}"),
            ("\\uD800\\uDC00", "\u{10000}"), ("\\udbff\\udfff", "\u{10FFFF}"), ("\\uffff", "\u{FFFF}"),
            ("caf\u{E9} \u{1F600}\u{10FFFF}", "caf\u{E9} \u{1F600}\u{10FFFF}"), ("\u{7F}", "\u{7F}"),
            ("\u{2028}", "\u{2028}"),
            ("/", "/"), ("\\u007f", "\u{7F}"), ("x\\ty\\\\n", "x\ty\\n"),
        ])
    func unescaped(_ text: String, _ expected: String) throws {
        let string = try #require(try JSON.parse("\"\(text)\"".utf8).string)
        #expect(string.hasSameBytes(as: expected))
    }

    @Test(
        "refuse unknown escapes, bad digits and bare control characters",
        arguments: [
            ("\\a", 2), ("\\'", 2), ("\\x41", 2), ("\\U0041", 2), ("\\0", 2), ("\\u", 3), ("\\u12", 5), ("\\u12G4", 5),
            ("\\u-123", 3), ("\\u 123", 3), ("\\u+041", 3), ("\n", 1), ("\t", 1), ("\u{0}", 1), ("\u{1F}", 1),
            ("a\\b\u{1}", 4),
            ("\\u\u{FF11}234", 3), ("\\", 3),
        ])
    func refused(_ text: String, _ offset: Int) {
        let error = #expect(throws: JSONError.self) { try JSON.parse("\"\(text)\"".utf8) }
        #expect(error?.offset == offset)
    }

    @Test(
        "refuse half a surrogate pair, at the escape that starts it",
        arguments: [
            "\\ud800", "\\udc00", "\\ud800x", "\\ud800\\n", "\\ud800\\u0041", "\\ud800\\ud800", "\\udc00\\ud800",
            "\\uDFFF",
        ])
    func loneSurrogates(_ text: String) {
        let error = #expect(throws: JSONError.self) { try JSON.parse("\"\(text)\"".utf8) }
        #expect(error?.reason == .loneSurrogate)
        #expect(error?.offset == 1 || error?.offset == 2)
    }

    @Test(
        "refuse bytes that are not UTF-8, in values and names",
        arguments: [
            [0xFF], [0x80], [0xC0, 0xAF], [0xC1, 0xBF], [0xE0, 0x80, 0xAF], [0xED, 0xA0, 0x80], [0xED, 0xBF, 0xBF],
            [0xF0, 0x80, 0x80, 0xAF], [0xF4, 0x90, 0x80, 0x80], [0xF8, 0x88, 0x80, 0x80, 0x80], [0xC3], [0xE2, 0x82],
            [0xF0, 0x9F, 0x98], [0xFE, 0xFF],
        ] as [[UInt8]])
    func invalidUTF8(_ bytes: [UInt8]) {
        let quote = UInt8(ascii: "\"")
        let texts: [[UInt8]] = [
            [quote] + bytes + [quote], [quote] + Array("\\n".utf8) + bytes + [quote],
            Array("{\"".utf8) + bytes + Array("\":1}".utf8),
        ]
        for text in texts {
            let error = #expect(throws: JSONError.self) { try JSON.parse(text) }
            #expect(error?.reason == .invalidUTF8)
        }
    }

    @Test("are compared by their bytes, not by what they look like")
    func bytes() {
        #expect("caf\u{E9}" == "cafe\u{301}")
        #expect(!"caf\u{E9}".hasSameBytes(as: "cafe\u{301}"))
        #expect("caf\u{E9}".hasSameBytes(as: "caf\u{E9}"))
        #expect(!"a\u{323}\u{307}".hasSameBytes(as: "a\u{307}\u{323}"))
        #expect("a longer text, beyond the small form".hasSameBytes(as: "a longer text, beyond the small form"))
        #expect(!"a longer text, beyond the small form".hasSameBytes(as: "a longer text, beyond the small for"))
        #expect("abc".dropLast().hasSameBytes(as: "ab"))
        #expect("".hasSameBytes(as: ""))
        let object: JSONObject = ["caf\u{E9}": 1, "cafe\u{301}": 2]
        #expect(object["cafe\u{301}"] == 2)
        #expect(object.duplicateNames == [])
    }
}
