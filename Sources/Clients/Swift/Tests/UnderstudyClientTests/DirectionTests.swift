import Foundation
import Testing
import UnderstudyClient

@Suite("Time, tokens, behaviour, state")
struct DirectionTests {
    @Test("A clock is frozen, moved and released")
    func clock() async throws {
        try await Suite.inSandbox { sandbox in
            let clock = sandbox.clock
            #expect(try await clock.read().machineTime)
            #expect(try await abs(clock.now.timeIntervalSinceNow) < 60)
            let shown = try await clock.freeze(at: Suite.moment)
            #expect(shown.unix == Double(Suite.moment) && shown.frozen && !shown.machineTime)
            #expect(shown.now == "2027-01-15T08:00:00.000Z")
            #expect(try await clock.advance(by: .seconds(31 * 60)).unix == Double(Suite.moment + 31 * 60))
            #expect(try await clock.advance(by: .seconds(-31 * 60)).unix == Double(Suite.moment))
            #expect(try await clock.set(to: Date(timeIntervalSince1970: 1_800_000_100)).unix == 1_800_000_100)
            #expect(try await clock.freeze(at: Date(timeIntervalSince1970: 1_800_000_200)).unix == 1_800_000_200)
            #expect(try await !clock.resume().frozen)
            #expect(try await clock.freeze().frozen)
            #expect(try await clock.useMachineTime().machineTime)
        }
    }

    @Test("Tokens are minted, explained and refused")
    func tokens() async throws {
        try await Suite.inSandbox { sandbox in
            let token = try await sandbox.mint("rezolve/login", ["expires_in": 900])
            #expect(try await sandbox.call(token: token) == 200)
            let verdicts = try await sandbox.explain(token, vendor: "rezolve", request: ["device_id": "other"])
            #expect(verdicts.map(\.accepted) == [false] && verdicts[0].kind == "login")
            #expect(try await sandbox.explain(sandbox.mint("rezolve/login", ["defect": "expired"])).count > 1)
            try await sandbox.clock.advance(by: .seconds(16 * 60))
            #expect(try await sandbox.call(token: token) == 401)
            let entry = try #require(try await sandbox.journal.last())
            #expect(entry.failure == "token-expired" && entry.route == "addressbook.list" && entry.isRefused)
            #expect(entry.reason?.hasPrefix("expiry: ") == true)
            #expect(entry.failedChecks.map(\.check) == ["expiry"])
            #expect(entry.failedChecks[0].source != nil && entry.failedChecks[0].found != nil)
        }
    }

    @Test("Switches, profiles and seeds are set and taken back")
    func settings() async throws {
        try await Suite.inSandbox { sandbox in
            try await sandbox.setSwitch("rezolve.device-check", to: "off")
            try await sandbox.setProfile(.observed, of: "ims")
            try await sandbox.setSeed(7)
            let set = try await sandbox.control.settingsGet()
            #expect(set.switches["rezolve.device-check"] == "off" && set.profile == .documented && set.seed == 7)
            #expect(set.vendorProfiles == ["ims": .observed])
            try await sandbox.setSwitch("rezolve.device-check", to: nil)
            #expect(try await sandbox.control.settingsGet().switches["rezolve.device-check"] == "enforce")
            try await sandbox.setProfile(.observed)
            try await sandbox.setSeed(nil)
            let then = try await sandbox.control.settingsGet()
            #expect(then.profile == .observed && then.seed == nil)
        }
    }

    @Test("Scenarios are activated and ended")
    func scenarios() async throws {
        try await Suite.inSandbox { sandbox in
            try await sandbox.activate("rezolve-busy-backend", "rezolve-customer-removed")
            let active = try await sandbox.control.scenariosList().active.map(\.scenario)
            #expect(active == ["rezolve-busy-backend", "rezolve-customer-removed"])
            try await sandbox.activate()
            #expect(try await sandbox.control.scenariosList().active.isEmpty)
        }
    }

    @Test("Faults strike and are disarmed, whether literals or types name them")
    func faults() async throws {
        try await Suite.inSandbox { sandbox in
            let token = try await sandbox.mint("rezolve/login")
            try await sandbox.arm(["route": "addressbook.list", "call": 2, "fail": "service-unavailable"])
            #expect(try await sandbox.call(token: token) == 200)
            #expect(try await sandbox.call(token: token) == 503)
            try await sandbox.arm([.init(route: "addressbook.list", times: "always", respond: .init(status: 418))])
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

    @Test("Keys rotate")
    func keys() async throws {
        try await Suite.inSandbox { sandbox in
            let before = try await sandbox.control.keysList().issuers.first { $0.issuer == "rotating" }
            let after = try await sandbox.drill("ims/rotating", .replace)
            #expect(after.keys.map(\.kid) != before?.keys.map(\.kid))
        }
    }
}
