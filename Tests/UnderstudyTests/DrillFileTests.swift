import Emulation
import Expectations
import JSON
import Support
import Testing
import Understudy

@Suite("Files of drills") struct DrillFileTests {
    static let text = """
        drill: rezolve-sample
        about: The token of the session expires.
        vendor: rezolve
        client: Renews once.
        source: RFC 6750, section 3.1
        severity: high
        switches: { device-check: "enforce" }
        clock: -120s
        states:
          first:
            - on: rua.login
              advance: 2h
              go: done
          done: []
        expect:
          - sequence:
              - { failure: token-expired }
              - { route: rua.ping, within: 30s }
            none_after: { failure: token-expired }
            otherwise: It does not renew.
        """

    private func drills(_ text: String, named name: String = "sample") throws -> [Drill] {
        let own = try OwnFixtures()
        try own.write(text, to: "rezolve/drills/\(name).yaml")
        let emulator = try own.emulator(of: "rezolve")
        return try Drill.all(of: emulator.vendors[0], among: emulator.vendors, in: own.store)
            .filter { $0.name == "rezolve-sample" }
    }

    @Test("are read, and judge a journal once the behaviour was met") func judged() async throws {
        let drill = try #require(try drills(Self.text).first)
        expect(drill.severity, is: .high)
        let world = try await World(at: nil)
        drill.arm(world.sandbox)
        func verdict() -> Drill.Verdict {
            drill.verdict(on: world.sandbox.journal.entries(), masking: world.sandbox.redactor)
        }
        _ = try await world.call(.get, "/v2/credentials/ping")
        expect(verdict().outcome, is: .notReached)
        let token = try await Handout.all[0].ask(world)["authorization"] ?? ""
        expect(verdict().outcome, is: .broken)
        let book = "/api/v1/partner/317/customer/entity123/addressbook"
        let fields = [World.apiKey, ("authorization", token), ("x-rezolve-device-id", "dev-1")]
        try await world.call(.get, book, fields).expect(
            401,
            #"{"type":"Expired Token","code":"8","message":"Your token has expired, refresh your token and try again."}"#,
            "token-expired")
        let broken = verdict()
        expect(broken.faults.map(\.otherwise), is: ["It does not renew."])
        #expect(broken.faults[0].message.hasPrefix("no exchange after entry 3 is step 2 of 2 (route rua.ping"))
        expect(broken.entries, is: [2, 3])
        _ = try await world.call(.get, "/v2/credentials/ping", [("authorization", token)])
        expect(verdict().outcome, is: .held)
        _ = try await world.call(.get, book, fields)
        expect(verdict().outcome, is: .broken)
    }

    @Test(
        "a wrong member names file, line and column",
        arguments: [
            ("severity: high", "severity: hi", "6:11: “hi” is not one of high, medium, low"),
            ("on: rua.login", "on: rua.logn", "11:11: rezolve has no route rua.logn; did you mean “rua.login”?"),
            ("advance: 2h", "advence: 2h", "12:7: unknown member “advence”; did you mean “advance”?"),
            ("advance: 2h", "advance: soon", #"12:16: "soon" is not a duration such as 250ms, 90s, 31m or 2h"#),
            (
                "{ failure: token-expired }\n      - {", "{ failure: token-expird }\n      - {",
                "17:20: no failure is called token-expird; did you mean “token-expired”?"
            ),
            ("route: rua.ping", "route: rua.pong", "18:18: no route is called rua.pong; did you mean “rua.ping”?"),
            (
                "device-check: \"enforce\"", "device-check: \"perhaps\"",
                "7:27: switch rezolve.device-check cannot be “perhaps”; it can be enforce, off, if-present"
            ),
            (
                "rezolve-sample", "rezolve-simple",
                "1:8: the drill is called “rezolve-simple”; expected rezolve-sample, after its file"
            ),
            ("    otherwise: It does not renew.", "", "16:5: otherwise is missing; expected what such a client does"),
        ])
    func mistakes(_ right: String, _ wrong: String, _ problem: String) throws {
        let found = #expect(throws: FixtureProblem.self) { try drills(Self.text.replacing(right, with: wrong)) }
        let told = found?.description ?? ""
        expect(told.hasSuffix("rezolve/drills/sample.yaml:\(problem)"), is: true, told)
    }

    @Test("a start does not read them") func unread() throws {
        let own = try OwnFixtures()
        try own.write("nonsense: [", to: "rezolve/drills/sample.yaml")
        _ = try own.emulator(of: "rezolve")
    }
}
