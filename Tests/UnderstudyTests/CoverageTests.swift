import Expectations
import JSON
import Support
import Testing

@Suite("Coverage") struct CoverageTests {

    @Test("says which routes and failures the calls have met, until a reset") func counts() async throws {
        let world = try await World()
        _ = try await world.call(.post, "/v1/credentials/forget", [World.apiKey], #"{"email":"ben@example.test"}"#)
        _ = try await world.call(.post, "/v1/credentials/forget", [World.apiKey], #"{"email":"ben@example.test"}"#)
        _ = try await world.call(.get, "/api/v1/partner/317/nothing", [World.apiKey])
        try await world.control(.delete, "journal")
        let met = try await world.control(.get, "coverage?vendor=rezolve").json["vendors"]?[0]
        expect(met?["vendor"], is: "rezolve")
        expect(met?["routes"]?["met"], is: 1)
        expect(met?["failures"]?["met"], is: 2)
        let failures = met?["failures"]?["never"]?.array ?? []
        #expect(failures.contains("token-expired") && !failures.contains("rua-user-not-found"))
        expect(JSON(failures.count + 2), is: met?["failures"]?["all"])
        #expect(met?["routes"]?["never"]?.array?.contains("rua.forgot") == false)
        let summary = met?["summary"]?.string ?? ""
        let (all, routes) = (met?["failures"]?["all"]?.text ?? "", met?["routes"]?["all"]?.text ?? "")
        #expect(summary.hasPrefix("2 of \(all) failures of Rezolve, 1 of \(routes) routes; never met: "), "\(summary)")
        try await world.control(.post, "reset")
        let none = try await world.control(.get, "coverage?vendor=rezolve").json["vendors"]?[0]
        expect(none?["routes"]?["met"], is: 0)
        expect(none?["failures"]?["met"], is: 0)
    }

    @Test("lists every vendor, and knows their names") func names() async throws {
        let world = try await World()
        let all = try await world.control(.get, "coverage").json["vendors"]?.array ?? []
        expect(all.count, is: world.emulator.vendors.count)
        let wrong = try await world.control(.get, "coverage?vendor=rezolv")
        expect(wrong.status, is: 400)
        expect(wrong.json["error"]?["message"], is: "no vendor is called rezolv; did you mean “rezolve”?")
    }

    @Test("counts the failures of single items") func parts() async throws {
        let world = try await World()
        let batch = #"{"commands":[{"name":"nonsense","data":{}}]}"#
        let answer = try await world.call(
            .post, "/track/v2/projects/demo-project-1/batch", [("authorization", "Token demo-token")], batch)
        guard let parts = answer.entry?.record.parts else { return }
        let never = try await world.control(.get, "coverage?vendor=bloomreach").json["vendors"]?[0]?["failures"]?[
            "never"]
        for part in parts.refused { #expect(never?.array?.contains(.string(part.failure)) == false) }
    }
}
