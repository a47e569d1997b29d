import Expectations
import HTTPTypes
import JSON
import Support
import Testing
import Understudy

@Suite("Control: clock") struct ClockControlTests {
    @Test("sets, freezes, moves and releases the clock", arguments: Depth.allCases)
    func life(_ depth: Depth) async throws {
        let world = try await World(depth, at: nil)
        let fresh = try await world.control(.get, "clock").json
        expect(["machine_time", "frozen"].map { fresh[$0] }, is: [true, false])
        try await world.control(.put, "clock", #"{"now":"2027-01-15T08:00:00Z","freeze":true}"#)
            .expect(200, #"{"now":"2027-01-15T08:00:00.000Z","unix":1800000000,"frozen":true,"machine_time":false}"#)
        let moved = try await world.control(.put, "clock", #"{"advance":"31m"}"#)
        expect(moved.json["unix"], is: 1_800_001_860)
        expect(try await world.control(.get, "clock").text, is: moved.text)
        let released = try await world.control(.put, "clock", #"{"freeze":false}"#)
        expect(released.json["frozen"], is: false)
        #expect(try #require(released.json["unix"]?.number?.double) >= 1_800_001_860)
    }

    @Test(
        "DELETE and a null give the machine's time back, also where a seed had stopped the clock",
        arguments: [(.delete, ""), (.put, #"{"now":null}"#)] as [(HTTPRequest.Method, String)],
        [
            ("clock", #"{"now":5}"#), ("clock", #"{"now":5,"freeze":true}"#), ("clock", #"{"advance":"-1h"}"#),
            ("settings", #"{"seed":7}"#),
        ])
    func release(_ call: (HTTPRequest.Method, String), _ before: (path: String, body: String)) async throws {
        let world = try await World(at: nil)
        try await world.control(.put, before.path, before.body).expect(200)
        let released = try await world.control(call.0, "clock", call.1)
        released.expect(200)
        expect(released.json["machine_time"], is: true, "\(released.text)")
        expect(try await world.control(.get, "clock").json["frozen"], is: false)
    }

    @Test("a null beside a freeze stops the clock at the machine's time, and beside a move counts from there")
    func releasedAndMore() async throws {
        let world = try await World()
        let frozen = try await world.control(.put, "clock", #"{"now":null,"freeze":true}"#)
        expect(frozen.json["frozen"], is: true)
        #expect(try #require(frozen.json["unix"]?.number?.double) != 1_800_000_000)
        let moved = try await world.control(.put, "clock", #"{"now":null,"advance":"1h"}"#)
        #expect(moved.json["machine_time"] == false && moved.json["frozen"] == false)
    }

    @Test("a clock that is set and frozen in one call shows exactly that moment", arguments: 0..<50)
    func exact(_ attempt: Int) async throws {
        let answer = try await World(at: nil).control(.put, "clock", #"{"now":1800000000,"freeze":true}"#)
        expect(answer.json["unix"], is: 1_800_000_000)
    }

    @Test(
        "now, advance and freeze work together",
        arguments: [
            (#"{"now":1800000000,"advance":"1h","freeze":true}"#, "1800003600"),
            (#"{"now":"1800000000.5","freeze":true}"#, "1800000000.5"),
            (#"{"now":1.8e9,"freeze":true}"#, "1800000000"), (#"{"now":0,"advance":"250ms","freeze":true}"#, "0.25"),
            (#"{"now":100,"advance":"-100s","freeze":true}"#, "0"),
        ])
    func together(_ body: String, _ unix: String) async throws {
        expect(try await World(at: nil).control(.put, "clock", body).json["unix"]?.text, is: unix)
    }

    @Test("a clock that runs into the end of the year 9999 stops there, and says so in the journal too")
    func end() async throws {
        let world = try await World(at: nil)
        let set = try await world.control(.put, "clock", #"{"now":"9999-12-31T23:59:59Z"}"#)
        for clock in [set, try await world.control(.get, "clock")] {
            expect(clock.json["now"], is: "9999-12-31T23:59:59.000Z")
            expect(clock.json["frozen"], is: false)
            expect(clock.json["note"]?.string?.hasPrefix("The clock stands at 9999-12-31T23:59:59Z"), is: true)
        }
        // Routes of two vendors, with times in their answers and tokens.
        for path in ["/v2/credentials/ping", "/ims/v1/me"] {
            let answer = try await world.call(.get, path)
            #expect(answer.status < 500)
            expect(answer.outcome(of: "clock"), is: .noted)
            expect(answer.entry?.moment.rfc3339, is: "9999-12-31T23:59:59.000Z")
        }
        try await world.control(.put, "clock", #"{"advance":"1ms"}"#).expectProblem(
            400, "invalid", "it can show the years 1970 to 9999; expected a duration from -253402300799s to 0s")
        let back = try await world.control(.put, "clock", #"{"advance":"-1h","freeze":true}"#)
        expect(back.json["now"], is: "9999-12-31T22:59:59.000Z")
        expect(back.json["note"], is: nil)
    }

    @Test(
        "what makes no sense is refused and changes nothing",
        arguments: [
            (#"{"now":"nan"}"#, "expected Unix seconds, an RFC 3339 time, or null"),
            (#"{"now":"yesterday"}"#, "RFC 3339"), (#"{"now":-1}"#, "RFC 3339"), (#"{"now":1e400}"#, "RFC 3339"),
            (#"{"now":"2027-02-30T00:00:00Z"}"#, "RFC 3339"), (#"{"advance":90}"#, "expected a duration"),
            (#"{"advance":"90"}"#, "“90s”, “31m” or “2h”"), (#"{"advance":"-100000d"}"#, "1970 to 9999"),
            (#"{"now":253402300799,"advance":"1s"}"#, "1970 to 9999"), (#"{"freeze":"yes"}"#, "expected true or false"),
            (#"{"frezze":true}"#, "did you mean “freeze”?"), (#"{"now":1,"now":2}"#, "occurs twice"),
        ])
    func refused(_ body: String, _ message: String) async throws {
        let world = try await World()
        try await world.control(.put, "clock", body).expectProblem(400, "invalid", message)
        expect(try await world.control(.get, "clock").json["unix"], is: 1_800_000_000)
    }
}

@Suite("Control: settings") struct SettingsControlTests {
    @Test("shows every switch with its value, and changes what is named") func settings() async throws {
        let world = try await World()
        let first = try await world.control(.get, "settings")
        expect(first.json["profile"], is: "documented")
        expect(first.json["seed"], is: .null)
        let names = first.json["switches"]?.object?.map(\.name) ?? []
        expect(
            names,
            is: world.emulator.vendors.flatMap { vendor in
                vendor.switchDeclarations.map { "\(vendor.identity.id).\($0.name)" }
            })
        let changed = try await world.control(
            .put, "settings", #"{"profile":"observed","switches":{"rezolve.leeway-seconds":5},"seed":9}"#)
        expect(changed.json["profile"], is: "observed")
        expect(changed.json["seed"], is: 9)
        expect(changed.json["switches"]?["rezolve.leeway-seconds"], is: "5")
        expect(changed.json["switches"]?["rezolve.device-check"], is: "off")
        expect(try await world.control(.get, "settings").text, is: changed.text)
        let restored = try await world.control(
            .put, "settings", #"{"profile":"documented","switches":{"rezolve.leeway-seconds":null},"seed":null}"#)
        expect(restored.text, is: first.text)
    }

    @Test("a profile can be that of one vendor") func vendorProfile() async throws {
        let world = try await World()
        let answer = try await world.control(.put, "settings", #"{"profile":{"rezolve":"observed"}}"#)
        expect(answer.json["profile"], is: "documented")
        expect(answer.json["vendor_profiles"], is: ["rezolve": "observed"])
        expect(answer.json["switches"]?["rezolve.device-check"], is: "off")
        let all = try await world.control(.put, "settings", #"{"profile":"documented"}"#)
        expect(all.json["vendor_profiles"], is: [:])
    }

    @Test(
        "what makes no sense is refused and changes nothing",
        arguments: [
            (#"{"profile":"real"}"#, "expected “documented” or “observed”"),
            (#"{"profile":1}"#, "expected “documented”"), (#"{"profile":{"rezolve":"x"}}"#, "expected “documented”"),
            (#"{"profile":{"rezolv":"observed"}}"#, "did you mean “rezolve”?"),
            (#"{"profile":{"rezolv":null}}"#, "did you mean “rezolve”?"),
            (#"{"switches":{"rezolve.device-chek":"off"}}"#, "did you mean “rezolve.device-check”?"),
            (#"{"switches":{"rezolve.device-chek":null}}"#, "did you mean “rezolve.device-check”?"),
            (#"{"switches":{"device-check":"off"}}"#, "no switch is called device-check"),
            (#"{"switches":{"rezolve.device-check":"on"}}"#, "it can be enforce, off, if-present"),
            (#"{"switches":{"rezolve.leeway-seconds":-1}}"#, "a whole number from 0"),
            (#"{"switches":{"rezolve.device-check":false}}"#, "expected a string"),
            (#"{"switches":[]}"#, "expected an object"), (#"{"seed":-1}"#, "whole number from 0"),
            (#"{"seed":1.5}"#, "whole number from 0"), (#"{"seed":"7"}"#, "whole number"),
            (#"{"sead":7}"#, "did you mean “seed”?"), (#"{"profile":"observed","seed":"x"}"#, "seed"),
        ])
    func refused(_ body: String, _ message: String) async throws {
        let world = try await World()
        let before = try await world.control(.get, "settings").text
        try await world.control(.put, "settings", body).expectProblem(400, "invalid", message)
        expect(try await world.control(.get, "settings").text, is: before)
    }
}

@Suite("Control: scenarios and actions") struct ScenarioControlTests {
    private let name = "rezolve-sign-in-fails-once"

    @Test("scenarios are listed, activated with where they stand, and ended") func life() async throws {
        let world = try await World()
        let before = try await world.control(.get, "scenarios").json
        expect(before["active"], is: [])
        let listed = before["available"]?.array?.first { $0["scenario"]?.string == name }
        expect(listed?["vendor"], is: "rezolve")
        expect(listed?["states"], is: ["broken", "working"])
        let set = try await world.control(.put, "scenarios", #"{"scenario":"\#(name)"}"#).json["active"]
        expect(set, is: [["scenario": .string(name), "vendor": "rezolve", "state": "broken", "calls": [0]]])
        try await world.control(.delete, "scenarios").expect(204)
        expect(try await world.control(.get, "scenarios").json["active"], is: [])
    }

    @Test("a list activates several in its order, each perhaps in another state than its first")
    func list() async throws {
        let world = try await World()
        let body = #"{"scenarios":["rezolve-customer-removed",{"scenario":"\#(name)","state":"working"}]}"#
        let active = try await world.control(.put, "scenarios", body).json["active"]?.array
        let shown = active?.map { [$0["scenario"]?.string, $0["state"]?.string] }
        expect(shown, is: [["rezolve-customer-removed", "present"], [name, "working"]])
    }

    @Test(
        "what makes no sense is refused and changes nothing",
        arguments: [
            (#"{"scenario":"rezolve-sign-in-fails-onc"}"#, "did you mean “rezolve-sign-in-fails-once”?"),
            (#"{"scenario":"rezolve-sign-in-fails-once","state":"brokn"}"#, "did you mean “broken”?"),
            (#"{"scenario":"rezolve-sign-in-fails-once","state":1}"#, "has no state 1"),
            (#"{"scenarios":"x"}"#, "scenarios must be a list"),
            (#"{"scenarios":[1]}"#, "scenario must name a scenario"),
            (#"{"scenarios":[],"state":"x"}"#, "and the only member"), (#"{}"#, "scenario must name a scenario"),
            (#"{"scenarios":["rezolve-customer-removed","rezolve-customer-removed"]}"#, "occurs twice"),
            (#"{"scenarios":[{"scenario":"rezolve-customer-removed","stat":1}]}"#, "did you mean “state”?"),
        ])
    func refused(_ body: String, _ message: String) async throws {
        let world = try await World()
        try await world.control(.put, "scenarios", #"{"scenario":"rezolve-busy-backend"}"#)
        try await world.control(.put, "scenarios", body).expectProblem(400, "invalid", message)
        expect(try await world.control(.get, "scenarios").json["active"]?[0]?["scenario"], is: "rezolve-busy-backend")
    }

    @Test("actions are listed with what they have to be told") func actions() async throws {
        let actions = try await World().control(.get, "actions").json["actions"]?.array ?? []
        let remove = actions.first { $0["action"] == "remove-customer" }
        expect(remove?["vendor"], is: "rezolve")
        expect(remove?["members"]?[0]?["name"], is: "entity")
        expect(remove?["members"]?[0]?["required"], is: true)
    }

    @Test(
        "an order that makes no sense is refused",
        arguments: [
            ("rezolv/log-out", "{}", 404, "no-such-vendor", "did you mean “rezolve”?"),
            ("rezolve/log-ot", "{}", 404, "no-such-action", "did you mean “log-out”?"),
            ("rezolve/log-out", #"{"entity":"entity456"}"#, 400, "invalid", "has no user at RUA"),
            ("rezolve/log-out", #"{"entity":"nobody"}"#, 400, "invalid", "no customer has the entity id nobody"),
            ("rezolve/log-out", #"{"entity":[]}"#, 400, "invalid", "entity is []; expected a string"),
            ("rezolve/log-out", #"{"entity":"e","devic":"d"}"#, 400, "invalid", "has no member devic"),
            ("rezolve/register-customer", #"{"partner_entity_id":"user-1001"}"#, 400, "invalid", "as entity123"),
            ("rezolve/register-customer", #"{"partner_entity_id":"u","partner":"31"}"#, 400, "invalid", "mean “3”?"),
            (
                "rezolve/register-customer", #"{"partner_entity_id":"u","entity":":NONE:"}"#, 400, "invalid",
                "cannot be an entity id"
            ),
            ("rezolve/log-out", "x", 400, "body-malformed", "not JSON"),
        ])
    func refusedActions(_ path: String, _ body: String, _ status: Int, _ code: String, _ message: String) async throws {
        try await World().control(.post, "state/" + path, body).expectProblem(status, code, message)
    }
}

@Suite("Control: state") struct StateControlTests {
    @Test("an unknown vendor is 404 and names the nearest", arguments: ["GET", "PUT"])
    func unknownVendor(_ method: String) async throws {
        try await World().control(try #require(.init(method)), "state/rezolv", "{}")
            .expectProblem(404, "no-such-vendor", "no vendor is called rezolv; did you mean “rezolve”?")
    }

    @Test("content that is no object is refused", arguments: ["", "[", "[]", #"{"a":1,"a":2}"#])
    func malformed(_ body: String) async throws {
        let world = try await World()
        let answer = try await world.control(.put, "state/rezolve", body)
        answer.expect(400)
        #expect(["body-malformed", "invalid"].contains(answer.json["error"]?["code"]?.string))
    }

    /// That it has a limit of its own is tested in `Tests/Interop`.
    @Test("a state may be longer than other content") func limit() async throws {
        let world = try await World()
        let exported = try await world.control(.get, "state/rezolve").text
        let padded = exported + String(repeating: " ", count: 2 << 20)
        expect(try await world.control(.put, "state/rezolve", padded).text, is: exported)
    }

    @Test("whoever lacks the control token may send no more than to other calls")
    func limitWithoutToken() async throws {
        let stage = try Stage(Emulator(fixtures: Repository.fixtures, controlToken: "steer"))
        let state = #"{"partners":[]"# + String(repeating: " ", count: 2 << 20) + "}"
        let world = try await World(on: stage, at: nil)
        let fields = [("authorization", "Bearer steer")]
        #expect(try await world.control(.put, "state/rezolve", state, fields: fields).status != 413)
        try await world.control(.put, "state/rezolve", state)
            .expectProblem(401, "control-token-wrong", "requires its bearer token")
    }
}
