import JSON
import Support
import Testing

@Suite("Control: scenarios and actions")
struct ScenarioControlTests {
    private let name = "rezolve-sign-in-fails-once"

    @Test("scenarios are listed, activated with where they stand, and ended", arguments: Depth.allCases)
    func life(_ depth: Depth) async throws {
        let world = try await World(depth)
        let before = try await world.control(.get, "scenarios").json
        #expect(before["active"] == [])
        let listed = before["available"]?.array?.first { $0["scenario"]?.string == name }
        #expect(listed?["vendor"] == "rezolve")
        #expect(listed?["states"] == ["broken", "working"])
        let set = try await world.control(.put, "scenarios", #"{"scenario":"\#(name)"}"#)
        #expect(
            set.json["active"]
                == [["scenario": .string(name), "vendor": "rezolve", "state": "broken", "calls": [0]]])
        #expect(try await world.control(.delete, "scenarios").status == 204)
        #expect(try await world.control(.get, "scenarios").json["active"] == [])
    }

    @Test("a list activates several in its order, each perhaps in another state than its first")
    func list() async throws {
        let world = try await World()
        let body = #"{"scenarios":["rezolve-customer-removed",{"scenario":"\#(name)","state":"working"}]}"#
        let active = try await world.control(.put, "scenarios", body).json["active"]?.array
        #expect(active?.map { $0["scenario"]?.string } == ["rezolve-customer-removed", name])
        #expect(active?.map { $0["state"]?.string } == ["present", "working"])
    }

    @Test("a reset ends what was activated by control call")
    func reset() async throws {
        let world = try await World()
        try await world.control(.put, "scenarios", #"{"scenario":"\#(name)"}"#)
        try await world.control(.post, "reset")
        #expect(try await world.control(.get, "scenarios").json["active"] == [])
    }

    @Test(
        "what makes no sense is refused and changes nothing",
        arguments: [
            (#"{"scenario":"rezolve-sign-in-fails-onc"}"#, "did you mean “rezolve-sign-in-fails-once”?"),
            (#"{"scenario":"rezolve-sign-in-fails-once","state":"brokn"}"#, "did you mean “broken”?"),
            (#"{"scenario":"rezolve-sign-in-fails-once","state":1}"#, "has no state 1"),
            (#"{"scenarios":"x"}"#, "scenarios must be a list"),
            (#"{"scenarios":[1]}"#, "scenario must name a scenario"),
            (#"{"scenarios":[],"state":"x"}"#, "then the only member"), (#"{}"#, "scenario must name a scenario"),
            (#"{"scenarios":["rezolve-customer-removed","rezolve-customer-removed"]}"#, "occurs twice"),
            (#"{"scenarios":[{"scenario":"rezolve-customer-removed","stat":1}]}"#, "did you mean “state”?"),
        ])
    func refused(_ body: String, _ message: String) async throws {
        let world = try await World()
        try await world.control(.put, "scenarios", #"{"scenario":"rezolve-busy-backend"}"#)
        try await world.control(.put, "scenarios", body).expectProblem(400, "invalid", message)
        let active = try await world.control(.get, "scenarios").json["active"]
        #expect(active?[0]?["scenario"] == "rezolve-busy-backend")
    }

    @Test("actions are listed with what they have to be told")
    func actions() async throws {
        let actions = try await World().control(.get, "actions").json["actions"]?.array ?? []
        let remove = actions.first { $0["action"] == "remove-customer" }
        #expect(remove?["vendor"] == "rezolve")
        #expect(remove?["members"]?[0]?["name"] == "entity")
        #expect(remove?["members"]?[0]?["required"] == true)
    }

    @Test(
        "an order that makes no sense is refused",
        arguments: [
            ("state/rezolv/log-out", "{}", 404, "no-such-vendor", "did you mean “rezolve”?"),
            ("state/rezolve/log-ot", "{}", 404, "no-such-action", "did you mean “log-out”?"),
            ("state/rezolve/log-out", "{}", 400, "invalid", "needs the member entity"),
            ("state/rezolve/log-out", #"{"entity":"entity456"}"#, 400, "invalid", "has no user at RUA"),
            ("state/rezolve/log-out", #"{"entity":"nobody"}"#, 400, "invalid", "no customer has the entity id nobody"),
            ("state/rezolve/log-out", #"{"entity":[]}"#, 400, "invalid", "entity is []; expected a string"),
            ("state/rezolve/log-out", #"{"entity":"e","devic":"d"}"#, 400, "invalid", "has no member devic"),
            ("state/rezolve/register-customer", #"{"partner_entity_id":"user-1001"}"#, 400, "invalid", "as entity123"),
            (
                "state/rezolve/register-customer", #"{"partner_entity_id":"u","partner":"31"}"#, 400, "invalid",
                "did you mean “3”?"
            ),
            (
                "state/rezolve/register-customer", #"{"partner_entity_id":"u","entity":":NONE:"}"#, 400, "invalid",
                "cannot be an entity id"
            ),
            ("state/rezolve/log-out", "x", 400, "body-malformed", "not JSON"),
        ])
    func refusedActions(_ path: String, _ body: String, _ status: Int, _ code: String, _ message: String) async throws {
        try await World().control(.post, path, body).expectProblem(status, code, message)
    }
}
