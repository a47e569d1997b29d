import Foundation
import Testing
import UnderstudyClient

@Suite("Time, tokens, behaviour, state")
struct DirectionTests {
    @Test("A clock is frozen, moved and released")
    func clock() async throws {
        try await Suite.inSandbox { sandbox in
            let clock = sandbox.clock
            #expect(try await clock.read()["machine_time"] == true)
            #expect(try await abs(clock.now.timeIntervalSinceNow) < 60)
            let shown = try await clock.freeze(at: Suite.moment)
            #expect(shown["now"] == "2027-01-15T08:00:00.000Z" && shown["unix"] == 1_800_000_000)
            #expect(shown["frozen"] == true && shown["machine_time"] == false)
            #expect(try await clock.advance(by: .seconds(31 * 60))["unix"] == 1_800_001_860)
            #expect(try await clock.advance(by: .seconds(-31 * 60))["unix"] == 1_800_000_000)
            #expect(try await clock.now == Suite.moment)
            #expect(try await clock.set(to: Date(timeIntervalSince1970: 1_800_000_100))["unix"] == 1_800_000_100)
            #expect(try await clock.resume()["frozen"] == false)
            #expect(try await clock.freeze()["frozen"] == true)
            #expect(try await clock.useMachineTime()["machine_time"] == true)
        }
    }

    @Test("Tokens are minted, explained and refused")
    func tokens() async throws {
        try await Suite.inSandbox { sandbox in
            let token = try await sandbox.mint("rezolve/login", ["expires_in": 900])
            #expect(try await sandbox.call(token: token) == 200)
            let verdicts = try await sandbox.explain(token, vendor: "rezolve", request: ["device_id": "other"])
            #expect(verdicts.map { $0["accepted"] } == [false] && verdicts[0]["kind"] == "login")
            #expect(try await sandbox.explain(sandbox.mint("rezolve/login", ["defect": "expired"])).count > 1)
            try await sandbox.clock.advance(by: .seconds(16 * 60))
            #expect(try await sandbox.call(token: token) == 401)
            let entry = try #require(try await sandbox.journal.last())
            #expect(entry.failure == "token-expired" && entry.route == "addressbook.list" && entry.isRefused)
            #expect(entry.reason?.hasPrefix("expiry: ") == true)
            #expect(entry.failedChecks.map { $0["check"] } == ["expiry"])
            #expect(entry.failedChecks[0]["source"] != nil && entry.failedChecks[0]["found"] != nil)
        }
    }

    @Test("Switches, profiles and seeds are set and taken back")
    func settings() async throws {
        try await Suite.inSandbox { sandbox in
            try await sandbox.setSwitch("rezolve.device-check", to: "off")
            try await sandbox.setProfile("observed", of: "ims")
            try await sandbox.setSeed(7)
            let set = try await sandbox.control("GET", "settings")
            #expect(set["switches"]?["rezolve.device-check"] == "off" && set["seed"] == 7)
            #expect(set["profile"] == "documented" && set["vendor_profiles"] == ["ims": "observed"])
            try await sandbox.setSwitch("rezolve.device-check", to: nil)
            let without = try await sandbox.control("GET", "settings")
            #expect(without["switches"]?["rezolve.device-check"] == "enforce")
            try await sandbox.setProfile("observed")
            try await sandbox.setSeed(nil)
            let then = try await sandbox.control("GET", "settings")
            #expect(then["profile"] == "observed" && then["seed"] == .some(.null))
        }
    }

    @Test("Scenarios are activated and ended")
    func scenarios() async throws {
        try await Suite.inSandbox { sandbox in
            try await sandbox.activate("rezolve-busy-backend", "rezolve-customer-removed")
            let active = try await sandbox.control("GET", "scenarios")["active"]?.array?.map { $0["scenario"] }
            #expect(active == ["rezolve-busy-backend", "rezolve-customer-removed"])
            try await sandbox.activate()
            #expect(try await sandbox.control("GET", "scenarios")["active"] == [])
        }
    }

    @Test("Faults strike and are disarmed")
    func faults() async throws {
        try await Suite.inSandbox { sandbox in
            let token = try await sandbox.mint("rezolve/login")
            try await sandbox.arm(["route": "addressbook.list", "call": 2, "fail": "service-unavailable"])
            #expect(try await sandbox.call(token: token) == 200)
            #expect(try await sandbox.call(token: token) == 503)
            try await sandbox.arm(["route": "addressbook.list", "times": "always", "respond": ["status": 418]])
            #expect(try await sandbox.call(token: token) == 418)
            try await sandbox.arm()
            #expect(try await sandbox.call(token: token) == 200)
            // The server refuses a name that it does not know; none is dropped on the way.
            await #expect(throws: Refusal.self) { try await sandbox.arm(["rout": "addressbook.list"]) }
        }
    }

    @Test("What happens behind the app's back is in the state")
    func state() async throws {
        try await Suite.inSandbox { sandbox in
            let token = try await sandbox.mint("rezolve/login")
            let before = try await sandbox.state("rezolve")
            try await sandbox.act("rezolve/remove-customer", ["entity": "entity123"])
            #expect(try await sandbox.call(token: token) == 403)
            #expect(try await sandbox.state("rezolve") != before)
            #expect(try await sandbox.setState("rezolve", to: before) == before)
            #expect(try await sandbox.call(token: token) == 200)
            try await sandbox.act("rezolve/remove-customer", ["entity": "entity123"])
            try await sandbox.reset()
            #expect(try await sandbox.call(token: sandbox.mint("rezolve/login")) == 200)
        }
    }

    @Test("What a name holds stays in its place of the path")
    func escaping() async throws {
        try await Suite.inSandbox { sandbox in
            let state = try await error(Refusal.self) { try await sandbox.state("a/b c?d%é") }
            #expect(state.call == "GET state/a%2Fb%20c%3Fd%25%C3%A9" && state.status == 404)
            #expect(state.message.contains("a/b c?d%é"))
            let token = try await error(Refusal.self) { try await sandbox.mint("rezolve/lo?gin/") }
            #expect(token.call == "POST tokens/rezolve/lo%3Fgin%2F" && token.status == 404)
        }
    }

    @Test("What has no name here is a call of the control API")
    func control() async throws {
        try await Suite.inSandbox { sandbox in
            let drilled = try await sandbox.control("POST", "keys/ims/rotating/same-kid")
            #expect(drilled["issuer"] == "rotating" && drilled["keys"]?[0] != nil)
            #expect(try await sandbox.control("POST", "reset") == .null)
            #expect(try await sandbox.control("GET", "metrics").string?.contains("understudy") == true)
            _ = try await sandbox.call()
            #expect(try await sandbox.control("GET", "journal?format=hurl").string?.contains("GET ") == true)
            let verdict = try await sandbox.control("POST", "journal/verify?wait=1ms", ["exactly": 3])
            #expect(verdict["verified"] == false && verdict["count"] == 1)
            let shared = try await Suite.server.value.control("GET", "clock")
            #expect(shared["machine_time"] == true)
        }
    }
}
