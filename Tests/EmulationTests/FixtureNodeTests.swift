import Emulation
import JSON
import Testing

/// JSON read as if from a fixture: problems are reported by path, and nothing is copied until then.
@Suite("JSON as a fixture")
struct FixtureNodeTests {
    private func node(_ text: String) throws -> FixtureNode { FixtureNode(try JSON.parse(text.utf8), from: "export") }

    /// The problem that a reader reports.
    private func problem(_ text: String, _ read: (FixtureNode) throws -> Void) throws -> String? {
        let error = #expect(throws: FixtureProblem.self) { try read(try node(text)) }
        return error?.description
    }

    @Test("a problem names the way through members and elements")
    func path() throws {
        let text = #"{"users":[{"id":"a"},{"id":"b","cards":[[1,"x"]]}]}"#
        #expect(
            try problem(text) {
                let users = try $0.mapping("users").required("users").elements()
                let card = try users[1].mapping("id", "cards").required("cards").elements()[0].elements()[1]
                _ = try card.int()
            } == "export: users[1].cards[0][1]: found the string “x”; expected a whole number")
        #expect(
            try problem(text) { _ = try $0.mapping("user") }
                == "export: users: unknown member “users”; did you mean “user”?")
        #expect(
            try problem(text) { _ = try $0.mapping("users", "cards").required("cards") }
                == "export: member “cards” is missing")
        #expect(try problem("7") { _ = try $0.members() } == "export: found the number 7; expected a mapping")
    }

    /// A value and what the complaint calls it when something else is expected.
    private static let found: [(String, String)] = [
        ("{}", "a mapping"), ("[]", "a list"), ("null", "nothing"), ("true", "the boolean true"),
        ("1.50", "the number 1.50"), (#""x""#, "the string “x”"),
    ]

    @Test("what was found is named beside what is expected", arguments: found)
    func kinds(_ text: String, _ name: String) throws {
        func complaint(_ what: String) -> String { "export: a: found \(name); expected \(what)" }
        func read(_ read: (FixtureNode) throws -> Void) throws -> String? {
            try problem(#"{"a":\#(text)}"#) { try read(try $0.mapping("a").required("a")) }
        }
        if text != "{}" { #expect(try read { _ = try $0.members() } == complaint("a mapping")) }
        if text != "[]" { #expect(try read { _ = try $0.elements() } == complaint("a list")) }
        if text != "true" { #expect(try read { _ = try $0.bool() } == complaint("true or false")) }
        if text != "1.50" { #expect(try read { _ = try $0.number() } == complaint("a number")) }
        #expect(try read { _ = try $0.int() } == complaint("a whole number"))
        if text != #""x""# {
            let advice = ["{}", "[]"].contains(text) ? "" : "; write it in quotes"
            #expect(try read { _ = try $0.string() } == complaint("a string") + advice)
        }
    }

    @Test("a member that stands there twice is refused where it is, however deep")
    func repeated() throws {
        #expect(try problem(#"{"a":1,"a":2}"#) { _ = try $0.members() } == "export: the member a occurs twice")
        #expect(
            try problem(#"{"x":[0,{"y":{"a":1,"a":1}}]}"#) { _ = try $0.json() }
                == "export: x[1].y: the member a occurs twice")
    }

    @Test("values are what they were, numbers in the form in which they were written")
    func values() throws {
        let text = #"{"n":1.50,"big":123456789012345678901234567890,"t":"true","e":"","z":null,"l":[1e3,{"é":"x"}]}"#
        #expect(try node(text).json().text == text)
        let entry = try node(text).mapping("n", "big", "t", "e", "z", "l")
        #expect(try entry.required("n").number() == 1.5)
        #expect(try entry.required("t").string() == "true")
        #expect(try entry.required("e").string() == "")
        #expect(throws: FixtureProblem.self) { try entry.required("big").int() }
    }
}
