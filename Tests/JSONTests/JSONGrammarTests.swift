import Expectations
import JSON
import Testing

@Suite("The grammar of RFC 8259") struct JSONGrammarTests {
    static let accepted: [(String, JSON)] = [
        ("null", JSON.null), ("true", true), ("false", false), ("0", 0), ("\"\"", ""), ("[]", []), ("{}", [:]),
        (" \t\r\n[ \t\r\n] \t\r\n", []), ("\n{\r}\t", [:]), ("[1,2]", [1, 2]), ("[ 1 , [ ] , { } ]", [1, [], [:]]),
        ("{\"a\":1}", ["a": 1]), ("{ \"a\" : [ null ] , \"b\" : { } }", ["a": [nil], "b": [:]]), ("\"a\"", "a"),
    ]

    @Test("accepts every value with white space around it", arguments: Self.accepted)
    func accepts(_ text: String, _ value: JSON) throws { expect(try JSON.parse(text.utf8), is: value) }

    static let refused: [(String, JSONError.Reason, Int)] = [
        ("", JSONError.Reason.endOfText, 0), (" ", .endOfText, 1), ("[", .endOfText, 1), ("[1", .endOfText, 2),
        ("[1,", .endOfText, 3), ("{", .endOfText, 1), ("{\"a\"", .endOfText, 4), ("{\"a\":", .endOfText, 5),
        ("{\"a\":1", .endOfText, 6), ("\"", .endOfText, 1), ("\"a", .endOfText, 2), ("\"\\", .endOfText, 2),
        ("tru", .endOfText, 3), ("nul", .endOfText, 3), ("[1,]", .unexpectedByte(0x5D), 3),
        ("[,1]", .unexpectedByte(0x2C), 1), ("[1 2]", .unexpectedByte(0x32), 3), ("[1}", .unexpectedByte(0x7D), 2),
        ("{\"a\":1,}", .unexpectedByte(0x7D), 7), ("{,}", .unexpectedByte(0x2C), 1),
        ("{a:1}", .unexpectedByte(0x61), 1), ("{'a':1}", .unexpectedByte(0x27), 1), ("{1:1}", .unexpectedByte(0x31), 1),
        ("{\"a\" 1}", .unexpectedByte(0x31), 5), ("{\"a\":}", .unexpectedByte(0x7D), 5),
        ("{\"a\":1]", .unexpectedByte(0x5D), 6), ("]", .unexpectedByte(0x5D), 0), ("True", .unexpectedByte(0x54), 0),
        ("trUe", .unexpectedByte(0x55), 2), ("nan", .unexpectedByte(0x61), 1), ("NaN", .unexpectedByte(0x4E), 0),
        ("Infinity", .unexpectedByte(0x49), 0), ("'a'", .unexpectedByte(0x27), 0),
        ("undefined", .unexpectedByte(0x75), 0), ("// a", .unexpectedByte(0x2F), 0), ("1 1", .trailingBytes, 2),
        ("[]]", .trailingBytes, 2), ("{}{}", .trailingBytes, 2), ("null\u{0}", .trailingBytes, 4),
        ("true false", .trailingBytes, 5), ("\u{FEFF}[]", .byteOrderMark, 0), ("\u{A0}1", .unexpectedByte(0xC2), 0),
        ("\u{B}1", .unexpectedByte(0x0B), 0), ("\u{C}1", .unexpectedByte(0x0C), 0),
        ("[1/**/]", .unexpectedByte(0x2F), 2),
    ]

    @Test("refuses everything else, and says where and why", arguments: Self.refused)
    func refuses(_ text: String, _ reason: JSONError.Reason, _ offset: Int) {
        let error = expect(throws: JSONError.self) { try JSON.parse(text.utf8) }
        expect(error?.reason, is: reason)
        expect(error?.offset, is: offset)
    }

    @Test("counts lines and columns from 1") func places() {
        let error = expect(throws: JSONError.self) { try JSON.parse("{\n  \"a\": 1,\n  \"b\": x\n}".utf8) }
        expect(error?.line, is: 3)
        expect(error?.column, is: 8)
        expect(error?.description, is: "line 3, column 8: unexpected “x”")
    }

    @Test("bounds how deep values lie inside each other") func depth() throws {
        let deepest = String(repeating: "[", count: 64) + String(repeating: "]", count: 64)
        expect(try JSON.parse(deepest.utf8).depth, is: 64)
        let deeper = expect(throws: JSONError.self) { try JSON.parse("[\(deepest)]".utf8) }
        expect(deeper?.reason, is: .tooDeep(maximum: 64))
        expect(deeper?.offset, is: 64)
        let objects = String(repeating: "{\"a\":", count: 64) + "1" + String(repeating: "}", count: 64)
        expect(try JSON.parse(objects.utf8).depth, is: 64)
        expect(throws: JSONError.self) { try JSON.parse("[\(objects)]".utf8) }
        expect(throws: JSONError.self) { try JSON.parse("[]".utf8, maximumDepth: 0) }
        expect(try JSON.parse("1".utf8, maximumDepth: 0), is: 1)
        expect(throws: JSONError.self) { try JSON.parse([UInt8](repeating: 0x5B, count: 1_000_000)) }
        // Sibling values do not add depth.
        expect(try JSON.parse("[\(String(repeating: "[],", count: 1_000))1]".utf8).depth, is: 2)
    }
}

@Suite("JSON numbers") struct JSONNumberTests {
    @Test(
        "keep their form",
        arguments: [
            ("0", 0, 0.0), ("-0", 0, -0.0), ("1", 1, 1), ("-12", -12, -12), ("1.0", nil, 1), ("1.50", nil, 1.5),
            ("1e2", nil, 100), ("1E+2", nil, 100), ("1e-2", nil, 0.01), ("-1.5E3", nil, -1500), ("0.0", nil, 0),
            ("0e0", nil, 0), ("1800000000", 1_800_000_000, 1.8e9), ("1e400", nil, .infinity),
            ("-1e400", nil, -.infinity), ("1e-400", nil, 0), ("9223372036854775807", Int.max, 9223372036854775808),
            ("-9223372036854775808", Int.min, -9223372036854775808), ("9223372036854775808", nil, 9223372036854775808),
            ("123456789012345", 123_456_789_012_345, 123_456_789_012_345),
            ("1234567890123456", 1_234_567_890_123_456, 1_234_567_890_123_456), ("100000000000000000000", nil, 1e20),
            ("0.1", nil, 0.1),
        ] as [(String, Int?, Double)])
    func form(_ text: String, _ int: Int?, _ double: Double) throws {
        let number = try #require(try JSON.parse(text.utf8).number)
        expect(number.literal, is: text)
        expect(number.int, is: int)
        expect(number.double, is: double)
        expect(JSON.number(number).text, is: text)
        expect(number.isInteger, is: (text.allSatisfy { $0 == "-" || $0.isNumber }))
    }

    @Test("of different forms are different values") func different() throws {
        let values = try ["1800000000", "1800000000.0", "1.8e9", "18e8", "1800000000e0"].map { try JSON.parse($0.utf8) }
        expect(Set(values).count, is: 5)
    }

    @Test(
        "that break the grammar are refused",
        arguments: [
            "01", "-01", "00", "1.", "-1.", ".5", "-.5", "1.e5", "1e", "1e+", "1E-", "-", "--1", "+1", "1..0", "1.0.0",
            "1e5.0", "0x10", "1_000", "1,000", "\u{661}", "\u{FF11}", "1f", "1e5e5", "1-", "Infinity", "-Infinity",
            "-NaN", "1 000",
        ])
    func refused(_ text: String) {
        expect(throws: JSONError.self) { try JSON.parse(text.utf8) }
        expect(throws: JSONError.self) { try JSON.parse("[\(text)]".replacing(",", with: "_").utf8) }
    }

    @Test(
        "made from values have the shortest form that reads back",
        arguments: [
            (0.0, "0"), (1, "1"), (-1, "-1"), (0.5, "0.5"), (1_800_001_799.25, "1800001799.25"),
            (1e15, "1000000000000000"),
            (1e300, "1e+300"), (.leastNonzeroMagnitude, "5e-324"), (.infinity, "0"), (.nan, "0"),
        ])
    func made(_ value: Double, _ text: String) throws {
        expect(JSONNumber(value).literal, is: text)
        #expect(throws: Never.self) { try JSON.parse(text.utf8) }
        if value.isFinite { expect(try JSON.parse(text.utf8).number?.double, is: value) }
    }
}

@Suite("JSON strings") struct JSONStringTests {
    @Test(
        "are unescaped",
        arguments: [
            ("\\\"\\\\\\/\\b\\f\\n\\r\\t", "\"\\/\u{8}\u{C}\n\r\t"), ("\\u0041\\u00e9\\u00E9", "A\u{E9}\u{E9}"),
            ("\\u0000", "\u{0}"), ("a\\u2028b", "a\u{2028}b"), ("\\ud83d\\ude00", "\u{1F600}"),
            ("\\uD800\\uDC00", "\u{10000}"), ("\\udbff\\udfff", "\u{10FFFF}"), ("\\uffff", "\u{FFFF}"),
            ("caf\u{E9} \u{1F600}\u{10FFFF}", "caf\u{E9} \u{1F600}\u{10FFFF}"), ("\u{7F}", "\u{7F}"),
            ("\u{2028}", "\u{2028}"), ("/", "/"), ("\\u007f", "\u{7F}"), ("x\\ty\\\\n", "x\ty\\n"),
        ])
    func unescaped(_ text: String, _ expected: String) throws {
        let string = try #require(try JSON.parse("\"\(text)\"".utf8).string)
        expect(Array(string.utf8), is: Array(expected.utf8))
    }

    @Test(
        "refuse unknown escapes, bad digits and bare control characters",
        arguments: [
            ("\\a", 2), ("\\'", 2), ("\\x41", 2), ("\\U0041", 2), ("\\0", 2), ("\\u", 3), ("\\u12", 5), ("\\u12G4", 5),
            ("\\u-123", 3), ("\\u 123", 3), ("\\u+041", 3), ("\n", 1), ("\t", 1), ("\u{0}", 1), ("\u{1F}", 1),
            ("a\\b\u{1}", 4), ("\\u\u{FF11}234", 3), ("\\", 3),
        ])
    func refused(_ text: String, _ offset: Int) {
        let error = expect(throws: JSONError.self) { try JSON.parse("\"\(text)\"".utf8) }
        expect(error?.offset, is: offset)
    }

    @Test(
        "refuse half a surrogate pair, at the escape that starts it",
        arguments: [
            "\\ud800", "\\udc00", "\\ud800x", "\\ud800\\n", "\\ud800\\u0041", "\\ud800\\ud800", "\\udc00\\ud800",
            "\\uDFFF",
        ])
    func loneSurrogates(_ text: String) {
        let error = expect(throws: JSONError.self) { try JSON.parse("\"\(text)\"".utf8) }
        expect(error?.reason, is: .loneSurrogate)
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
            let error = expect(throws: JSONError.self) { try JSON.parse(text) }
            expect(error?.reason, is: .invalidUTF8)
        }
    }

    @Test("are compared by their bytes, not by what they look like") func bytes() {
        expect("caf\u{E9}", is: "cafe\u{301}")
        expect("caf\u{E9}".hasSameBytes(as: "cafe\u{301}"), is: false)
        expect("caf\u{E9}".hasSameBytes(as: "caf\u{E9}"), is: true)
        expect("a\u{323}\u{307}".hasSameBytes(as: "a\u{307}\u{323}"), is: false)
        expect(
            "a longer text, beyond the small form".hasSameBytes(as: "a longer text, beyond the small form"), is: true)
        expect(
            "a longer text, beyond the small form".hasSameBytes(as: "a longer text, beyond the small for"), is: false)
        expect("abc".dropLast().hasSameBytes(as: "ab"), is: true)
        expect("".hasSameBytes(as: ""), is: true)
        let object: JSONObject = ["caf\u{E9}": 1, "cafe\u{301}": 2]
        expect(object["cafe\u{301}"], is: 2)
        expect(object.duplicateNames, is: [])
    }
}

@Suite("Bytes within bytes") struct ByteSearchTests {
    /// All texts of the given length over a small alphabet.
    private static func texts(_ count: Int) -> [[UInt8]] {
        count == 0 ? [[]] : texts(count - 1).flatMap { text in [1, 2].map { text + [$0] } }
    }

    @Test("are found where comparing at every place finds them") func small() {
        let patterns = (0...4).flatMap(Self.texts)
        for text in (0...7).flatMap(Self.texts) {
            let bytes = ([9] + text)[1...]
            for pattern in patterns {
                let places = bytes.startIndex...bytes.endIndex
                expect(bytes.place(of: pattern), is: places.first { bytes[$0...].starts(with: pattern) })
            }
        }
    }

    @Test("are found at the end of a slice, and not behind it") func slices() {
        let bytes = Array("abcabcd".utf8)
        expect(bytes[...].place(of: Array("abcd".utf8)), is: 3)
        expect(bytes[..<6].place(of: Array("abcd".utf8)), is: nil)
        expect(bytes[1...].place(of: Array("abc".utf8)), is: 3)
    }
}
