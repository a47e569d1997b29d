import HTTPTypes
import JSON
import Support
import Testing
import Understudy

@Suite("The control API")
struct ControlTests {
    @Test("says that it is well, with vendors and the fixtures' fingerprint", arguments: Depth.allCases)
    func health(_ depth: Depth) async throws {
        let world = try await World(depth)
        let answer = try await world.control(.get, "health")
        #expect(answer.status == 200)
        #expect(answer.json["status"] == "ok")
        #expect(answer.json["version"] == .string(Emulator.version))
        #expect(
            answer.json["vendors"]?.array?.compactMap { $0["id"]?.string } == world.emulator.vendors.map(\.identity.id))
        #expect(answer.json["fixtures"] == .string(world.emulator.fixtureFingerprint))
        #expect(answer["content-type"] == "application/json; charset=utf-8")
    }

    /// Each call with the methods it supports.
    private static let calls: [(path: String, methods: String)] = [
        ("health", "GET"), ("openapi.json", "GET"), ("metrics", "GET"), ("journal", "GET, DELETE"),
        ("journal/1", "GET"), ("journal/verify", "POST"), ("clock", "GET, PUT, DELETE"),
        ("settings", "GET, PUT"), ("tokens", "GET"), ("tokens/explain", "POST"), ("tokens/rezolve/login", "POST"),
        ("faults", "GET, PUT, DELETE"), ("sandboxes", "GET"), ("sandboxes/x", "PUT, DELETE"), ("reset", "POST"),
        ("state/rezolve", "GET, PUT"), ("keys", "GET"), ("keys/x/y/z", "POST"),
    ]

    @Test("a call with another method is 405 and names the right ones", arguments: Depth.allCases, calls)
    func otherMethod(_ depth: Depth, _ call: (path: String, methods: String)) async throws {
        let answer = try await World(depth).control(.patch, call.path)
        answer.expectProblem(405, "method-not-allowed", call.methods)
        #expect(answer["allow"] == call.methods)
    }

    @Test(
        "an unknown call is 404 and names the nearest one",
        arguments: [
            ("clok", "GET /_understudy/clock"), ("", "/_understudy/"), ("journal/1/x", "/_understudy/journal/{id}"),
            ("Clock", "GET /_understudy/clock"),
        ])
    func unknownCall(_ path: String, _ nearest: String) async throws {
        try await World().control(.get, path).expectProblem(404, "no-such-call", nearest)
    }

    @Test(
        "a path that only begins alike is not the control API's", arguments: ["/_understudyx", "/x/_understudy/health"])
    func otherPaths(_ path: String) async throws {
        try await World().call(.get, path).expectProblem(404, "no-vendor", "No vendor owns this path")
    }

    @Test(
        "content that is not an object, or none of the call's, is refused", arguments: ["clock", "settings", "faults"],
        [
            ("", "content is empty"), ("{", "not JSON"), ("[]", "a JSON array"), ("1", "a JSON number"),
            (#"{"x":1} "#, "no member x"),
        ])
    func malformed(_ path: String, _ example: (body: String, message: String)) async throws {
        let answer = try await World().control(.put, path, example.body)
        answer.expectProblem(400, example.message == "no member x" ? "invalid" : "body-malformed", example.message)
    }

    @Test("content over the limit is 413", arguments: Depth.allCases)
    func tooLarge(_ depth: Depth) async throws {
        try await World(depth).control(.put, "clock", String(repeating: " ", count: 1 << 20 | 1))
            .expectProblem(413, "body-too-large", "longer than the limit")
    }

    @Test("no control call appears in the journal")
    func unjournaled() async throws {
        let world = try await World()
        for call in Self.calls where call.path != "reset" {
            _ = try await world.control(.get, call.path)
            _ = try await world.control(.put, call.path, "{")
        }
        #expect(world.sandbox.journal.count == 0)
    }

    @Test("with a control token every call but health asks for it", arguments: Depth.allCases)
    func token(_ depth: Depth) async throws {
        let stage = try Stage(Emulator(fixtures: Repository.fixtures, controlToken: "steer"))
        let world = try await World(depth, on: stage, at: nil)
        #expect(try await world.control(.get, "health").status == 200)
        for value in [nil, "Bearer wrong", "steer", "Basic steer", "Bearer steer x"] as [String?] {
            let fields = value.map { [("authorization", $0)] } ?? []
            try await world.control(.get, "clock", fields: fields)
                .expectProblem(401, "control-token-wrong", "requires its bearer token")
        }
        let right = [("authorization", "bearer  steer")]
        #expect(try await world.control(.get, "clock", fields: right).status == 200)
        #expect(try await world.control(.post, "reset", fields: right).status == 204)
        #expect(try await world.call(.get, "/v1/user/x").status == 404, "vendors ask for no control token")
    }
}
