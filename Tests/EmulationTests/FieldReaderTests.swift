import Expectations
import Foundation
import JSON
import Support
import Testing
import Wire

@testable import Emulation

/// The tests' dialect: reports every problem, in words that show its parts.
private enum Teller: FieldDialect {
    struct Told: Error, Equatable {
        let problems: [String]
    }

    static let fieldPolicy = FieldPolicy(tellsAll: true)

    static func refusal(of problems: [FieldProblem]) -> Told {
        Told(problems: problems.map { "\($0.path) \($0.kind)" })
    }
}

private enum Size: String, CaseIterable { case small, large }

@Suite("Reading the fields of a request") struct FieldReaderTests {
    private func problems(_ object: JSONObject, _ read: (inout FieldReader) -> Void) -> [String] {
        do throws(Teller.Told) {
            try Fields<Teller>(object).read(read)
            return []
        } catch {
            return error.problems
        }
    }

    @Test("collects everything that is wrong, in the order of reading") func collectsProblems() {
        let told = problems(["a": 1, "b": "x", "c": nil, "d": "yes", "f": nil]) { body in
            expect(body.optionalText("a"), is: nil)
            expect(body.optionalText("b", atLeast: 2), is: nil)
            expect(body.text("c"), is: "")
            expect(body.bool("d"), is: nil)
            expect(body.text("e"), is: "")
            expect(body.optionalText("f", isRequired: true, acceptsNull: true), is: nil)
            expect(body.optionalText("g"), is: nil)
            expect(body.bool("g"), is: nil)
        }
        expect(told, is: ["a wrongType", "b tooShort(minimum: 2)", "c wrongType", "d wrongType", "e missing"])
    }

    @Test("another spelling counts where the usual one is absent") func otherSpellings() {
        let told = problems(["line_1": "usual", "line1": "other", "line2": "second"]) { body in
            expect(body.optionalText("line_1", or: "line1"), is: "usual")
            expect(body.optionalText("line_2", or: "line2", isRequired: true), is: "second")
        }
        #expect(told.isEmpty)
    }

    @Test("stops at the first problem unless all are to be told") func stopsAtFirstProblem() {
        var reader = FieldReader(["a": 1, "b": 2], FieldPolicy())
        expect(reader.text("a"), is: "")
        expect(reader.int("b", in: 1...9), is: nil, "nothing is read any more")
        expect(reader.problems.map(\.path), is: ["a"])
    }

    @Test("null, and an empty text that is required, count as absent where the policy says so") func absence() {
        let policy = FieldPolicy(tellsAll: true, nullIsAbsent: true, emptyIsAbsent: true)
        var reader = FieldReader(["a": nil, "b": "", "c": [], "d": ""], policy)
        expect(reader.bool("a"), is: nil)
        expect(reader.text("a"), is: "")
        expect(reader.text("b"), is: "")
        expect(reader.list("c", isRequired: true), is: [])
        expect(reader.optionalText("d"), is: "")
        expect(reader.problems.map(\.path), is: ["a", "b", "c"])
        #expect(reader.problems.allSatisfy { $0.kind == .missing })
    }

    @Test("names what stands in lists and objects by its path") func paths() {
        let object: JSONObject = ["points": [["lat": 91], 7, ["lat": 1]], "box": ["size": "x"], "ids": ["a", 1]]
        let read = { (body: inout FieldReader) in
            _ = body.objects("points") { $0.number("lat", in: -90...90, isRequired: true) }
            _ = body.nested("box") { $0.int("size", in: 0...9) }
            _ = body.texts("ids")
        }
        expect(
            problems(object, read),
            is: ["points[1] wrongType", "points[0].lat wrongValue", "box.size wrongValue", "ids[1] wrongType"])
        let dotted = FieldPolicy(tellsAll: true, indexSigns: (".", ""))
        var reader = FieldReader(object, dotted)
        read(&reader)
        expect(reader.problems.map(\.path), is: ["points.1", "points.0.lat", "box.size", "ids.1"])
        expect(reader.problems.map(\.list), is: ["points", nil, nil, "ids"])
    }

    @Test("tells a number where a time is expected, a word that is no choice, and a member that nobody knows")
    func otherKinds() {
        let told = problems(["at": 5, "size": "huge", "long": "four", "odd": 1]) { body in
            expect(body.time("at") { Moment(text: $0) }, is: nil)
            expect(body.choice("size", of: Size.self), is: nil)
            expect(body.optionalText("long", atMost: 3), is: nil)
            body.refuseUnknown(["at", "size", "long"])
            body.refuse("size", "is not a size")
        }
        expect(
            told,
            is: [
                "at noTime", #"size noChoice(["small", "large"])"#, "long tooLong(maximum: 3)",
                #"odd unknown("odd", known: ["at", "size", "long"])"#, #"size other("is not a size")"#,
            ])
    }

    @Test("keeps a hundred problems, and the first that is missing behind them") func boundsProblems() {
        let told = problems(["list": .array([JSON](repeating: 1, count: 200))]) { body in
            _ = body.objects("list") { $0.text("a") }
            _ = body.text("b")
            _ = body.text("c")
        }
        expect(told.count, is: FieldReader.mostProblems + 1)
        expect(told.last, is: "b missing")
    }

    @Test("reads numbers of a query from their digits, and refuses those in a body") func queries() throws {
        let request = Request(method: .get, target: "/?limit=20&name=a%20b")
        let read = try Fields<Teller>(queryOf: request).read { ($0.int("limit", in: 1...100), $0.text("name")) }
        expect(read.0, is: 20)
        expect(read.1, is: "a b")
        expect(problems(["limit": "20"]) { _ = $0.int("limit", in: 1...100) }, is: ["limit wrongValue"])
    }

    @Test(
        "says why a content cannot be read",
        arguments: [
            ("", "the body is empty, not a JSON object"),
            ("[]", "the body is a JSON array, not an object"),
            ("{", "the body is not JSON: line 1, column 2: the text ends inside a value; expected a JSON object"),
        ])
    func contents(text: String, reason: String) {
        let request = Request(method: .post, target: "/", body: Array(text.utf8))
        do throws(FieldProblem) {
            let value = try request.json()
            let problem = FieldProblem(path: "", kind: .otherContent, expected: "an object", found: value)
            expect(problem.reason(), is: reason)
        } catch {
            expect(error.reason(), is: reason)
        }
    }
}

@Suite("A member of an action") struct ActionFieldsTests {
    private func refusal(_ members: JSONObject, _ read: (inout FieldReader) -> Void) -> String? {
        let refusal = #expect(throws: ControlRefusal.self) { try Fields<ActionFields>(members).read(read) }
        return refusal?.description
    }

    @Test("is refused with what was found and what would be right") func refusals() {
        expect(refusal([:]) { _ = $0.text("name") }, is: "member name is missing")
        expect(refusal(["on": 1]) { _ = $0.bool("on") }, is: "on is 1; expected a boolean")
        expect(
            refusal(["size": "huge"]) { _ = $0.choice("size", of: Size.self) },
            is: #"size is "huge"; expected small, large"#)
        expect(
            refusal(["name": ""]) { _ = $0.text("name", atLeast: 1) },
            is: "name is empty; expected at least 1 character")
        expect(
            refusal(["name": "long"]) { _ = $0.optionalText("name", atMost: 3) },
            is: "name has 4 characters; expected at most 3")
    }
}

/// JSON read as if from a fixture: problems are reported by path, and nothing is copied until then.
@Suite("JSON as a fixture") struct FixtureNodeTests {
    private func node(_ text: String) throws -> FixtureNode { FixtureNode(try JSON.parse(text.utf8), from: "export") }

    private func problem(_ text: String, _ read: (FixtureNode) throws -> Void) throws -> String? {
        let error = #expect(throws: FixtureProblem.self) { try read(try node(text)) }
        return error?.description
    }

    @Test("a problem names the way through members and elements") func path() throws {
        let text = #"{"users":[{"id":"a"},{"id":"b","cards":[[1,"x"]]}]}"#
        expect(
            try problem(text) {
                let users = try $0.mapping("users").required("users").elements()
                let card = try users[1].mapping("id", "cards").required("cards").elements()[0].elements()[1]
                _ = try card.int()
            }, is: "export: users[1].cards[0][1]: found the string “x”; expected a whole number")
        expect(
            try problem(text) { _ = try $0.mapping("user") },
            is: "export: users: unknown member “users”; did you mean “user”?")
        expect(
            try problem(text) { _ = try $0.mapping("users", "cards").required("cards") },
            is: "export: member “cards” is missing")
        expect(try problem("7") { _ = try $0.members() }, is: "export: found the number 7; expected a mapping")
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
        if text != "{}" { expect(try read { _ = try $0.members() }, is: complaint("a mapping")) }
        if text != "[]" { expect(try read { _ = try $0.elements() }, is: complaint("a list")) }
        if text != "true" { expect(try read { _ = try $0.bool() }, is: complaint("true or false")) }
        if text != "1.50" { expect(try read { _ = try $0.number() }, is: complaint("a number")) }
        expect(try read { _ = try $0.int() }, is: complaint("a whole number"))
        if text != #""x""# {
            let advice = ["{}", "[]"].contains(text) ? "" : "; write it in quotes"
            expect(try read { _ = try $0.string() }, is: complaint("a string") + advice)
        }
    }

    @Test("a member that stands there twice is refused where it is, however deep") func repeated() throws {
        expect(try problem(#"{"a":1,"a":2}"#) { _ = try $0.members() }, is: "export: the member a occurs twice")
        expect(
            try problem(#"{"x":[0,{"y":{"a":1,"a":1}}]}"#) { _ = try $0.json() },
            is: "export: x[1].y: the member a occurs twice")
    }

    @Test("values are what they were, numbers in the form in which they were written") func values() throws {
        let text = #"{"n":1.50,"big":123456789012345678901234567890,"t":"true","e":"","z":null,"l":[1e3,{"é":"x"}]}"#
        expect(try node(text).json().text, is: text)
        let entry = try node(text).mapping("n", "big", "t", "e", "z", "l")
        expect(try entry.required("n").number(), is: 1.5)
        expect(try entry.required("t").string(), is: "true")
        expect(try entry.required("e").string(), is: "")
        #expect(throws: FixtureProblem.self) { try entry.required("big").int() }
    }
}

/// Fixture layers with entries that are not files: a start must neither wait for them nor read anything outside.
@Suite("A folder of fixtures") struct FixtureLinkTests {
    private let folder: TemporaryFolder
    private var layer: String { folder.path + "/layer" }
    private var store: FixtureStore { FixtureStore(layers: [layer]) }

    init() throws {
        folder = try TemporaryFolder(["layer/v/a.yaml": "kept", "outside.yaml": "secret", "elsewhere/b.yaml": "secret"])
        try FileManager.default.createDirectory(atPath: layer + "/v/sub", withIntermediateDirectories: false)
    }

    private func link(_ path: String, to target: String) throws {
        try FileManager.default.createSymbolicLink(atPath: layer + "/" + path, withDestinationPath: target)
    }

    private func problem(_ work: () throws -> some Any) -> String? {
        let problem = #expect(throws: FixtureProblem.self) { try work() }
        return problem?.description.replacing(folder.path, with: "HERE").replacing("/private", with: "")
    }

    @Test("follows links that stay in it: a mounted folder may consist of them") func inside() throws {
        try link("v/b.yaml", to: "a.yaml")
        try link("v/c.yaml", to: layer + "/v/a.yaml")
        try link("w", to: "v")
        for path in ["v/b.yaml", "v/c.yaml", "w/a.yaml"] {
            expect(try store.file(path).bytes, is: Array("kept".utf8), "\(path)")
        }
        #expect(try store.usage(of: layer).unread.contains("w/a.yaml"))
        // The layer itself may be a link.
        try FileManager.default.createSymbolicLink(atPath: folder.path + "/linked", withDestinationPath: "layer")
        let linked = FixtureStore(layers: [folder.path + "/linked"])
        expect(try linked.file("v/b.yaml").bytes, is: Array("kept".utf8))
    }

    @Test(
        "is not left through links: not by whole paths, by dots, through folders, or to devices",
        arguments: [
            ("v/x.yaml", "ABSOLUTE/outside.yaml", "v/x.yaml"), ("v/x.yaml", "../../outside.yaml", "v/x.yaml"),
            ("v/d", "../../elsewhere", "v/d/b.yaml"), ("v/x.yaml", "/etc/hostname", "v/x.yaml"),
        ])
    func outside(_ path: String, _ target: String, _ asked: String) throws {
        try link(path, to: target.replacing("ABSOLUTE", with: folder.path))
        let read = try #require(problem { try store.file(asked) })
        #expect(read.hasPrefix("HERE/layer/\(asked): leads to "), "\(read)")
        #expect(read.hasSuffix(", outside the folder of fixtures HERE/layer; copy it there"), "\(read)")
        let counted = try #require(problem(store.checkEntries))
        #expect(counted.hasPrefix("HERE/layer/\(path): leads to "), "\(counted)")
    }

    @Test("with too many files, too deep folders or too long a file says how much there may be") func bounds() throws {
        for number in 0...FixtureWalk.mostEntries {
            #expect(FileManager.default.createFile(atPath: "\(layer)/v/sub/\(number)", contents: nil))
        }
        let many = try #require(problem(store.checkEntries))
        #expect(many.hasPrefix("HERE/layer/v/sub: the fixtures hold more than 4096 files and folders up to here"))
        try FileManager.default.removeItem(atPath: layer + "/v/sub")

        let deep = layer + "/v" + String(repeating: "/d", count: FixtureWalk.mostFolders)
        try FileManager.default.createDirectory(atPath: deep, withIntermediateDirectories: true)
        let sentence = try #require(problem(store.checkEntries))
        #expect(sentence.hasSuffix("/d/d: is more than 32 folders deep"), "\(sentence)")

        try folder.write("", to: "layer/v/long.yaml")
        expect(truncate(layer + "/v/long.yaml", 1 << 40), is: 0)
        let long = problem { try store.file("v/long.yaml") }
        expect(long, is: "HERE/layer/v/long.yaml: has 1099511627776 bytes; a fixture file may have 16777216")
    }
}
