import JSON
import Support
import Testing

extension RouteCase {
    private static let uploadTrip: @Sendable (World) async throws -> [String: String] = {
        try await $0.call(.post, "/ims/v1/trips", .ada, Example.trip).expect(201)
        return [:]
    }

    static let all = operatorRoutes + ownRoutes + openRoutes

    private static let operatorRoutes: [RouteCase] = [
        RouteCase(
            "issuers.create", .post, "/ims/v1/issuers", fields: .operatorKey,
            body: Example.issuer("new", iss: "https://new.example.test", try Example.publicKey(2)), status: 201),
        RouteCase("issuers.list", .get, "/ims/v1/issuers", fields: .operatorKey),
        RouteCase("issuers.get", .get, "/ims/v1/issuers/uat", fields: .operatorKey),
        RouteCase(
            "issuers.replace", .put, "/ims/v1/issuers/uat", fields: .operatorKey,
            body: Example.issuer("uat", iss: Forged.Issuer.uat.rawValue, try Example.publicKey())),
        RouteCase("issuers.refresh", .post, "/ims/v1/issuers/rotating/refresh", fields: .operatorKey),
        RouteCase("issuers.refresh", .post, "/ims/v1/issuers/uat/refresh", fields: .operatorKey),
        RouteCase("issuers.delete", .delete, "/ims/v1/issuers/uat", fields: .operatorKey, status: 204),
        RouteCase(
            "users.enroll", .post, "/ims/v1/users", fields: .operatorKey,
            body:
                #"{"tenant":"demo","email":"dora@example.test","enterprise_id":"EMP-0005","activation_id":"dora.driver"}"#,
            status: 201),
        RouteCase(
            "users.import", .post, "/ims/v1/users/import?tenant=demo", fields: .operatorKey,
            body: "enterprise_id,email,activate\nEMP-0005,dora@example.test,true\n,emil@example.test,\n"
                + "EMP-0001,x@example.test,false\n"),
        RouteCase("users.list", .get, "/ims/v1/users?state=active&tenant=demo", fields: .operatorKey),
        RouteCase("users.get", .get, "/ims/v1/users/usr-1", fields: .operatorKey),
        RouteCase("users.activate", .post, "/ims/v1/users/usr-1/activate", fields: .operatorKey) {
            try await $0.call(.post, "/ims/v1/users/usr-1/deactivate", .operatorKey).expect(200)
            return [:]
        },
        RouteCase("users.deactivate", .post, "/ims/v1/users/usr-1/deactivate", fields: .operatorKey),
        RouteCase("users.new-code", .post, "/ims/v1/users/usr-2/activation-code", fields: .operatorKey),
    ]

    private static let ownRoutes: [RouteCase] = [
        RouteCase(
            "activation.submit", .post, "/ims/v1/activation",
            fields: try .bearer(Forged(.uat, [("sub", "EMP-0002")]).text()), body: Example.activation),
        RouteCase("me.get", .get, Example.me, fields: try .ada),
        RouteCase("me.update", .patch, Example.me, fields: try .ada, body: #"{"phone":"+15550100","state":7}"#),
        RouteCase("trips.upload", .post, "/ims/v1/trips", fields: try .ada, body: Example.trip, status: 201),
        RouteCase("trips.list", .get, "/ims/v1/trips", fields: try .ada, prepare: uploadTrip),
        RouteCase("trips.get", .get, "/ims/v1/trips/t-1", fields: try .ada, prepare: uploadTrip),
        RouteCase("summary.get", .get, "/ims/v1/driving-summary", fields: try .ada),
        RouteCase(
            "invitations.send", .post, "/ims/v1/invitations", fields: try .ada, body: Example.invitation, status: 201),
        RouteCase("invitations.list", .get, "/ims/v1/invitations", fields: try .ada) {
            try await $0.call(.post, "/ims/v1/invitations", .ada, Example.invitation).expect(201)
            return [:]
        },
    ]

    private static let openRoutes: [RouteCase] = [
        RouteCase("dev-issuer.jwks", .get, "/ims/dev-issuers/rotating/jwks.json"),
        RouteCase("dev-issuer.jwks", .get, "/ims/dev-issuers/cognito/.well-known/jwks.json"),
        RouteCase("dev-issuer.certs", .get, "/ims/dev-issuers/firebase/certs"),
    ]
}

/// The effect of each value of each switch (section 8 of the vendor's spec).
extension SwitchCase {
    private static func me(_ claims: [(String, JSON?)]) -> World.Send { { try await $0.me(Forged(.uat, claims)) } }

    /// Uses and rotates the rotating issuer, then sends a token with the new key after the given seconds.
    private static func rotated(after seconds: Int) -> World.Send {
        { world in
            try await world.me(Forged(.rotating)).expect(200)
            try await world.drill("rotating", "overlap")
            try await world.advance("\(seconds)s")
            return try await world.me(Forged(.rotating).header("kid", "k2b").signed(by: 5))
        }
    }

    /// A dev issuer that states no lifetime: its key is replaced, and after the given seconds the old one is used.
    private static func replaced(after seconds: Int) -> World.Send {
        { world in
            let source: JSON = ["type": "jwks-url", "url": "{self}/ims/dev-issuers/rotating/jwks.json"]
            let fault: JSON = [
                "route": "dev-issuer.jwks",
                "respond": ["status": 200, "body": ["keys": [try #require(try Forged.key(2).publicJWK())]]],
            ]
            try await world.control(.put, "faults", fault.text).expect(200)
            let body = Example.issuer("plain", iss: "https://plain.example.test", source)
            try await world.call(.post, "/ims/v1/issuers", .operatorKey, body).expect(201)
            try await world.control(.delete, "faults")
            try await world.drill("rotating", "break")
            try await world.advance("\(seconds)s")
            let before = try await world.fetches("plain")
            let token = Forged(.rotating, at: 1_800_000_000 + seconds, [("iss", "https://plain.example.test")])
            let answer = try await world.me(token.header("kid", nil))
            answer.expect(200)
            let isFetched = try await world.fetches("plain") == (before ?? 0) + 1
            return .heard([isFetched ? "fetched again" : "from memory"])
        }
    }

    /// Creates an issuer whose URL's host resolves to this machine but is not accepted without a switch.
    private static func create(_ url: String) -> World.Send {
        { try await $0.createIssuer(["type": "jwks-url", "url": .string(url)]) }
    }

    static let all = tokenCases + userCases + keyCases + clientCases

    private static let tokenCases: [SwitchCase] = [
        SwitchCase("max-lifetime-seconds", "off", me([("exp", 1_900_000_000)])),
        SwitchCase("max-lifetime-seconds", "900", me([("exp", 1_800_000_900)])),
        SwitchCase("max-lifetime-seconds", "900", failure: "lifetime-too-long", me([("exp", 1_800_000_901)])),
        SwitchCase(
            "max-lifetime-seconds", "900", failure: "lifetime-too-long",
            me([("nbf", 1_799_999_999), ("exp", 1_800_000_900)])),
        SwitchCase("not-before-leeway-seconds", "30", me([("iat", 1_800_000_030)])),
        SwitchCase("not-before-leeway-seconds", "30", failure: "token-not-yet-valid", me([("iat", 1_800_000_031)])),
        SwitchCase("not-before-leeway-seconds", "0", failure: "token-not-yet-valid", me([("iat", 1_800_000_001)])),
        SwitchCase("not-before-leeway-seconds", "600", me([("iat", 1_800_000_600), ("exp", 1_800_000_900)])),
        SwitchCase("expiry-leeway-seconds", "0", failure: "token-expired", me([("exp", 1_800_000_000)])),
        SwitchCase("expiry-leeway-seconds", "600", me([("iat", 1_799_999_000), ("exp", 1_799_999_401)])),
        SwitchCase(
            "expiry-leeway-seconds", "600", failure: "token-expired",
            me([("iat", 1_799_999_000), ("exp", 1_799_999_400)])),
        SwitchCase("missing-not-before", "refuse", failure: "claim-missing", me([("iat", nil)])),
        SwitchCase("missing-not-before", "accept", me([("iat", nil)])),
        SwitchCase("missing-not-before", "accept", failure: "claim-invalid", me([("iat", "soon")])),
    ]

    private static let userCases: [SwitchCase] = [
        SwitchCase("unknown-user", "refuse", failure: "user-unknown", me([("sub", "EMP-9999")])),
        SwitchCase("unknown-user", "adopt", me([("sub", "EMP-9999")])),
        SwitchCase("unknown-user", "adopt", failure: "user-not-active", me([("sub", "EMP-0002")])),
        SwitchCase("operator-auth", "key", failure: "operator-key-missing") {
            try await $0.call(.get, "/ims/v1/users")
        },
        SwitchCase("operator-auth", "open") { try await $0.call(.get, "/ims/v1/users") },
        SwitchCase("operator-auth", "open") {
            try await $0.call(.get, "/ims/v1/users", [("x-ims-operator-key", "wrong")])
        },
    ]

    private static let keyCases: [SwitchCase] = [
        SwitchCase("jwks-cooldown-seconds", "30", failure: "kid-unknown", rotated(after: 29)),
        SwitchCase("jwks-cooldown-seconds", "30", rotated(after: 30)),
        SwitchCase("jwks-cooldown-seconds", "0", rotated(after: 0)),
        SwitchCase("jwks-default-lifetime-seconds", "600", shows: "fetched again", replaced(after: 600)),
        SwitchCase("jwks-default-lifetime-seconds", "600", shows: "from memory", replaced(after: 599)),
        SwitchCase("jwks-default-lifetime-seconds", "30", shows: "fetched again", replaced(after: 30)),
        SwitchCase("jwks-allow", "", failure: "jwks-url-not-allowed", create("https://127.1:1/jwks.json")),
        SwitchCase("jwks-allow", "other.test,127.1", create("https://127.1:1/jwks.json")),
        SwitchCase("jwks-allow", "127.1", failure: "jwks-url-not-allowed", create("http://127.1:1/jwks.json")),
        SwitchCase("jwks-allow-http", "", failure: "jwks-url-not-allowed", create("http://127.1:1/jwks.json")),
        SwitchCase("jwks-allow-http", "127.1", create("http://127.1:1/jwks.json")),
    ]

    /// What the SDK would do with a token that expires in the given number of seconds.
    private static func renewal(secondsLeft: Int) -> World.Send {
        { world in
            let token = try Forged(.uat, [("exp", JSON(World.exampleMoment + secondsLeft))]).text()
            let order: JSON = ["token": .string(token), "vendor": "ims"]
            return try await world.control(.post, "tokens/explain", order.text)
        }
    }

    /// The value, the seconds left, and whether the SDK renews.
    private static let clientCases: [SwitchCase] = [
        ("0", 1, false), ("60", 60, true), ("60", 61, false), ("3600", 3600, true), ("3600", 3601, false),
    ].map { value, left, renews in
        SwitchCase("sdk-near-expiry-seconds", value, shows: #""renew":\#(renews)"#, renewal(secondsLeft: left))
    }
}
