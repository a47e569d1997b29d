import JSON
import Testing

@Suite("JSON numbers")
struct JSONNumberTests {
    @Test(
        "keep their form",
        arguments: [
            ("0", 0, 0.0), ("-0", 0, -0.0), ("1", 1, 1), ("-12", -12, -12), ("1.0", nil, 1), ("1.50", nil, 1.5),
            ("1e2", nil, 100),
            ("1E+2", nil, 100), ("1e-2", nil, 0.01), ("-1.5E3", nil, -1500), ("0.0", nil, 0), ("0e0", nil, 0),
            ("1800000000", 1_800_000_000, 1.8e9), ("1e400", nil, .infinity), ("-1e400", nil, -.infinity),
            ("1e-400", nil, 0),
            ("9223372036854775807", Int.max, 9223372036854775807),
            ("-9223372036854775808", Int.min, -9223372036854775808),
            ("9223372036854775808", nil, 9223372036854775808),
            ("123456789012345", 123_456_789_012_345, 123_456_789_012_345),
            ("1234567890123456", 1_234_567_890_123_456, 1_234_567_890_123_456), ("100000000000000000000", nil, 1e20),
            ("0.1", nil, 0.1),
        ] as [(String, Int?, Double)])
    func form(_ text: String, _ int: Int?, _ double: Double) throws {
        let number = try #require(try JSON.parse(text.utf8).number)
        #expect(number.literal == text)
        #expect(number.int == int)
        #expect(number.double == double)
        #expect(JSON.number(number).text == text)
        #expect(number.isInteger == (text.allSatisfy { $0 == "-" || $0.isNumber }))
    }

    @Test("of different forms are different values")
    func different() throws {
        let values = try ["1800000000", "1800000000.0", "1.8e9", "18e8", "1800000000e0"].map { try JSON.parse($0.utf8) }
        #expect(Set(values).count == 5)
    }

    @Test(
        "that break the grammar are refused",
        arguments: [
            "01", "-01", "00", "1.", "-1.", ".5", "-.5", "1.e5", "1e", "1e+", "1E-", "-", "--1", "+1", "1..0", "1.0.0",
            "1e5.0",
            "0x10", "1_000", "1,000", "\u{661}", "\u{FF11}", "1f", "1e5e5", "1-", "Infinity", "-Infinity", "-NaN",
            "1 000",
        ])
    func refused(_ text: String) {
        #expect(throws: JSONError.self) { try JSON.parse(text.utf8) }
        #expect(throws: JSONError.self) { try JSON.parse("[\(text)]".replacing(",", with: "_").utf8) }
    }

    @Test(
        "made from values have the shortest form that reads back",
        arguments: [
            (0.0, "0"), (1, "1"), (-1, "-1"), (0.5, "0.5"), (1_800_001_799.25, "1800001799.25"),
            (1e15, "1000000000000000"),
            (1e300, "1e+300"), (5e-324, "5e-324"), (.infinity, "0"), (.nan, "0"),
        ])
    func made(_ value: Double, _ text: String) throws {
        #expect(JSONNumber(value).literal == text)
        #expect(throws: Never.self) { try JSON.parse(text.utf8) }
        if value.isFinite { #expect(try JSON.parse(text.utf8).number?.double == value) }
    }
}
