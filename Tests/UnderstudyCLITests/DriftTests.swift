import Emulation
import JSON
import Testing
import Understudy
import Wire

@testable import UnderstudyCLI

/// A real server's answer, which is not quite as its description says.
private func answer(to request: Request, isChanged: Bool) -> Response {
    switch request.path {
    case "/ims/v1/me" where isChanged:
        .json(["id": 7, "trips": [["km": 1, "s3cret|": "pa55word"]], "tags": ["pa55word": "pa55word", "b": 2]])
    case "/ims/v1/me": .json(["id": "u", "name": nil, "trips": [["km": 1.0]], "tags": [:]])
    case "/ims/v1/trips" where isChanged: .text("pa55word", status: .accepted)
    case "/ims/v1/trips": .json([])
    default: .text("nothing", status: .notFound)
    }
}

@Suite("understudy contract run --report") struct DriftTests {
    private let folder = TemporaryFolder()

    /// Says of IMS only what matters here, whatever the installed fixtures say.
    private func describe() throws {
        let told = try JSON.parse(try Program.run("routes", "--json", "--vendor", "ims").output.utf8)
        var answers: [String: String] = [:]
        for row in told.array ?? [] { answers[row["route"]?.string ?? ""] = "true" }
        answers["me.get"] = """
            { type: object, required: [id, name, trips], properties: { id: { type: string }, name: { type: [string, "null"] },
              trips: { $ref: trips }, tags: { type: object, additionalProperties: { type: string } } } }
            """
        answers["trips.list"] = "{ $ref: trips }"
        let routes = answers.map { "  \($0): { 200: { evidence: ours, source: tests, schema: \($1) } }\n" }.joined()
        let trips =
            "  trips: { evidence: ours, source: tests, schema: { type: array, items: { type: object, properties: { km: { type: integer } } } } }\n"
        try folder.write("schemas:\n" + trips + "answers:\n" + routes, to: "own/ims/answers/own.yaml")
        let installed = try #require(FixtureStore.installedFolder)
        for name in FileSystem.names(in: installed + "/ims/answers") {
            try folder.write("{}\n", to: "own/ims/answers/\(name)")
        }
    }

    private func run(isChanged: Bool) throws -> Program.Run {
        try describe()
        try folder.write(
            "GET {{base}}/ims/v1/me\nGET {{base}}/ims/v1/me?x=pa55word\nGET {{base}}/ims/v1/trips\nGET {{base}}/nowhere\n",
            to: "a.hurl")
        let server = try LocalServer { answer(to: $0, isChanged: isChanged) }
        return try Program.run(
            "contract", "run", "a.hurl", "--against", server.base, "--report", "drift.md", "--junit", "report.xml",
            "--fixtures", "own", in: folder)
    }

    @Test("says by route what is new, gone, of another type or not described, without a value, and the exit code is 1")
    func drift() throws {
        let run = try run(isChanged: true).exits(1)
        #expect(
            run.output.hasSuffix(
                "1 files: 4 of 4 cases passed\ndrift at 2 routes: 3 exchanges of 2 routes; 1 of no described route\n"))
        let report = try folder.read("drift.md")
        #expect(
            report.split(separator: "\n", omittingEmptySubsequences: false).dropFirst(3).joined(separator: "\n")
                == ##"""

                ## ims me.get

                Exchanges: 2

                | status | place | described | seen | exchanges |
                |---|---|---|---|---|
                | 200 | /name | null or string | nothing | 2 |
                | 200 | /id | string | number | 2 |
                | 200 | /trips/\*/s3cret\| | nothing | string | 2 |
                | 200 | /tags/\* | string | number | 2 |

                ## ims trips.list

                Exchanges: 1

                | status | place | described | seen | exchanges |
                |---|---|---|---|---|
                | 202 | status | 200 | 202 | 1 |

                """##)
        let tests = try folder.read("report.xml")
        #expect(tests.contains(#"<testsuite name="drift.md" tests="2" failures="2""#))
        #expect(tests.contains(#"<failure message="200 /name: found nothing; expected null or string">"#))
        #expect(!(report + tests.replacing("x=pa55word", with: "")).contains("pa55word"))
    }

    @Test("says so when there is none") func none() throws {
        let run = try run(isChanged: false).exits(0)
        #expect(run.output.hasSuffix("no drift: 3 exchanges of 2 routes; 1 of no described route\n"))
        #expect(try folder.read("drift.md").contains("## ims trips.list\n\nExchanges: 1, as described\n"))
        #expect(try folder.read("report.xml").contains(#"<testsuite name="drift.md" tests="2" failures="0""#))
    }

    @Test("compares types, members and elements, and nothing else") func structure() throws {
        let structure = Structure(schemas: [
            "one": ["const": 1],
            "list": ["type": "array", "items": ["anyOf": [["$ref": "#/components/schemas/one"], ["type": "string"]]]],
        ])
        func differences(_ value: JSON, _ schema: JSON) -> [String] {
            structure.differences(value, schema, at: "").map { "\($0.pointer) \($0.described) \($0.seen)" }
        }
        let list: JSON = ["$ref": "#/components/schemas/list"]
        #expect(differences([1, "a", 2], list) == [])
        #expect(
            differences([true, [], [1]], list) == [
                "/* number or string boolean", "/* number or string empty array", "/* number or string array of number",
            ])
        #expect(differences(1.5, ["type": "integer"]) == [" integer number"])
        #expect(differences("b", ["enum": ["a", nil]]) == [])
        #expect(differences([:], ["enum": ["a", nil]]) == [" null or string object of 0 members"])
        let choice: JSON = [
            "anyOf": [
                [
                    "type": "object", "required": ["a"], "properties": ["a": ["type": "string"]],
                    "additionalProperties": false,
                ],
                [
                    "type": "object", "required": ["b", "c"], "properties": ["b": [:], "c": [:]],
                    "additionalProperties": false,
                ],
            ]
        ]
        #expect(differences(["b": 1, "c": 2, "d/~": 3], choice) == ["/d~1~0 nothing number"])
        #expect(differences(["a": "x"], choice) == [])
    }
}
