import Expectations
import JSON
import Support
import Testing

@testable import Emulation

@Suite("What answers look like") struct AnswerCatalogTests {
    private static let parts = """
        schemas:
          thing: { evidence: ours, source: "tests", schema: { type: object, required: [id], properties: { id: { type: string } } } }
          name: { evidence: ours, source: "tests", schema: { type: [string, "null"] } }
        refusals:
          usual: [denied, missing]

        """
    private static let answers = """
        answers:
          things.list:
            200: { evidence: documented, source: "doc", schema: { type: array, items: { $ref: thing } } }
            refused: [usual, late, denied]
          things.page:
            200: { evidence: ours, source: "ours", content: text/html, schema: true }
            304: { evidence: ours, source: "ours" }
        frames:
          hello: { direction: sent, evidence: observed, source: "sdk", schema: { anyOf: [{ $ref: name }, { const: 1 }] } }

        """
    private static let requests = """
        requests:
          things.list:
            query: { limit: { type: integer, minimum: 1, maximum: 100 } }
            form: { type: object, properties: { a: true } }

        """

    private func catalog(_ files: [String: String]) throws -> AnswerCatalog {
        let folder = try TemporaryFolder(Dictionary(uniqueKeysWithValues: files.map { ("v/" + $0, $1) }))
        return try withExtendedLifetime(folder) {
            try AnswerCatalog(
                VendorFixtures(store: FixtureStore(layers: [folder.path]), folder: "v"),
                routes: ["things.list", "things.page"], failures: ["denied", "missing", "late"])
        }
    }

    private func problem(_ files: [String: String]) -> String? {
        let problem = #expect(throws: FixtureProblem.self) { try catalog(files) }
        return problem?.description.replacing(/[^ ]*understudy-[^\/]*\//, with: "")
    }

    @Test("is read from all files of the folder, closed, and with the failures that sets name") func whole() throws {
        let catalog = try catalog(
            ["answers/a.yaml": Self.answers, "answers/b.yaml": Self.parts, "requests.yaml": Self.requests])
        expect(catalog.parts.map(\.name), is: ["thing", "name"])
        let thing =
            #"{"type":"object","required":["id"],"properties":{"id":{"type":"string"}},"additionalProperties":false}"#
        expect(catalog.parts[0].shape.schema?.text, is: thing)
        let list = try #require(catalog.routes["things.list"])
        #expect(list.refused == ["denied", "missing", "late"])
        #expect(
            list.answers[0].shape.schema?.text == ##"{"type":"array","items":{"$ref":"#/components/schemas/thing"}}"##)
        #expect(list.answers[0].shape.evidence == .documented)
        let page = try #require(catalog.routes["things.page"]?.answers)
        #expect(page.map(\.status) == [200, 304])
        #expect(page.map(\.shape.type) == ["text/html", nil])
        #expect(catalog.frames.map(\.name) == ["hello"])
        #expect(catalog.requests["things.list"]?.query.map(\.name) == ["limit"])
        #expect(catalog.requests["things.list"]?.content?.type == "application/x-www-form-urlencoded")
    }

    @Test("a vendor without such files describes nothing") func none() throws {
        #expect(try catalog(["x": ""]).routes.isEmpty)
    }

    static let wrong: [(old: String, new: String, complaint: String)] = [
        ("things.list:", "things.lst:", "7:3: unknown route “things.lst”; did you mean “things.list”?"),
        ("200: {", "20: {", "8:5: “20” is not a number between 100 and 599, nor “refused”"),
        ("[usual, late", "[usul, late", "9:15: unknown failure or set of failures “usul”; did you mean “usual”?"),
        ("[denied, missing]", "[denid, missing]", "5:11: unknown failure “denid”; did you mean “denied”?"),
        ("usual: [denied", "late: [denied", "5:3: “late” is a failure; expected another name"),
        ("$ref: thing", "$ref: thng", "8:87: unknown shared part “thng”; did you mean “thing”?"),
        ("thing }", "thing, type: object }", "8:81: found other keywords beside $ref; expected at most a description"),
        ("items: {", "itms: {", "8:72: unknown member “itms”; did you mean “items”?"),
        ("type: array", "type: aray", "8:65: unknown type “aray”; did you mean “array”?"),
        ("required: [id]", "required: [ID]", "2:80: unknown property “ID”; did you mean “id”? Only capitals differ"),
        ("[{ $ref: name }, { const: 1 }]", "[]", "14:81: found an empty list; expected at least one element"),
        ("direction: sent", "direction: out", "14:23: “out” is not one of sent, received"),
        ("observed", "seen", "14:39: “seen” is not one of documented, observed, inferred, ours"),
    ]

    @Test("a mistake is refused with its place and what would be right", arguments: wrong)
    func mistake(_ old: String, _ new: String, _ complaint: String) {
        let text = (Self.parts + Self.answers).replacing(old, with: new, maxReplacements: 1)
        expect(problem(["answers/a.yaml": text]), is: "v/answers/a.yaml:" + complaint)
    }

    @Test("a name that two files define, and a route that none describes, are refused") func twice() {
        let both = problem(["answers/a.yaml": Self.parts + Self.answers, "answers/b.yaml": Self.parts])
        expect(both, is: "v/answers/b.yaml:2:3: “thing” stands already in v/answers/a.yaml, line 2")
        let text = Self.parts + Self.answers.replacing(#/ {2}things\.page:\n.*\n.*\n/#, with: "")
        expect(
            problem(["answers/a.yaml": text]),
            is: "v/answers/a.yaml:1:1: no file in this folder says what the route “things.page” answers")
    }

    static let wrongRequests: [(old: String, new: String, complaint: String)] = [
        ("things.list", "things.lst", "2:3: unknown route “things.lst”; did you mean “things.list”?"),
        ("form:", "body: true\n    form:", "5:5: a route reads a body or a form, not both"),
        ("form:", "fom:", "4:5: unknown member “fom”; did you mean “form”?"),
        ("integer", "{ }", "3:29: found a mapping; expected a string"),
        ("minimum: 1,", "minimum: x,", "3:47: found the string “x”; expected a number"),
    ]

    @Test("a mistake about requests as well", arguments: wrongRequests)
    func requestMistake(_ old: String, _ new: String, _ complaint: String) {
        let requests = Self.requests.replacing(old, with: new)
        let found = problem(["answers/a.yaml": Self.parts + Self.answers, "requests.yaml": requests])
        expect(found, is: "v/requests.yaml:" + complaint)
    }
}

@Suite("What failures look like") struct FailureShapeTests {
    private enum Failure: String, VendorFailure { case denied }

    private static let sheet = """
        envelopes: [{ when: { style: loud }, body: { errors: ["{{body}}"] } }]
        failures:
          denied:
            about: "no"
            status: 403
            parameters: { n: 7, t: "none", who: { name: "x" }, any: null }
            body: { code: 1, n: "{{n}}", text: "is {{t}}", name: "{{who.name}}", any: "{{any}}", none: [], "{{t}}": [true, "{{n}}"] }
            variants:
              - { when: { route: [things.list] }, status: 401, text: "no" }
              - { when: { route: [things.get] }, headers: { a: b } }
            evidence: ours
            source: "tests"
        """

    @Test("follows from the template: constants, texts, types of parameters, variants and envelopes") func shape()
        throws
    {
        let folder = try TemporaryFolder(["v/failures.yaml": Self.sheet])
        let catalog = try FailureCatalog<Failure>(
            VendorFixtures(store: FixtureStore(layers: [folder.path]), folder: "v"),
            scope: FixtureTests.scope)
        let forms = try catalog.shapes()[0].forms
        let body =
            #"{"type":"object","required":["code","n","text","name","any","none"],"properties":{"code":{"const":1},"n":{"type":"number"},"text":{"type":"string"},"name":{"type":"string"},"any":{},"none":{"const":[]}},"additionalProperties":{"type":"array","items":{"anyOf":[{"const":true},{"type":"number"}]},"minItems":2,"maxItems":2}}"#
        let envelope =
            #"{"type":"object","required":["errors"],"properties":{"errors":{"type":"array","items":\#(body),"minItems":1,"maxItems":1}},"additionalProperties":false}"#
        #expect(forms.map(\.status) == [403, 403, 401, 403])
        #expect(forms.map { $0.content?.schema.text } == [body, envelope, #"{"const":"no"}"#, nil])
        #expect(forms.map { $0.content?.type } == ["application/json", "application/json", "text/plain", nil])
    }
}
