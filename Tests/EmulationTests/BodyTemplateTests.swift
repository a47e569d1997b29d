import Emulation
import JSON
import Testing

/// Bodies with placeholders in strings, where the result must stay a string.
@Suite("Bodies that keep their texts")
struct BodyTemplateTests {
    private func body(_ json: JSON, _ values: JSONObject) throws -> JSON {
        try BodyTemplate(json, at: FixtureNode(json, from: "test"), roots: ["customer"], keepsText: true).body(values)
    }

    @Test(
        "a string stays one, whatever it names",
        arguments: [
            (JSON.string("Ada"), "Ada"), (7, "7"), (true, "true"), (["a": 1], #"{"a":1}"#), (.null, ""),
        ] as [(JSON, String)])
    func texts(_ value: JSON, _ text: String) throws {
        let values: JSONObject = ["customer": ["name": value]]
        #expect(
            try body(["a": "{{customer.name}}", "b": ["x {{customer.name}}", 1]], values)
                == ["a": .string(text), "b": [.string("x " + text), 1]])
    }

    @Test("what is not there is empty text, and a section can stand in for it")
    func absent() throws {
        let template: JSON = "{{customer.name}}{{^customer.name}}there{{/customer.name}}"
        #expect(try body(template, ["customer": [:]]) == "there")
        #expect(try body(template, ["customer": ["name": "Ada"]]) == "Ada")
        #expect(try body("{{customer.name}}", [:]) == "")
    }

    @Test("what nothing can name is refused")
    func unknownRoot() {
        #expect(throws: FixtureProblem.self) { try body("{{reader.name}}", [:]) }
    }
}
