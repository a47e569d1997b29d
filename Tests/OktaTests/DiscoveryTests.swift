import Expectations
import JSON
import Support
import Testing

@Suite("Okta's discovery and keys") struct DiscoveryTests {
    @Test(
        "an app that asks at another address than the document's is told so in the journal",
        arguments: [
            ("10.0.2.2:8080", true), ("127.0.0.1:8080", true), ("localhost:8080", false), ("LOCALHOST:8080", false),
        ])
    func otherAddress(_ host: String, _ isNoted: Bool) async throws {
        let world = try await World()
        let answer = try await world.call(.get, "/oauth2/default/.well-known/openid-configuration", [("host", host)])
        expect(answer.json["issuer"], is: "http://localhost:8080/oauth2/default")
        let finding = answer.findings.first { $0.check == "public-base" }
        expect(finding?.found, is: (isNoted ? .text("http://\(host)") : nil))
        expect(
            finding?.note?.hasSuffix("start the server with --public-base http://\(host)."), is: (isNoted ? true : nil))
    }

    @Test("so is one that asks for no document, once, with its first tokens") func otherAddressOfTokens() async throws {
        let world = try await World()
        func notes(_ host: String, _ fields: World.Fields = []) async throws -> [String] {
            let client = World.Fields.basic(Example.service, Example.serviceSecret)
            let answer = try await world.token(.service(), at: Example.custom, [("host", host)] + client + fields)
            answer.expect(200)
            return answer.findings.filter { $0.check == "public-base" }.map { String(describing: $0.found) }
        }
        #expect(try await notes("localhost:8080").isEmpty)
        #expect(try await notes("10.0.2.2:8080").isEmpty)
        try await world.control(.post, "reset")
        for proxy in [
            [("Forwarded", "for=10.0.0.1; Host=\"auth.example.test\";proto=https, for=x;host=y")],
            [("X-Forwarded-Proto", "https"), ("X-Forwarded-Host", "auth.example.test")],
        ] {
            expect(try await notes("127.0.0.1:9", proxy).first?.contains("https://auth.example.test"), is: true)
            #expect(try await notes("127.0.0.1:9", proxy).isEmpty)
            try await world.control(.post, "reset")
        }
    }

    @Test("the issuer has the form in which the client selects its sandbox") func forms() async throws {
        let world = try await World()
        let path = "/.well-known/openid-configuration"
        let byPath = try await world.bare(.get, "/~\(world.name)\(path)")
        expect(byPath.json["issuer"], is: .string("http://localhost:8080/~\(world.name)"))
        let byHost = try await world.bare(.get, path, [("host", "\(world.name).localhost:9")])
        expect(byHost.json["issuer"], is: .string("http://\(world.name).localhost:8080"))
        let byField = try await world.call(.get, path, [("host", "127.0.0.1:9")])
        expect(byField.json["issuer"], is: "http://localhost:8080")
    }
}

/// The fields that all answers have (section 6.3).
@Suite("Okta's common header fields") struct HeaderTests {
    @Test("each answer has a request id of its own, a refusal too") func ids() async throws {
        let world = try await World()
        var ids: Set<String> = []
        for path in ["/keys", "/authorize", "/nothing", "/userinfo"] {
            let id = try #require(try await world.call(.get, Example.custom + path)["x-okta-request-id"])
            #expect(id.wholeMatch(of: /[0-9a-f]{32}/) != nil, "\(id)")
            ids.insert(id)
        }
        expect(ids.count, is: 4)
    }

    @Test("nothing is cached but keys and discovery") func caching() async throws {
        let world = try await World()
        for path in [
            Example.custom + "/token", Example.org + "/device/authorize", Example.org + "/introspect", "/api/v1/users",
            "/oauth2/nope/v1/token", "/oauth2/v1/tokens", "/api/v1/sessions/me",
        ] {
            let answer = try await world.call(.post, path)
            expect(answer["cache-control"], is: "no-cache, no-store", "\(path)")
            #expect(answer["pragma"] == "no-cache" && answer["expires"] == "0", "\(path)")
        }
        for (path, lifetime) in [(Example.custom + "/keys", 3_832_304), ("/.well-known/openid-configuration", 86_400)] {
            let answer = try await world.call(.get, path)
            expect(answer["cache-control"], is: "max-age=\(lifetime), must-revalidate", "\(path)")
            #expect(answer["pragma"] == nil && answer["expires"] == nil, "\(path)")
        }
    }
}

/// Counts of requests (section 6.3, example 6.4).
@Suite("Okta's rate limits") struct RateLimitTests {
    private static let token = Example.custom + "/token"

    private func rate(_ answer: ReceivedAnswer) -> [String?] {
        ["x-rate-limit-limit", "x-rate-limit-remaining", "x-rate-limit-reset"].map { answer[$0] }
    }

    private func ask(_ world: World, _ client: String, _ path: String = token) async throws -> ReceivedAnswer {
        try await world.submit(
            [("client_id", client), ("grant_type", "refresh_token"), ("refresh_token", "x"), ("token", "x")], to: path)
    }

    @Test("each client has a count of its own at each route, for a minute") func counts() async throws {
        let world = try await World()
        expect(rate(try await ask(world, Example.spa)), is: ["600", "599", "1800000060"])
        try await world.advance("59s")
        expect(rate(try await ask(world, Example.spa)), is: ["600", "598", "1800000060"])
        expect(rate(try await ask(world, Example.spa, Example.org + "/token")), is: ["600", "597", "1800000060"])
        expect(rate(try await ask(world, Example.tv)), is: ["600", "599", "1800000119"])
        let userinfo = Example.custom + "/userinfo"
        expect(rate(try await world.call(.get, userinfo)), is: ["600", "599", "1800000119"])
        try await world.advance("1s")
        expect(rate(try await ask(world, Example.spa)), is: ["600", "599", "1800000120"])
        try await world.freeze(at: 1_700_000_000)
        expect(
            rate(try await ask(world, Example.spa)), is: ["600", "599", "1700000060"], "a clock that was moved back")
    }

    @Test("unknown clients share a count") func unknown() async throws {
        let world = try await World()
        expect(rate(try await ask(world, "a"))[1], is: "599")
        expect(rate(try await ask(world, "b"))[1], is: "598")
    }

    @Test("discovery, keys and preflights have no limit") func exempt() async throws {
        let world = try await World()
        for path in [
            Example.custom + "/keys", "/.well-known/openid-configuration",
            "/oauth2/default/.well-known/openid-configuration", "/.well-known/oauth-authorization-server",
        ] {
            expect(rate(try await world.call(.get, path)), is: [nil, nil, nil], "\(path)")
        }
        let fields = [("Origin", "http://a.test"), ("Access-Control-Request-Method", "POST")]
        expect(rate(try await world.call(.options, Self.token, fields)), is: [nil, nil, nil])
    }

    @Test("6.4: the switch enforce refuses what is beyond the quota, whatever else is wrong")
    func enforced() async throws {
        let world = try await World()
        try await world.set("okta.rate-limit-quota", "2")
        for remaining in ["1", "0", "0"] {
            let answer = try await ask(world, Example.web)
            expect(answer.status, is: 401, "the client says no secret")
            expect(rate(answer), is: ["2", remaining, "1800000060"])
        }
        try await world.set("okta.rate-limit", "enforce")
        let refused = try await ask(world, Example.web)
        expect(refused.failure, is: "rate-limited")
        expect(rate(refused), is: ["2", "0", "1800000060"])
        expect(try await ask(world, Example.spa).failure, is: "refresh-token-invalid")
        expect(try await ask(world, Example.spa).failure, is: "refresh-token-invalid")
        expect(try await ask(world, Example.spa).failure, is: "rate-limited")
        try await world.advance("60s")
        expect(try await ask(world, Example.spa).failure, is: "refresh-token-invalid")
        try await world.set("okta.rate-limit", "off")
        for _ in 1...2 { expect(try await ask(world, Example.spa).failure, is: "refresh-token-invalid") }
    }
}

@Suite("Okta's key drills") struct KeyDrillTests {
    @Test("a scenario can drill with the spare pairs, and no other") func action() async throws {
        let world = try await World()
        let order = #"{"issuer":"default","drill":"overlap"}"#
        for _ in 1...2 { try await world.control(.post, "state/okta/drill-keys", order).expect(200) }
        let third = try await world.control(.post, "state/okta/drill-keys", order)
        expect(third.status, is: 400)
        #expect(
            third.text.contains("default has no spare pair; the call keys/okta/default/overlap waits"), "\(third.text)")
        let unknown = try await world.control(.post, "state/okta/drill-keys", #"{"issuer":"defalt","drill":"retire"}"#)
        #expect(unknown.text.contains("no authorization server is called defalt; did you mean"), "\(unknown.text)")
    }
}
