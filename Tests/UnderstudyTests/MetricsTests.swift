import Emulation
import Expectations
import JSON
import Support
import Testing

@testable import Understudy

@Suite("Control: metrics") struct MetricsTests {
    /// A server of its own, so that no other test affects the counts.
    private func stage() throws -> Stage { try Stage(Emulator(fixtures: Repository.fixtures)) }

    private func samples(_ world: World) async throws -> [String: String] {
        let answer = try await world.control(.get, "metrics")
        answer.expect(200)
        let lines = answer.text.split(separator: "\n").filter { !$0.hasPrefix("#") }
        let pairs = lines.compactMap { line in
            line.lastIndex(of: " ").map { (String(line[..<$0]), String(line[line.index(after: $0)...])) }
        }
        expect(Set(pairs.map(\.0)).count, is: pairs.count, "a sample occurs twice")
        return Dictionary(pairs, uniquingKeysWith: { first, _ in first })
    }

    @Test("outlive a reset, and sum up all sandboxes") func process() async throws {
        let stage = try stage()
        let (one, other) = (try await World(on: stage, at: nil), try await World(on: stage, at: nil))
        _ = try await one.call(.get, "/nowhere")
        _ = try await other.call(.get, "/nowhere")
        try await one.control(.post, "reset")
        let found = try await samples(other)
        expect(found[#"understudy_requests_total{vendor="",route="",status="404",reason=""}"#], is: "2")
        expect(found["understudy_sandboxes"], is: "3")
        expect(found["understudy_journal_entries"], is: "1")
        expect(found["understudy_journal_bytes"], is: "\(other.sandbox.journal.bytes)")
    }

    @Test("count control calls, refused ones and waits included") func controlCalls() async throws {
        let world = try await World(on: stage(), at: nil)
        try await world.control(.get, "clock")
        try await world.control(.put, "clock", "{")
        try await world.control(.get, "journal?wait=1ms")
        try await world.control(.get, "clok")
        try await world.control(.patch, "clock")
        let found = try await samples(world).filter { $0.key.hasPrefix("understudy_control_calls_total") }
        expect(
            found,
            is: [
                #"understudy_control_calls_total{call="clock.get",status="200"}"#: "1",
                #"understudy_control_calls_total{call="clock.set",status="400"}"#: "1",
                #"understudy_control_calls_total{call="journal.list",status="200"}"#: "1",
                #"understudy_control_calls_total{call="",status="404"}"#: "1",
                #"understudy_control_calls_total{call="",status="405"}"#: "1",
            ])
    }

    @Test("show release, fixtures, start and memory") func build() async throws {
        let world = try await World(on: stage(), at: nil)
        let found = try await samples(world)
        let fixtures = world.emulator.inForce.loaded.fingerprint
        expect(found[#"understudy_build_info{version="\#(Emulator.version)",fixtures="\#(fixtures)"}"#], is: "1")
        let start = try #require(found["process_start_time_seconds"].flatMap(Double.init))
        let now = SandboxClock.machine.unixSeconds
        #expect(start <= now + 0.1 && start > now - 3600)
        #if os(Linux)
            let resident = try #require(found["process_resident_memory_bytes"].flatMap(Int.init))
            #expect(resident > 1 << 20)
        #endif
    }

    @Test("escape what labels may hold") func escaping() {
        var text = MetricsText()
        text.gauge("a", "one \\ two\nthree \"four\"", 1, ["b": "x\"y\\z\nw"])
        expect(text.text, is: "# HELP a one \\\\ two\\nthree \"four\"\n# TYPE a gauge\na{b=\"x\\\"y\\\\z\\nw\"} 1\n")
    }

    @Test(
        "a duration counts in the first span that holds it",
        arguments: [
            (0, "0.00005"), (50_000, "0.00005"), (50_001, "0.0001"), (10_000_000_000, "10"), (10_000_000_001, "+Inf"),
        ])
    func spans(_ nanoseconds: Int, _ bound: String) {
        var histogram = DurationHistogram()
        histogram.record(nanoseconds)
        expect(histogram.cumulative.first { $0.count == 1 }?.bound, is: bound)
        expect(histogram.cumulative.last?.count, is: 1)
        expect(histogram.count, is: 1)
    }
}

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
