import Expectations
import JSON
import Testing

@Suite("JSON values") struct JSONValueTests {
    @Test("keep the order and the repetition of members") func order() throws {
        let text = "{\"b\":1,\"a\":2,\"b\":{\"z\":1,\"y\":2,\"z\":3},\"\":0}"
        let object = try #require(try JSON.parse(text.utf8).object)
        expect(object.map(\.name), is: ["b", "a", "b", ""])
        expect(object["b"], is: 1)
        expect(object.duplicateNames, is: ["b"])
        expect(JSON.object(object).text, is: text)
    }

    @Test("list each repeated name once, escapes resolved") func duplicates() throws {
        let object = try #require(
            try JSON.parse("{\"z\":1,\"a\":1,\"\\u0061\":2,\"a\":3,\"z\":4,\"A\":5,\"\":6,\"\":7}".utf8).object)
        expect(object.duplicateNames, is: ["", "a", "z"])
        expect(JSONObject([]).duplicateNames, is: [])
        expect((["a": 1] as JSONObject).duplicateNames, is: [])
    }

    static let equivalences: [(String, String, Bool)] = [
        ("{\"a\":1,\"b\":[2]}", "{\"b\":[2.0],\"a\":1e0}", true), ("{\"a\":1}", "{\"b\":1}", false),
        ("{\"a\":1}", "{\"a\":1,\"b\":1}", false), ("{\"a\":1,\"a\":2}", "{\"a\":1,\"a\":2}", true),
        ("{\"a\":1,\"a\":2}", "{\"a\":2,\"a\":1}", false),
        ("{\"a\":1,\"b\":0,\"a\":2}", "{\"b\":0,\"a\":1,\"a\":2}", true),
        ("1e999999999", "1e999999998", false), ("1e999999999", "10E999999998", true), ("-1e999", "1e999", false),
        ("1e-999", "0", false), ("0e99999999999999999999", "-0.0", true), ("0.10", "1e-1", true),
        ("1e99999999999999999999", "1e99999999999999999999", true),
        ("1e99999999999999999999", "1e99999999999999999998", false), ("9007199254740993", "9007199254740992.0", false),
        ("-120.50e3", "-120500", true), ("100", "1e2", true), ("100", "1e3", false),
        ("{\"a\":1,\"a\":1}", "{\"a\":1,\"b\":1}", false), ("{\"é\":1}", "{\"e\u{301}\":1}", false),
    ]

    @Test("say the same whatever the order of members, unless they have one name", arguments: Self.equivalences)
    func equivalence(_ one: String, _ other: String, _ isSame: Bool) throws {
        let (one, other) = (try JSON.parse(one.utf8), try JSON.parse(other.utf8))
        expect(one.isEquivalent(to: other), is: isSame)
        expect(other.isEquivalent(to: one), is: isSame)
        #expect(one.isEquivalent(to: one) && other.isEquivalent(to: other))
    }

    @Test("of very many members are compared without looking for each name among all", .timeLimit(.minutes(1)))
    func manyMembers() {
        let members = (0..<40_000).map { ("name-\($0)", JSON($0)) }
        let (one, other) = (JSON.object(JSONObject(members)), JSON.object(JSONObject(members.reversed())))
        expect(one.isEquivalent(to: other), is: true)
        expect(one.isEquivalent(to: .object(JSONObject(members.dropLast() + [("name-39999", 0)]))), is: false)
    }

    @Test("change members in their place, append new ones and remove all of a name") func change() {
        var object: JSONObject = ["a": 1, "b": 2, "a": 3]
        object["a"] = 9
        expect(JSON.object(object).text, is: "{\"a\":9,\"b\":2,\"a\":3}")
        object["c"] = nil
        object["d"] = .null
        expect(JSON.object(object).text, is: "{\"a\":9,\"b\":2,\"a\":3,\"d\":null}")
        object["a"] = nil
        expect(JSON.object(object).text, is: "{\"b\":2,\"d\":null}")
        object.append("b", 5)
        expect(JSON.object(object).text, is: "{\"b\":2,\"d\":null,\"b\":5}")
    }

    @Test("are written compactly, with the escapes that must be and no others") func compact() {
        let value: JSON = [
            "text": "\"\\/\u{8}\u{C}\n\r\t\u{0}\u{1F}\u{7F}\u{2028}caf\u{E9}\u{1F600}",
            "list": [1, 2.5, true, nil, [], [:]],
        ]
        expect(
            value.text,
            is: "{\"text\":\"\\\"\\\\/\\u0008\\u000c\\n\\r\\t\\u0000\\u001f\u{7F}\u{2028}caf\u{E9}\u{1F600}\","
                + "\"list\":[1,2.5,true,null,[],{}]}")
    }

    @Test("are written for people with two blanks a level") func pretty() {
        let value: JSON = ["a": [1, ["b": nil]], "c": [], "d": [:]]
        expect(
            value.prettyText,
            is: """
                {
                  "a": [
                    1,
                    {
                      "b": null
                    }
                  ],
                  "c": [],
                  "d": {}
                }
                """)
        expect((1 as JSON).prettyText, is: "1")
    }

    @Test("answer for their own type only") func types() {
        let values: [JSON] = [nil, true, 1, "1", [], [:]]
        expect(values.map(\.typeName), is: ["null", "boolean", "number", "string", "array", "object"])
        expect(values.map { $0.isNull }, is: [true, false, false, false, false, false])
        expect(values.map { $0.bool != nil }, is: [false, true, false, false, false, false])
        expect(values.map { $0.int != nil }, is: [false, false, true, false, false, false])
        expect(values.map { $0.number != nil }, is: [false, false, true, false, false, false])
        expect(values.map { $0.string != nil }, is: [false, false, false, true, false, false])
        expect(values.map { $0.array != nil }, is: [false, false, false, false, true, false])
        expect(values.map { $0.object != nil }, is: [false, false, false, false, false, true])
    }

    @Test("are reached by name and by index, and missing ones are nil") func access() {
        let value: JSON = ["a": [10, 20], "b": nil]
        expect(value["a"]?[1], is: 20)
        expect(value["a"]?[2], is: nil)
        expect(value["a"]?[-1], is: nil)
        expect(value["b"], is: .some(.null))
        expect(value["c"], is: nil)
        expect(value[0], is: nil)
        expect((1 as JSON)["a"], is: nil)
        expect(JSON(nil as String?), is: .null)
    }

    @Test("know how deep they are") func depth() {
        expect((1 as JSON).depth, is: 0)
        expect(([] as JSON).depth, is: 1)
        expect((["a": [[1], 2]] as JSON).depth, is: 3)
    }
}
