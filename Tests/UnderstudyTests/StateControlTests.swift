import JSON
import Support
import Testing

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
        let answer = try await world.control(.put, "state/rezolve", String(repeating: " ", count: 16 << 20 | 1))
        answer.expectProblem(413, "body-too-large", "longer than the limit")
    }
}
