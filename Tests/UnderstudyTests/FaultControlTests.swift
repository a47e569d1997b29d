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
        let fault =
            #"{"vendor":"rezolve","route":"rua.forgot","call":2,"fail":"service-unavailable","calls":0,"strikes":0}"#
        #expect(armed.text == #"{"faults":[\#(fault)]}"#)
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

    @Test("a fault of a whole vendor strikes every route, as often as it says, and the journal names it")
    func wholeVendor() async throws {
        let world = try await World()
        try await world.control(.put, "faults", #"{"vendor":"rezolve","every":2,"fail":"service-unavailable"}"#)
        #expect(try await statuses(world, 4) == [200, 503, 200, 503])
        let ping = try await world.call(.get, "/v2/credentials/ping", key)
        #expect(ping.failure == "rua-token-missing")
        let sixth = try await world.call(.get, "/v2/credentials/ping", key)
        #expect(sixth.failure == "service-unavailable")
        #expect(sixth.entry?.record.intervention == "armed fault, call 6: fail service-unavailable")
        #expect(sixth.entry?.explanation == sixth.entry?.record.intervention)
        let listed = try await world.control(.get, "faults").json["faults"]?[0]
        #expect(listed?["calls"] == 6)
        #expect(listed?["strikes"] == 3)
    }

    @Test(
        "a response of the operator's takes the place of the vendor's, filled from the request",
        arguments: Depth.allCases)
    func respond(_ depth: Depth) async throws {
        let world = try await World(depth)
        let respond = #"{"status":429,"headers":{"retry-after":"7"},"body":{"to":"{{request.body.email}}"}}"#
        try await world.control(.put, "faults", #"{"route":"rua.forgot","respond":\#(respond)}"#)
        let answer = try await world.call(.post, path, key, body)
        #expect(answer.status == 429)
        #expect(answer["retry-after"] == "7")
        #expect(answer.text == #"{"to":"ada@example.test"}"#)
        #expect(answer.failure == nil)
        #expect(answer.entry?.record.intervention == "armed fault, call 1: respond 429")
    }

    @Test("secrets of the request that such a response repeats are hidden in the journal, and sent all the same")
    func echoes() async throws {
        let world = try await World()
        let token = try await world.mint("rezolve/login")
        let template =
            #"{"headers":{"x-echo":"{{request.headers.authorization}}"},"body":{"a":"<{{request.body.password}}>","b":"{{request.headers.authorization}}"}}"#
        try await world.control(.put, "faults", #"{"route":"rua.login","respond":\#(template)}"#)
        let answer = try await world.call(
            .post, "/v2/credentials/login", key + [("authorization", "Bearer " + token)],
            #"{"username":"ada@example.test","password":"not-a-secret-1","deviceId":"d"}"#)
        #expect(answer.json["a"] == "<not-a-secret-1>")
        #expect(answer["x-echo"] == "Bearer " + token)
        let entry = try await world.control(.get, "journal").text
        let signature = try #require(token.split(separator: ".").last)
        #expect(!entry.contains(signature))
        #expect(!entry.contains("not-a-secret-1"))
        #expect(entry.contains("<***>"))
    }

    @Test("what goes wrong on the wire reaches the client, and the journal says why")
    func wire() async throws {
        let world = try await World(.socket)
        try await world.control(.put, "faults", #"{"route":"rua.forgot","fault":"empty"}"#)
        await #expect(throws: (any Error).self) { try await world.call(.post, path, key, body) }
        let entry = world.sandbox.journal.entries().last
        #expect(entry?.response.status.code == 200)
        #expect(entry?.record.intervention == "armed fault, call 1: fault empty reply")
        #expect(entry?.response.transmission.fault == .empty)
        #expect(try await world.call(.post, path, key, body).status == 200)
    }

    @Test("a condition narrows a fault to calls that fit")
    func condition() async throws {
        let world = try await World()
        try await world.control(
            .put, "faults",
            #"{"route":"rua.forgot","when":{"body":{"email":{"contains":"ben"}}},"fail":"service-unavailable"}"#)
        #expect(try await statuses(world, 2) == [200, 200])
        #expect(try await world.call(.post, path, key, #"{"email":"ben@example.test"}"#).status == 503)
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
            (#"{"route":"rua.forgot"}"#, "this fault has no effect: give fail"),
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
