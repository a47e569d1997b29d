import JSON
import Testing

@Suite("The grammar of RFC 8259")
struct JSONGrammarTests {
    static let accepted: [(String, JSON)] = [
        ("null", JSON.null), ("true", true), ("false", false), ("0", 0), ("\"\"", ""), ("[]", []), ("{}", [:]),
        (" \t\r\n[ \t\r\n] \t\r\n", []), ("\n{\r}\t", [:]), ("[1,2]", [1, 2]), ("[ 1 , [ ] , { } ]", [1, [], [:]]),
        ("{\"a\":1}", ["a": 1]), ("{ \"a\" : [ null ] , \"b\" : { } }", ["a": [nil], "b": [:]]), ("\"a\"", "a"),
    ]

    @Test("accepts every value with white space around it", arguments: Self.accepted)
    func accepts(_ text: String, _ value: JSON) throws {
        #expect(try JSON.parse(text.utf8) == value)
    }

    static let refused: [(String, JSONError.Reason, Int)] = [
        ("", JSONError.Reason.endOfText, 0), (" ", .endOfText, 1), ("[", .endOfText, 1), ("[1", .endOfText, 2),
        ("[1,", .endOfText, 3), ("{", .endOfText, 1), ("{\"a\"", .endOfText, 4), ("{\"a\":", .endOfText, 5),
        ("{\"a\":1", .endOfText, 6), ("\"", .endOfText, 1), ("\"a", .endOfText, 2), ("\"\\", .endOfText, 2),
        ("tru", .endOfText, 3), ("nul", .endOfText, 3), ("[1,]", .unexpectedByte(0x5D), 3),
        ("[,1]", .unexpectedByte(0x2C), 1), ("[1 2]", .unexpectedByte(0x32), 3), ("[1}", .unexpectedByte(0x7D), 2),
        ("{\"a\":1,}", .unexpectedByte(0x7D), 7), ("{,}", .unexpectedByte(0x2C), 1),
        ("{a:1}", .unexpectedByte(0x61), 1), ("{'a':1}", .unexpectedByte(0x27), 1),
        ("{1:1}", .unexpectedByte(0x31), 1), ("{\"a\" 1}", .unexpectedByte(0x31), 5),
        ("{\"a\":}", .unexpectedByte(0x7D), 5), ("{\"a\":1]", .unexpectedByte(0x5D), 6),
        ("]", .unexpectedByte(0x5D), 0),
        ("True", .unexpectedByte(0x54), 0), ("trUe", .unexpectedByte(0x55), 2), ("nan", .unexpectedByte(0x61), 1),
        ("NaN", .unexpectedByte(0x4E), 0), ("Infinity", .unexpectedByte(0x49), 0),
        ("'a'", .unexpectedByte(0x27), 0),
        ("undefined", .unexpectedByte(0x75), 0), ("// a", .unexpectedByte(0x2F), 0), ("1 1", .trailingBytes, 2),
        ("[]]", .trailingBytes, 2), ("{}{}", .trailingBytes, 2), ("null\u{0}", .trailingBytes, 4),
        ("true false", .trailingBytes, 5), ("\u{FEFF}[]", .byteOrderMark, 0), ("\u{A0}1", .unexpectedByte(0xC2), 0),
        ("\u{B}1", .unexpectedByte(0x0B), 0), ("\u{C}1", .unexpectedByte(0x0C), 0),
        ("[1/**/]", .unexpectedByte(0x2F), 2),
    ]

    @Test("refuses everything else, and says where and why", arguments: Self.refused)
    func refuses(_ text: String, _ reason: JSONError.Reason, _ offset: Int) {
        let error = #expect(throws: JSONError.self) { try JSON.parse(text.utf8) }
        #expect(error?.reason == reason)
        #expect(error?.offset == offset)
    }

    @Test("counts lines and columns from 1")
    func places() {
        let error = #expect(throws: JSONError.self) { try JSON.parse("{\n  \"a\": 1,\n  \"b\": x\n}".utf8) }
        #expect(error?.line == 3)
        #expect(error?.column == 8)
        #expect(error?.description == "line 3, column 8: unexpected “x”")
    }

    @Test("bounds how deep values lie inside each other")
    func depth() throws {
        let deepest = String(repeating: "[", count: 64) + String(repeating: "]", count: 64)
        #expect(try JSON.parse(deepest.utf8).depth == 64)
        let deeper = #expect(throws: JSONError.self) { try JSON.parse("[\(deepest)]".utf8) }
        #expect(deeper?.reason == .tooDeep(maximum: 64))
        #expect(deeper?.offset == 64)
        let objects = String(repeating: "{\"a\":", count: 64) + "1" + String(repeating: "}", count: 64)
        #expect(try JSON.parse(objects.utf8).depth == 64)
        #expect(throws: JSONError.self) { try JSON.parse("[\(objects)]".utf8) }
        #expect(throws: JSONError.self) { try JSON.parse("[]".utf8, maximumDepth: 0) }
        #expect(try JSON.parse("1".utf8, maximumDepth: 0) == 1)
        #expect(throws: JSONError.self) { try JSON.parse([UInt8](repeating: 0x5B, count: 1_000_000)) }
        // Sibling values do not add depth.
        #expect(try JSON.parse("[\(String(repeating: "[],", count: 1_000))1]".utf8).depth == 2)
    }
}
