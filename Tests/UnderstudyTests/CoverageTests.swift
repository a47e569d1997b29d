import Emulation
import Expectations
import JSON
import Support
import Testing

@Suite("Coverage") struct CoverageTests {
    private func coverage(_ world: World, of vendor: String = "rezolve") async throws -> JSON? {
        try await world.control(.get, "coverage?vendor=" + vendor).json["vendors"]?[0]
    }

    @Test("says which routes and failures the calls have met, until a reset") func counts() async throws {
        let world = try await World()
        for _ in 1...2 {
            _ = try await world.call(.post, "/v1/credentials/forget", [World.apiKey], #"{"email":"ben@example.test"}"#)
        }
        _ = try await world.call(.get, "/api/v1/partner/317/nothing", [World.apiKey])
        try await world.control(.delete, "journal")
        let met = try await coverage(world)
        expect(met?["vendor"], is: "rezolve")
        expect([met?["routes"]?["met"], met?["failures"]?["met"]], is: [1, 2])
        let failures = met?["failures"]?["never"]?.array ?? []
        #expect(failures.contains("token-expired") && !failures.contains("rua-user-not-found"))
        expect(JSON(failures.count + 2), is: met?["failures"]?["all"])
        #expect(met?["routes"]?["never"]?.array?.contains("rua.forgot") == false)
        let summary = met?["summary"]?.string ?? ""
        let (all, routes) = (met?["failures"]?["all"]?.text ?? "", met?["routes"]?["all"]?.text ?? "")
        #expect(summary.hasPrefix("2 of \(all) failures of Rezolve, 1 of \(routes) routes; never met: "), "\(summary)")
        try await world.control(.post, "reset")
        let none = try await coverage(world)
        expect([none?["routes"]?["met"], none?["failures"]?["met"]], is: [0, 0])
    }

    @Test("lists every vendor, and knows their names") func names() async throws {
        let world = try await World()
        let all = try await world.control(.get, "coverage").json["vendors"]?.array ?? []
        expect(all.count, is: world.emulator.vendors.count)
        try await world.control(.get, "coverage?vendor=rezolv")
            .expectProblem(400, "invalid", "no vendor is called rezolv; did you mean “rezolve”?")
    }

    @Test("counts the failures of single items") func parts() async throws {
        let world = try await World()
        let event = #"{"customer_ids":{"registered":"ana@example.test"},"event_type":"internal_audit"}"#
        let answer = try await world.call(
            .post, "/track/v2/projects/demo-project-1/batch", [("authorization", "Token pubkey-demo-limited")],
            #"{"commands":[{"name":"customers/events","data":\#(event)}]}"#)
        expect(answer.entry?.record.parts?.refused.map(\.failure), is: ["no-permission"], "\(answer.text)")
        let never = try await coverage(world, of: "bloomreach")?["failures"]?["never"]?.array
        expect(never?.contains("no-permission"), is: false)
    }
}
