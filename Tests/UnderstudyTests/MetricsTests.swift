import Emulation
import HTTPTypes
import JSON
import Support
import Testing

@testable import Understudy

/// The server's metrics, read as Prometheus reads them.
@Suite("Control: metrics")
struct MetricsTests {
    private static let key = [("x-rezolve-partner-apikey", "a1b2c3d4-e5f6-g7h8-i9j0-a1b2c3d4e5f6")]

    /// A world with its own emulator, so that no other test affects the counts.
    private func world(_ depth: Depth, token: String? = nil) async throws -> World {
        try await World(depth, on: Stage(Emulator(fixtures: Repository.fixtures, controlToken: token)), at: nil)
    }

    /// The samples as written, by name with labels.
    private func samples(_ world: World) async throws -> [String: String] {
        let answer = try await world.control(.get, "metrics")
        #expect(answer.status == 200)
        let lines = answer.text.split(separator: "\n").filter { !$0.hasPrefix("#") }
        let pairs = lines.compactMap { line in
            line.lastIndex(of: " ").map { (String(line[..<$0]), String(line[line.index(after: $0)...])) }
        }
        #expect(Set(pairs.map(\.0)).count == pairs.count, "a sample occurs twice")
        return Dictionary(pairs, uniquingKeysWith: { first, _ in first })
    }

    @Test("are Prometheus text, each family with help and type", arguments: Depth.allCases)
    func form(_ depth: Depth) async throws {
        let answer = try await world(depth).control(.get, "metrics")
        #expect(answer["content-type"] == "text/plain; version=0.0.4; charset=utf-8")
        #expect(answer.text.hasSuffix("\n"))
        let lines = answer.text.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
        let helped = lines.filter { $0.hasPrefix("# HELP ") }.map { $0.split(separator: " ")[2] }
        let typed = lines.filter { $0.hasPrefix("# TYPE ") }.map { $0.split(separator: " ")[2] }
        #expect(helped == typed)
        #expect(Set(typed).count == typed.count)
        for line in lines where !line.hasPrefix("#") {
            #expect(line.wholeMatch(of: /[a-z_]+(\{([a-z]+="[^"]*",?)+\})? [0-9.e+-]+/) != nil, "\(line)")
        }
    }

    @Test("count requests by vendor, route, status and reason", arguments: Depth.allCases)
    func requests(_ depth: Depth) async throws {
        let world = try await world(depth)
        for _ in 0..<3 { _ = try await world.call(.post, "/v2/credentials/register/guest", Self.key) }
        _ = try await world.call(.post, "/v2/credentials/register/guest")
        _ = try await world.call(.get, "/v2/credentials/pong", Self.key)
        _ = try await world.call(.get, "/nowhere")
        _ = try await world.bare(.get, "/~a/x", [("X-Understudy-Sandbox", "b")])
        let counted = try await samples(world).filter { $0.key.hasPrefix("understudy_requests_total") }
        #expect(
            counted == [
                #"understudy_requests_total{vendor="rezolve",route="rua.guest",status="200",reason=""}"#: "3",
                #"understudy_requests_total{vendor="rezolve",route="rua.guest",status="500",reason="rua-api-key-missing"}"#:
                    "1",
                #"understudy_requests_total{vendor="rezolve",route="",status="404",reason="route-not-found"}"#: "1",
                #"understudy_requests_total{vendor="",route="",status="404",reason=""}"#: "1",
                #"understudy_requests_total{vendor="",route="",status="400",reason=""}"#: "1",
            ])
    }

    @Test("outlive a reset, and sum up all sandboxes")
    func process() async throws {
        let stage = try Stage(Emulator(fixtures: Repository.fixtures))
        let (one, other) = (try await World(on: stage, at: nil), try await World(on: stage, at: nil))
        _ = try await one.call(.get, "/nowhere")
        _ = try await other.call(.get, "/nowhere")
        try await one.control(.post, "reset")
        let found = try await samples(other)
        #expect(found[#"understudy_requests_total{vendor="",route="",status="404",reason=""}"#] == "2")
        #expect(found["understudy_sandboxes"] == "3")
        #expect(found["understudy_journal_entries"] == "1")
        #expect(found["understudy_journal_bytes"] == "\(other.sandbox.journal.bytes)")
    }

    @Test("count how long requests took, in spans that add up", arguments: Depth.allCases)
    func durations(_ depth: Depth) async throws {
        let world = try await world(depth)
        for _ in 0..<20 { _ = try await world.call(.post, "/v2/credentials/register/guest", Self.key) }
        let answer = try await world.control(.get, "metrics")
        let lines = answer.text.split(separator: "\n").filter {
            $0.hasPrefix(#"understudy_request_duration_seconds_bucket{vendor="rezolve""#)
        }
        let counts = lines.compactMap { $0.split(separator: " ").last.flatMap { Int($0) } }
        let bounds = lines.compactMap { $0.firstMatch(of: /le="([^"]+)"/).map { Double($0.1) ?? .infinity } }
        #expect(bounds.first == 0.00005 && bounds.dropLast().last == 10 && bounds.last == .infinity)
        #expect(bounds == bounds.sorted() && counts == counts.sorted())
        #expect(counts.count == 18 && counts.last == 20)
        let found = try await samples(world)
        #expect(found[#"understudy_request_duration_seconds_count{vendor="rezolve"}"#] == "20")
        #expect(found[#"understudy_request_duration_seconds_count{vendor=""}"#] == "0")
        let sum = found[#"understudy_request_duration_seconds_sum{vendor="rezolve"}"#].flatMap(Double.init) ?? 0
        #expect(sum > 0 && sum < 60)
    }

    @Test("count control calls, refused ones and waits included", arguments: Depth.allCases)
    func controlCalls(_ depth: Depth) async throws {
        let world = try await world(depth)
        _ = try await world.control(.get, "clock")
        _ = try await world.control(.put, "clock", "{")
        _ = try await world.control(.get, "journal?wait=1ms")
        _ = try await world.control(.get, "clok")
        _ = try await world.control(.patch, "clock")
        let found = try await samples(world).filter { $0.key.hasPrefix("understudy_control_calls_total") }
        #expect(
            found == [
                #"understudy_control_calls_total{call="clock.get",status="200"}"#: "1",
                #"understudy_control_calls_total{call="clock.set",status="400"}"#: "1",
                #"understudy_control_calls_total{call="journal.list",status="200"}"#: "1",
                #"understudy_control_calls_total{call="",status="404"}"#: "1",
                #"understudy_control_calls_total{call="",status="405"}"#: "1",
            ])
    }

    @Test("show release, fixtures, start and memory")
    func build() async throws {
        let world = try await world(.pipeline)
        let found = try await samples(world)
        let fixtures = world.emulator.fixtureFingerprint
        #expect(found[#"understudy_build_info{version="\#(Emulator.version)",fixtures="\#(fixtures)"}"#] == "1")
        let start = try #require(found["process_start_time_seconds"].flatMap(Double.init))
        let now = SandboxClock.machine.unixSeconds
        #expect(start <= now + 0.1 && start > now - 3600)
        #if os(Linux)
            let resident = try #require(found["process_resident_memory_bytes"].flatMap(Int.init))
            #expect(resident > 1 << 20)
        #endif
    }

    @Test("show the connection that asks, and nothing of connections where there is no server")
    func connections() async throws {
        let found = try await samples(world(.socket))
        #expect(found["understudy_open_connections"] == "1")
        #expect(found["understudy_open_websockets"] == "0")
        let emulator = try Emulator(fixtures: Repository.fixtures)
        #expect(!emulator.metricsText(calls: []).contains("understudy_open_"))
    }

    @Test("ask for the control token like the other calls")
    func token() async throws {
        let world = try await world(.pipeline, token: "steer")
        try await world.control(.get, "metrics").expectProblem(401, "control-token-wrong", "bearer token")
        #expect(try await world.control(.get, "metrics", fields: [("authorization", "Bearer steer")]).status == 200)
    }

    @Test("miss no request under load from many threads, and are readable meanwhile", arguments: Depth.allCases)
    func load(_ depth: Depth) async throws {
        let stage = try Stage(Emulator(fixtures: Repository.fixtures))
        let world = try await World(depth, on: stage, at: nil)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<200 {
                group.addTask {
                    _ = try await world.call(.post, "/v2/credentials/register/guest", Self.key)
                    guard number.isMultiple(of: 20) else { return }
                    let found = try await self.samples(world)
                    let count = found[#"understudy_request_duration_seconds_count{vendor="rezolve"}"#]
                    #expect(count.flatMap { Int($0) } ?? 0 > 0)
                }
            }
            try await group.waitForAll()
        }
        let found = try await samples(world)
        let label = #"{vendor="rezolve",route="rua.guest",status="200",reason=""}"#
        #expect(found["understudy_requests_total" + label] == "200")
        #expect(found[#"understudy_request_duration_seconds_count{vendor="rezolve"}"#] == "200")
    }

    @Test("escape what labels may hold")
    func escaping() {
        var text = MetricsText()
        text.gauge("a", "one \\ two\nthree \"four\"", 1, ["b": "x\"y\\z\nw"])
        #expect(text.text == "# HELP a one \\\\ two\\nthree \"four\"\n# TYPE a gauge\na{b=\"x\\\"y\\\\z\\nw\"} 1\n")
    }

    @Test(
        "a duration counts in the first span that holds it",
        arguments: [
            (0, "0.00005"), (50_000, "0.00005"), (50_001, "0.0001"), (10_000_000_000, "10"), (10_000_000_001, "+Inf"),
        ])
    func spans(_ nanoseconds: Int, _ bound: String) {
        var histogram = DurationHistogram()
        histogram.record(nanoseconds)
        #expect(histogram.cumulative.first { $0.count == 1 }?.bound == bound)
        #expect(histogram.cumulative.last?.count == 1)
        #expect(histogram.count == 1)
    }
}
