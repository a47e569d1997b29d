import JSON
import Support
import Testing
import Understudy
import Wire

@Suite("Control: state")
struct StateControlTests {
    @Test("an unknown vendor is 404 and names the nearest", arguments: ["GET", "PUT"])
    func unknownVendor(_ method: String) async throws {
        let answer = try await World().control(try #require(.init(method)), "state/rezolv", "{}")
        answer.expectProblem(404, "no-such-vendor", "no vendor is called rezolv; did you mean “rezolve”?")
    }

    @Test("content that is no object is refused", arguments: Depth.allCases, ["", "[", "[]", #"{"a":1,"a":2}"#])
    func malformed(_ depth: Depth, _ body: String) async throws {
        let world = try await World(depth)
        let answer = try await world.control(.put, "state/rezolve", body)
        #expect(answer.status == 400)
        #expect(["body-malformed", "invalid"].contains(answer.json["error"]?["code"]?.string))
    }

    @Test("a state may be longer than other content, and has a limit of its own", arguments: Depth.allCases)
    func limit(_ depth: Depth) async throws {
        let world = try await World(depth)
        let exported = try await world.control(.get, "state/rezolve").text
        let padded = exported + String(repeating: " ", count: 2 << 20)
        #expect(try await world.control(.put, "state/rezolve", padded).text == exported)
        let small = try await World(
            depth, on: Stage(Emulator(fixtures: Repository.fixtures, stateLimit: 2 << 20)))
        #expect(try await small.control(.put, "state/rezolve", exported).text == exported)
        let answer = try await small.control(.put, "state/rezolve", padded)
        answer.expectProblem(413, "body-too-large", "longer than the limit")
    }

    @Test("whoever lacks the control token may send no more than to other calls")
    func limitWithoutToken() async throws {
        let stage = try Stage(Emulator(fixtures: Repository.fixtures, controlToken: "steer"))
        let state = #"{"partners":[]"# + String(repeating: " ", count: 2 << 20) + "}"
        let world = try await World(on: stage, at: nil)
        let fields = [("authorization", "Bearer steer")]
        #expect(try await world.control(.put, "state/rezolve", state, fields: fields).status != 413)
        let answer = try await world.control(.put, "state/rezolve", state)
        answer.expectProblem(401, "control-token-wrong", "requires its bearer token")
        #expect(Pipeline(stage.emulator).bodyLimit(for: Self.put(fields)) == Emulator.standardStateLimit)
        #expect(Pipeline(stage.emulator).bodyLimit(for: Self.put([])) == Pipeline.standardBodyLimit)
    }

    private static func put(_ fields: World.Fields) -> Request {
        Request(
            method: .put, target: "/_understudy/state/rezolve", authority: "127.0.0.1",
            fields: FieldLines(fields + [("content-length", String(2 << 20))]))
    }
}
