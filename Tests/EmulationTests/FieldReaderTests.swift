import JSON
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

@Suite("Reading the fields of a request")
struct FieldReaderTests {
    private func problems(_ object: JSONObject, _ read: (inout FieldReader) -> Void) -> [String] {
        do throws(Teller.Told) {
            try Fields<Teller>(object).read(read)
            return []
        } catch {
            return error.problems
        }
    }

    @Test("collects everything that is wrong, in the order of reading")
    func collectsProblems() {
        let told = problems(["a": 1, "b": "x", "c": nil, "d": "yes", "f": nil]) { body in
            #expect(body.optionalText("a") == nil)
            #expect(body.optionalText("b", atLeast: 2) == nil)
            #expect(body.text("c") == "")
            #expect(body.bool("d") == nil)
            #expect(body.text("e") == "")
            #expect(body.optionalText("f", isRequired: true, acceptsNull: true) == nil)
            #expect(body.optionalText("g") == nil)
            #expect(body.bool("g") == nil)
        }
        #expect(told == ["a wrongType", "b tooShort(minimum: 2)", "c wrongType", "d wrongType", "e missing"])
    }

    @Test("another spelling counts where the usual one is absent")
    func otherSpellings() {
        let told = problems(["line_1": "usual", "line1": "other", "line2": "second"]) { body in
            #expect(body.optionalText("line_1", or: "line1") == "usual")
            #expect(body.optionalText("line_2", or: "line2", isRequired: true) == "second")
        }
        #expect(told.isEmpty)
    }

    @Test("stops at the first problem unless all are to be told")
    func stopsAtFirstProblem() {
        var reader = FieldReader(["a": 1, "b": 2], FieldPolicy())
        #expect(reader.text("a") == "")
        #expect(reader.int("b", in: 1...9) == nil, "nothing is read any more")
        #expect(reader.problems.map(\.path) == ["a"])
    }

    @Test("null, and an empty text that is required, count as absent where the policy says so")
    func absence() {
        let policy = FieldPolicy(tellsAll: true, nullIsAbsent: true, emptyIsAbsent: true)
        var reader = FieldReader(["a": nil, "b": "", "c": [], "d": ""], policy)
        #expect(reader.bool("a") == nil)
        #expect(reader.text("a") == "")
        #expect(reader.text("b") == "")
        #expect(reader.list("c", isRequired: true) == [])
        #expect(reader.optionalText("d") == "")
        #expect(reader.problems.map(\.path) == ["a", "b", "c"])
        #expect(reader.problems.allSatisfy { $0.kind == .missing })
    }

    @Test("names what stands in lists and objects by its path")
    func paths() {
        let object: JSONObject = ["points": [["lat": 91], 7, ["lat": 1]], "box": ["size": "x"], "ids": ["a", 1]]
        let read = { (body: inout FieldReader) in
            _ = body.objects("points") { $0.number("lat", in: -90...90, isRequired: true) }
            _ = body.nested("box") { $0.int("size", in: 0...9) }
            _ = body.texts("ids")
        }
        #expect(
            problems(object, read) == [
                "points[1] wrongType", "points[0].lat wrongValue", "box.size wrongValue", "ids[1] wrongType",
            ])
        let dotted = FieldPolicy(tellsAll: true, indexSigns: (".", ""))
        var reader = FieldReader(object, dotted)
        read(&reader)
        #expect(reader.problems.map(\.path) == ["points.1", "points.0.lat", "box.size", "ids.1"])
        #expect(reader.problems.map(\.list) == ["points", nil, nil, "ids"])
    }

    @Test("tells a number where a time is expected, a word that is no choice, and a member that nobody knows")
    func otherKinds() {
        enum Size: String, CaseIterable { case small, large }
        let told = problems(["at": 5, "size": "huge", "long": "four", "odd": 1]) { body in
            #expect(body.time("at") { Moment(text: $0) } == nil)
            #expect(body.choice("size", of: Size.self) == nil)
            #expect(body.optionalText("long", atMost: 3) == nil)
            body.refuseUnknown(["at", "size", "long"])
            body.refuse("size", "is not a size")
        }
        #expect(
            told == [
                "at noTime", #"size noChoice(["small", "large"])"#, "long tooLong(maximum: 3)",
                #"odd unknown("odd", known: ["at", "size", "long"])"#, #"size other("is not a size")"#,
            ])
    }

    @Test("keeps a hundred problems, and the first that is missing behind them")
    func boundsProblems() {
        let told = problems(["list": .array([JSON](repeating: 1, count: 200))]) { body in
            _ = body.objects("list") { $0.text("a") }
            _ = body.text("b")
            _ = body.text("c")
        }
        #expect(told.count == FieldReader.mostProblems + 1)
        #expect(told.last == "b missing")
    }

    @Test("reads numbers of a query from their digits, and refuses those in a body")
    func queries() throws {
        let request = Request(method: .get, target: "/?limit=20&name=a%20b")
        let read = try Fields<Teller>(queryOf: request).read { ($0.int("limit", in: 1...100), $0.text("name")) }
        #expect(read.0 == 20)
        #expect(read.1 == "a b")
        #expect(problems(["limit": "20"]) { _ = $0.int("limit", in: 1...100) } == ["limit wrongValue"])
    }

    @Test(
        "says why a content cannot be read",
        arguments: [
            ("", "the body is empty, not a JSON object"),
            ("[]", "the body is a JSON array, not an object"),
            (
                "{",
                "the body is not JSON: line 1, column 2: the text ends inside a value; expected a JSON object"
            ),
        ])
    func contents(text: String, reason: String) {
        let request = Request(method: .post, target: "/", body: Array(text.utf8))
        do throws(FieldProblem) {
            let value = try request.json()
            let problem = FieldProblem(path: "", kind: .otherContent, expected: "an object", found: value)
            #expect(problem.reason() == reason)
        } catch {
            #expect(error.reason() == reason)
        }
    }
}
