import JSON
import Support
import Testing

@Suite("Control: faults")
struct FaultControlTests {
    private let path = "/v1/credentials/forget"
    private let body = #"{"email":"ada@example.test"}"#
    private let key = [("x-rezolve-partner-apikey", "a1b2c3d4-e5f6-g7h8-i9j0-a1b2c3d4e5f6")]

    @Test("a fault is listed, hits its call once and is spent", arguments: Depth.allCases)
    func life(_ depth: Depth) async throws {
        let world = try await World(depth)
        let armed = try await world.control(
            .put, "faults", #"{"route":"rua.forgot","call":2,"fail":"service-unavailable"}"#)
        #expect(
            armed.text
                == #"{"faults":[{"vendor":"rezolve","route":"rua.forgot","call":2,"fail":"service-unavailable"}]}"#)
        #expect(try await world.control(.get, "faults").text == armed.text)
        let statuses = try await statuses(world, 4)
        #expect(statuses == [200, 503, 200, 200])
        #expect(try await world.control(.get, "faults").text == #"{"faults":[]}"#)
    }

    private func statuses(_ world: World, _ count: Int) async throws -> [Int] {
        var statuses: [Int] = []
        for _ in 0..<count { statuses.append(try await world.call(.post, path, key, body).status) }
        return statuses
    }

    @Test("a list arms several, and arming replaces what was armed")
    func list() async throws {
        let world = try await World()
        let both =
            #"{"route":"rua.forgot","fail":"service-unavailable"},{"route":"rua.forgot","call":3,"fail":"body-too-large"}"#
        try await world.control(.put, "faults", #"{"faults":[\#(both)]}"#)
        #expect(try await statuses(world, 4) == [503, 200, 413, 200])
        try await world.control(.put, "faults", #"{"faults":[\#(both)]}"#)
        try await world.control(.put, "faults", #"{"route":"rua.forgot","call":2,"fail":"body-too-large"}"#)
        #expect(try await statuses(world, 3) == [200, 413, 200])
    }

    @Test("clearing disarms")
    func clear() async throws {
        let world = try await World()
        try await world.arm("service-unavailable", at: "rua.forgot")
        let cleared = try await world.control(.delete, "faults")
        #expect(cleared.status == 204)
        #expect(try await statuses(world, 1) == [200])
    }

    @Test("a fault changes nothing in the state")
    func stateless() async throws {
        let world = try await World()
        try await world.arm("service-unavailable", at: "rua.guest")
        #expect(try await world.call(.post, "/v2/credentials/register/guest", key).status == 503)
        #expect(try await world.call(.post, "/v2/credentials/register/guest", key).json["id"] == 1002)
    }

    @Test(
        "what makes no sense is refused and arms nothing",
        arguments: [
            (#"{"route":"rua.forgt","fail":"service-unavailable"}"#, "did you mean “rua.forgot”?"),
            (#"{"route":"rua.forgot","fail":"service-unavailble"}"#, "did you mean “service-unavailable”?"),
            (#"{"route":"rua.forgot"}"#, "fail must name a failure"),
            (#"{"fail":"token-expired"}"#, "route must name a route"),
            (#"{"route":1,"fail":"token-expired"}"#, "route must name a route"),
            (#"{"route":"rua.forgot","fail":"token-expired","call":0}"#, "whole number from 1"),
            (#"{"route":"rua.forgot","fail":"token-expired","call":"2"}"#, "whole number from 1"),
            (#"{"vendor":"rezolv","route":"rua.forgot","fail":"token-expired"}"#, "no vendor is called rezolv"),
            (#"{"vendor":7,"route":"rua.forgot","fail":"token-expired"}"#, "no vendor is called 7"),
            (#"{"route":"rua.forgot","fail":"token-expired","cal":2}"#, "did you mean “call”?"),
            (#"{"faults":[{"route":"rua.forgot","fail":"token-expired","cal":2}]}"#, "did you mean “call”?"),
            (#"{"faults":{}}"#, "faults must be a list"), (#"{"faults":[],"call":1}"#, "then the only member"),
            (#"{"faults":[1]}"#, "a fault is an object"), (#"{}"#, "route must name a route"),
        ])
    func refused(_ body: String, _ message: String) async throws {
        let world = try await World()
        try await world.control(.put, "faults", body).expectProblem(400, "invalid", message)
        #expect(try await world.control(.get, "faults").text == #"{"faults":[]}"#)
    }
}
