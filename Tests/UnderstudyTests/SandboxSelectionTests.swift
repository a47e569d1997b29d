import Support
import Testing
import Understudy

@Suite("Selecting a sandbox")
struct SandboxSelectionTests {
    /// The sandbox that a control call selects.
    private func selected(
        _ target: String, _ fields: World.Fields, _ depth: Depth = .pipeline
    ) async throws -> ReceivedAnswer {
        try await World(depth, at: nil).bare(.get, target, fields)
    }

    @Test(
        "path prefix, header and host name one, and without any it is the standard one", arguments: Depth.allCases,
        [
            ("/_understudy/journal", nil, "default"), ("/_understudy/journal", "select-a", "select-a"),
            ("/~select-b/_understudy/journal", nil, "select-b"),
            ("/~select-c/_understudy/journal", "select-c", "select-c"),
            ("/~0/_understudy/journal?count=0", nil, "0"),
        ] as [(String, String?, String)])
    func names(_ depth: Depth, _ example: (target: String, header: String?, name: String)) async throws {
        let fields = example.header.map { [("x-understudy-sandbox", $0)] } ?? []
        let answer = try await selected(example.target, fields, depth)
        #expect(answer.status == 200)
        #expect(answer.json["sandbox"]?.string == example.name)
    }

    @Test(
        "a host below localhost names one; a port and capitals do not matter",
        arguments: [
            ("select-h.localhost", "select-h"), ("select-h.localhost:8080", "select-h"),
            ("Select-H.LOCALHOST", "select-h"),
            ("localhost:8080", "default"), ("127.0.0.1:8080", "default"), ("[::1]:8080", "default"),
        ])
    func host(_ host: String, _ name: String) async throws {
        let answer = try await selected("/_understudy/journal", [("host", host)])
        #expect(answer.json["sandbox"]?.string == name)
    }

    @Test(
        "any other host that is allowed names none",
        arguments: ["select-h.example.test", "select-h.localhost.example.test"])
    func otherHost(_ host: String) async throws {
        let stage = try Stage(Emulator(fixtures: Repository.fixtures, hostNames: [host]))
        let answer = try await World(on: stage, at: nil).bare(.get, "/_understudy/journal", [("host", host)])
        #expect(answer.json["sandbox"] == "default")
    }

    @Test("two that agree are one")
    func agreement() async throws {
        let answer = try await selected(
            "/~select-d/_understudy/journal", [("x-understudy-sandbox", "select-d"), ("host", "select-d.localhost")])
        #expect(answer.json["sandbox"] == "select-d")
    }

    @Test(
        "two that disagree are refused",
        arguments: [
            ("/~a/x", "b", "localhost", "a and b"), ("/~a/x", nil, "b.localhost", "a and b"),
            ("/x", "a", "b.localhost", "a and b"), ("/~a/x", "a", "b.localhost", "a and b"),
        ] as [(String, String?, String, String)])
    func conflict(_ target: String, _ header: String?, _ host: String, _ names: String) async throws {
        let fields = [("host", host)] + (header.map { [("x-understudy-sandbox", $0)] } ?? [])
        try await selected(target, fields).expectProblem(400, "sandbox-conflict", names)
    }

    @Test(
        "a name that cannot be one is refused", arguments: Depth.allCases,
        [
            "", "A", "a_b", "a%20b", "ä".utf8.map { "%" + String($0, radix: 16) }.joined(),
            String(repeating: "x", count: 64),
        ])
    func invalid(_ depth: Depth, _ name: String) async throws {
        try await selected("/~\(name)/_understudy/journal", [], depth)
            .expectProblem(400, "sandbox-name-invalid", "1 to 63 of a-z, 0-9 and hyphen")
    }

    @Test("whoever looks for a refused name finds it in the journal of the standard sandbox", arguments: Depth.allCases)
    func refusalIsKept(_ depth: Depth) async throws {
        let stage = try Stage(Emulator(fixtures: Repository.fixtures))
        let world = try await World(depth, on: stage, at: nil)
        _ = try await world.bare(.get, "/~Shop/api/v1/x")
        let entries = stage.emulator.sandboxes.standard.journal.entries()
        #expect(entries.map(\.request.target) == ["/~Shop/api/v1/x"])
        #expect(entries.map(\.response.status.code) == [400])
        #expect(entries.first?.explanation == "“Shop” is not a sandbox name: 1 to 63 of a-z, 0-9 and hyphen.")
        #expect(stage.emulator.sandboxes.count == 1)
    }

    @Test("an invalid name in the header or the host is refused")
    func invalidElsewhere() async throws {
        for fields in [[("x-understudy-sandbox", "A")], [("x-understudy-sandbox", "")], [("host", "a.b.localhost")]] {
            try await selected("/x", fields).expectProblem(400, "sandbox-name-invalid", "is not a sandbox name")
        }
        try await selected("/x", [("x-understudy-sandbox", "a"), ("x-understudy-sandbox", "a")])
            .expectProblem(400, "sandbox-name-invalid", "a, a")
    }

    @Test(
        "the prefix is not a part of what vendor and journal see", arguments: Depth.allCases,
        [("/nowhere?q=1", "/nowhere?q=1"), ("", "/"), ("?q=1", "/?q=1"), ("//x", "//x"), ("/~other/x", "/~other/x")])
    func prefix(_ depth: Depth, _ example: (rest: String, seen: String)) async throws {
        let world = try await World(depth)
        let answer = try await world.bare(.get, "/~\(world.name)\(example.rest)")
        #expect(answer.status == 404)
        #expect(world.sandbox.journal.entries().map(\.request.target) == [example.seen])
    }
}
