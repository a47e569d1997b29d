import JSON
import Support
import Testing

/// Counts of requests (section 6.3, example 6.4).
@Suite("Okta's rate limits")
struct RateLimitTests {
    private static let token = Example.custom + "/token"

    /// The values of the three fields.
    private func rate(_ answer: ReceivedAnswer) -> [String?] {
        ["x-rate-limit-limit", "x-rate-limit-remaining", "x-rate-limit-reset"].map { answer[$0] }
    }

    private func ask(_ world: World, _ client: String, _ path: String = token) async throws -> ReceivedAnswer {
        try await world.call(
            .post, path, [AppClient.form],
            AppClient.form([
                ("client_id", client), ("grant_type", "refresh_token"), ("refresh_token", "x"), ("token", "x"),
            ])
        )
    }

    @Test("each client has a count of its own at each route, for a minute", arguments: Depth.allCases)
    func counts(_ depth: Depth) async throws {
        let world = try await World(depth)
        #expect(rate(try await ask(world, Example.spa)) == ["600", "599", "1800000060"])
        try await world.advance("59s")
        #expect(rate(try await ask(world, Example.spa)) == ["600", "598", "1800000060"])
        #expect(rate(try await ask(world, Example.spa, Example.org + "/token")) == ["600", "597", "1800000060"])
        #expect(rate(try await ask(world, Example.tv)) == ["600", "599", "1800000119"])
        let userinfo = Example.custom + "/userinfo"
        #expect(rate(try await world.call(.get, userinfo)) == ["600", "599", "1800000119"])
        try await world.advance("1s")
        #expect(rate(try await ask(world, Example.spa)) == ["600", "599", "1800000120"])
        try await world.freeze(at: 1_700_000_000)
        #expect(rate(try await ask(world, Example.spa)) == ["600", "599", "1700000060"], "a clock that was moved back")
    }

    @Test("unknown clients share a count")
    func unknown() async throws {
        let world = try await World()
        #expect(rate(try await ask(world, "a"))[1] == "599")
        #expect(rate(try await ask(world, "b"))[1] == "598")
    }

    @Test("discovery, keys and preflights have no limit", arguments: Depth.allCases)
    func exempt(_ depth: Depth) async throws {
        let world = try await World(depth)
        for path in [
            Example.custom + "/keys", "/.well-known/openid-configuration",
            "/oauth2/default/.well-known/openid-configuration", "/.well-known/oauth-authorization-server",
        ] {
            #expect(rate(try await world.call(.get, path)) == [nil, nil, nil], "\(path)")
        }
        let fields = [("Origin", "http://a.test"), ("Access-Control-Request-Method", "POST")]
        #expect(rate(try await world.call(.options, Self.token, fields)) == [nil, nil, nil])
    }

    @Test("6.4: the switch enforce refuses what is beyond the quota, whatever else is wrong", arguments: Depth.allCases)
    func enforced(_ depth: Depth) async throws {
        let world = try await World(depth)
        try await world.set("okta.rate-limit-quota", "2")
        for remaining in ["1", "0", "0"] {
            let answer = try await ask(world, Example.web)
            #expect(answer.status == 401, "the client says no secret")
            #expect(rate(answer) == ["2", remaining, "1800000060"])
        }
        try await world.set("okta.rate-limit", "enforce")
        let refused = try await ask(world, Example.web)
        let id = try #require(refused.json["errorId"]?.string)
        refused.expect(
            429,
            #"{"errorCode":"E0000047","errorSummary":"API call exceeded rate limit due to too many requests.","#
                + #""errorLink":"E0000047","errorId":"\#(id)","errorCauses":[]}"#, "rate-limited")
        #expect(rate(refused) == ["2", "0", "1800000060"])
        #expect(refused.outcome(of: "rate-limit") == .failed)
        #expect(try await ask(world, Example.spa).failure == "refresh-token-invalid")
        #expect(try await ask(world, Example.spa).failure == "refresh-token-invalid")
        #expect(try await ask(world, Example.spa).failure == "rate-limited")
        try await world.advance("60s")
        #expect(try await ask(world, Example.spa).failure == "refresh-token-invalid")
        try await world.set("okta.rate-limit", "off")
        for _ in 1...3 {
            let answer = try await ask(world, Example.spa)
            #expect(answer.failure == "refresh-token-invalid")
            #expect(rate(answer) == [nil, nil, nil])
        }
    }
}
