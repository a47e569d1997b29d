import Expectations
import JSON
import Support
import Testing

/// Calls from pages in browsers (section 6.4, example 6.2).
@Suite("Okta's answers to browsers") struct CORSTests {
    private static let evil = "http://evil.example"
    private static let trusted = "http://localhost:3000"
    private static let token = Example.custom + "/token"

    private static func fields(_ origin: String) -> World.Fields { [("Origin", origin)] + .form }

    /// The fields of the protocol, by name in lower case.
    private func permission(_ answer: ReceivedAnswer) -> [String: String] {
        let names = answer.fields.map { ($0.name.lowercased(), $0.value) }
        return Dictionary(names.filter { $0.0.hasPrefix("access-control-") || $0.0 == "vary" }) { "\($0), \($1)" }
    }

    private static func readable(by origin: String) -> [String: String] {
        [
            "vary": "Origin", "access-control-allow-origin": origin,
            "access-control-expose-headers":
                "DPoP-Nonce, WWW-Authenticate, X-Okta-Request-Id, X-Rate-Limit-Limit, X-Rate-Limit-Remaining, "
                + "X-Rate-Limit-Reset",
        ]
    }

    // MARK: - Preflights

    private func preflight(
        _ world: World, _ path: String, _ origin: String, _ wanted: String? = nil
    ) async throws -> [String: String] {
        let fields = [("Origin", origin), ("Access-Control-Request-Method", "POST")]
        let answer = try await world.call(
            .options, path, fields + (wanted.map { [("Access-Control-Request-Headers", $0)] } ?? []))
        answer.expect(204, "")
        return permission(answer)
    }

    @Test("6.2: any page may ask for the token endpoint and par", arguments: ["token", "par"])
    func preflight(_ name: String) async throws {
        let world = try await World()
        for path in [Example.custom, Example.org] {
            expect(
                try await preflight(world, "\(path)/\(name)", Self.evil, "dpop, content-type"),
                is: [
                    "vary": "Origin", "access-control-allow-origin": Self.evil,
                    "access-control-allow-methods": "POST", "access-control-max-age": "3600",
                    "access-control-allow-headers": "dpop, content-type",
                ])
        }
    }

    @Test("other calls are allowed to trusted pages, and to those that send an access token")
    func trustedPreflight() async throws {
        let world = try await World()
        for (name, methods) in [
            ("introspect", "POST"), ("revoke", "POST"), ("userinfo", "GET, POST"), ("device/authorize", "POST"),
        ] {
            func ask(_ origin: String, _ wanted: String? = nil) async throws -> [String: String] {
                try await preflight(world, "\(Example.custom)/\(name)", origin, wanted)
            }
            expect(try await ask(Self.evil), is: ["vary": "Origin"])
            expect(try await ask(Self.evil, "dpop, Authorization")["access-control-allow-origin"], is: Self.evil)
            expect(
                try await ask(Self.trusted),
                is: [
                    "vary": "Origin", "access-control-allow-origin": Self.trusted,
                    "access-control-allow-methods": methods, "access-control-max-age": "3600",
                ])
        }
        try await world.set("okta.cors", "any")
        let any = try await preflight(world, Example.custom + "/revoke", Self.evil)
        expect(any["access-control-allow-origin"], is: Self.evil)
    }

    @Test("authn and users are for trusted pages, cookies included") func managementPreflight() async throws {
        let world = try await World()
        let ada = "/api/v1/users/" + Example.ada
        let routes = [
            ("/api/v1/authn", "POST"), ("/api/v1/users", "GET, POST"), (ada, "GET, POST, PUT, DELETE"),
            (ada + "/sessions", "DELETE"), (ada + "/groups", "GET"), ("/api/v1/authn/recovery/token", "POST"),
            (ada + "/lifecycle/suspend", "POST"),
        ]
        for (path, methods) in routes {
            var allowed = [
                "vary": "Origin", "access-control-allow-origin": Self.trusted, "access-control-max-age": "3600",
                "access-control-allow-methods": methods, "access-control-allow-credentials": "true",
            ]
            expect(try await preflight(world, path, Self.trusted), is: allowed)
            expect(try await preflight(world, path, Self.evil, "content-type"), is: ["vary": "Origin"])
            allowed["access-control-allow-headers"] = "authorization"
            allowed["access-control-allow-origin"] = Self.evil
            allowed["access-control-allow-credentials"] = nil
            // No access token takes anybody to authn.
            let withToken = try await preflight(world, path, Self.evil, "authorization")
            expect(withToken, is: (path.hasPrefix("/api/v1/authn") ? ["vary": "Origin"] : allowed))
        }
        try await world.set("okta.cors", "any")
        for (path, _) in routes {
            let any = try await preflight(world, path, Self.evil)
            expect(any["access-control-allow-origin"], is: Self.evil)
            expect(any["access-control-allow-credentials"], is: "true")
        }
    }

    @Test("OPTIONS is for preflights alone, at servers that exist") func otherOptions() async throws {
        let world = try await World()
        for fields in [[], [("Origin", Self.evil)], [("Access-Control-Request-Method", "POST")]] {
            let answer = try await world.call(.options, Self.token, fields)
            expect(answer.status, is: 405)
            expect(answer.failure, is: "method-not-allowed")
            expect(answer["allow"], is: "POST, OPTIONS")
        }
        let fields = [("Origin", Self.evil), ("Access-Control-Request-Method", "POST")]
        expect(try await world.call(.options, "/oauth2/nope/v1/token", fields).failure, is: "as-not-found")
        expect(try await world.call(.options, Example.custom + "/authorize", fields).status, is: 405)
    }

    // MARK: - Calls

    @Test("6.2: discovery and keys are for any page") func documents() async throws {
        let world = try await World()
        for path in [
            Example.custom + "/keys", Example.org + "/keys", "/.well-known/openid-configuration",
            "/oauth2/default/.well-known/openid-configuration",
            "/oauth2/default/.well-known/oauth-authorization-server",
            "/.well-known/oauth-authorization-server/oauth2/default",
        ] {
            let answer = try await world.call(.get, path, [("Origin", Self.evil)])
            answer.expect(200)
            expect(permission(answer), is: Self.readable(by: Self.evil), "\(path)")
            expect(try await world.call(.get, path)["vary"], is: nil)
        }
    }

    @Test("6.2: the token endpoint refuses pages that are not the client's") func tokenEndpoint() async throws {
        let world = try await World()
        let page: [(String, String?)] = [("client_id", Example.spa), ("redirect_uri", "http://localhost:3000/spa")]
        let body = Parameters.redeem("x").with(page).text
        func ask(_ origin: String) async throws -> ReceivedAnswer {
            try await world.call(.post, Self.token, Self.fields(origin), body)
        }
        let refused = try await ask(Self.evil)
        expect(refused.failure, is: "origin-not-redirect")
        expect(permission(refused), is: ["vary": "Origin"])
        let own = try await ask(Self.trusted)
        expect(own.failure, is: "code-invalid")
        expect(permission(own), is: Self.readable(by: Self.trusted))
        expect(try await ask("HTTP://LOCALHOST:3000").failure, is: "code-invalid")
        expect(try await ask("null").failure, is: "origin-not-redirect")
        try await world.set("okta.cors", "any")
        let any = try await ask(Self.evil)
        expect(any.failure, is: "code-invalid")
        expect(permission(any), is: Self.readable(by: Self.evil))
    }

    @Test("userinfo is readable by trusted pages, and by any that send an access token") func userinfo() async throws {
        let world = try await World()
        let path = Example.custom + "/userinfo"
        let bare = try await world.call(.get, path, [("Origin", Self.evil)])
        expect(permission(bare), is: ["vary": "Origin"])
        for scheme in ["Bearer", "DPoP"] {
            let sent = try await world.call(.get, path, [("Origin", Self.evil), ("authorization", "\(scheme) x")])
            expect(permission(sent), is: Self.readable(by: Self.evil))
        }
        let basic = try await world.call(.get, path, [("Origin", Self.evil), ("authorization", "Basic eDp5")])
        expect(permission(basic), is: ["vary": "Origin"])
        expect(
            permission(try await world.call(.get, path, [("Origin", Self.trusted)])),
            is: Self.readable(by: Self.trusted))
    }

    @Test("answers of authn, users and sessions are readable by trusted pages, cookies included")
    func management() async throws {
        let world = try await World()
        let cookies = Self.readable(by: Self.trusted).merging(["access-control-allow-credentials": "true"]) { $1 }
        func signIn(_ origin: String, _ password: String, _ more: World.Fields = []) async throws -> ReceivedAnswer {
            try await world.authenticate("ada@example.test", password, [("Origin", origin)] + more)
        }
        for (password, failure) in [("not-a-secret-1", nil), ("wrong", "authn-failed")] {
            let own = try await signIn(Self.trusted, password)
            expect(own.failure, is: failure)
            expect(permission(own), is: cookies)
            let foreign = try await signIn(Self.evil, password, .bearer("x"))
            expect(foreign.failure, is: failure)
            expect(permission(foreign), is: ["vary": "Origin"])
        }
        for path in ["/api/v1/users", "/api/v1/users/" + Example.ada, "/api/v1/sessions/me"] {
            func list(_ origin: String, _ fields: World.Fields) async throws -> [String: String] {
                permission(try await world.call(.get, path, [("Origin", origin)] + fields))
            }
            expect(try await list(Self.trusted, .apiToken), is: cookies)
            expect(try await list(Self.evil, .apiToken), is: ["vary": "Origin"])
            expect(try await list(Self.evil, .bearer("x")), is: Self.readable(by: Self.evil))
        }
        try await world.arm("internal-error", at: "authn")
        expect(permission(try await signIn(Self.trusted, "wrong")), is: cookies)
    }

    @Test("pages, authorize and factors have no CORS") func others() async throws {
        let world = try await World()
        let factors = "/api/v1/users/\(Example.ada)/factors"
        for path in [Example.custom + "/authorize", "/activate", factors] {
            let answer = try await world.call(.get, path, [("Origin", Self.trusted)])
            expect(answer["access-control-allow-origin"], is: nil, "\(path)")
        }
        let fields = [("Origin", Self.trusted), ("Access-Control-Request-Method", "GET")]
        expect(try await world.call(.options, factors, fields).failure, is: "method-not-allowed")
    }

    @Test("an armed failure is readable by the page that tests it") func armed() async throws {
        let world = try await World()
        try await world.arm("internal-error", at: "token.create")
        let answer = try await world.call(.post, Self.token, Self.fields(Self.evil), "x=y")
        expect(answer.status, is: 500)
        expect(permission(answer), is: Self.readable(by: Self.evil))
    }

    // MARK: - Trusted origins

    @Test("the action trusted-origin registers origins, changes and removes them") func action() async throws {
        let world = try await World()
        let body = Parameters.refresh("x", Example.tv).text
        func failure(_ origin: String) async throws -> String? {
            try await world.call(.post, Self.token, Self.fields(origin), body).failure
        }
        func act(_ members: JSONObject) async throws -> ReceivedAnswer {
            try await world.perform("trusted-origin", members)
        }
        let added = try await act(["origin": "HTTP://Evil.example:80"])
        added.expect(200)
        #expect(added.text.contains(#"{"origin":"http://evil.example","cors":true}"#), "\(added.text)")
        expect(try await failure(Self.evil), is: "refresh-token-invalid")
        try await act(["origin": "http://evil.example", "cors": false]).expect(200)
        expect(try await failure(Self.evil), is: "origin-not-trusted")
        try await act(["origin": "http://localhost:3000", "remove": true]).expect(200)
        expect(try await failure(Self.trusted), is: "origin-not-trusted")
        try await act(["origin": "capacitor://localhost"]).expect(200)
        expect(try await failure("capacitor://localhost"), is: "refresh-token-invalid")
        for wrong in [
            ["origin": "evil.example"], ["origin": "http://evil.example/path"], ["cors": true],
            ["origin": "http://evil.example", "cors": "yes"], ["origin": "http://nowhere.example", "remove": true],
        ] as [JSONObject] {
            expect(try await act(wrong).status, is: 400, "\(wrong)")
        }
        try await world.control(.post, "reset")
        expect(try await failure(Self.trusted), is: "refresh-token-invalid")
        expect(try await failure(Self.evil), is: "origin-not-trusted")
    }
}
