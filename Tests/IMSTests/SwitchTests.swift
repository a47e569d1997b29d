import JSON
import Support
import Testing

/// Every value of every switch (section 8 of the vendor's spec).
@Suite("IMS's switches")
struct SwitchTests {
    @Test("each value does what it says", arguments: cases)
    func value(_ example: SwitchCase) async throws {
        try await example.check("ims", in: try await World())
    }

    @Test("no value of a switch is without a case, and the profiles are those of the spec")
    func coverage() async throws {
        let ims = try #require(try await World().emulator.vendors.first { $0.identity.id == "ims" })
        for declaration in ims.switchDeclarations {
            var tested = Set(Self.cases.filter { $0.name == declaration.name }.map(\.value))
            if declaration.name == "sdk-near-expiry-seconds" { tested = ["60", "0", "3600"] }
            if case .choice(let values) = declaration.domain { #expect(tested == Set(values), "\(declaration.name)") }
            #expect(tested.contains(declaration.documented), "\(declaration.name)")
            #expect(tested.count > 1, "\(declaration.name)")
            #expect(declaration.documented == declaration.observed)
        }
        #expect(
            ims.switchDeclarations.map { "\($0.name) \($0.documented)" } == [
                "max-lifetime-seconds off", "not-before-leeway-seconds 30", "expiry-leeway-seconds 0",
                "missing-not-before refuse", "unknown-user refuse", "operator-auth key", "jwks-cooldown-seconds 30",
                "jwks-default-lifetime-seconds 600", "sdk-near-expiry-seconds 60", "jwks-allow ", "jwks-allow-http ",
            ])
    }

    private static func me(_ claims: [(String, JSON?)]) -> @Sendable (World) async throws -> ReceivedAnswer {
        { try await $0.me(Forged(.uat, claims)) }
    }

    /// The rotating issuer used, then rotated, and after so many seconds met by a token with the new key.
    private static func rotated(after seconds: Int) -> @Sendable (World) async throws -> ReceivedAnswer {
        { world in
            try await world.me(Forged(.rotating)).expect(200)
            try await world.drill("rotating", "overlap")
            try await world.advance("\(seconds)s")
            return try await world.me(Forged(.rotating).header("kid", "k2b").signed(by: 5))
        }
    }

    /// The dev issuer that gives no lifetime away, its key replaced after so many seconds, the old one used again.
    private static func replaced(after seconds: Int) -> @Sendable (World) async throws -> ReceivedAnswer {
        { world in
            let source: JSON = ["type": "jwks-url", "url": "{self}/ims/dev-issuers/rotating/jwks.json"]
            let fault: JSON = [
                "route": "dev-issuer.jwks",
                "respond": [
                    "status": 200,
                    "body": ["keys": [try #require(try Forged.key(2).publicJWK())]],
                ],
            ]
            let put = try await world.control(.put, "faults", fault.text)
            #expect(put.status < 300, "\(put.text)")
            let body = Example.issuer("plain", iss: "https://plain.example.test", source)
            try await world.call(.post, "/ims/v1/issuers", .operatorKey, body).expect(201)
            try await world.control(.delete, "faults")
            try await world.drill("rotating", "break")
            try await world.advance("\(seconds)s")
            let before = try await world.fetches("plain")
            let token = Forged(.rotating, at: 1_800_000_000 + seconds, [("iss", "https://plain.example.test")])
            let answer = try await world.me(token.header("kid", nil))
            #expect(try await world.fetches("plain") == (before ?? 0) + 1, "the lifetime has ended")
            return answer
        }
    }

    /// The host is this machine for whoever resolves it, and none that counts as it without a switch.
    private static func create(_ url: String) -> @Sendable (World) async throws -> ReceivedAnswer {
        { world in
            let body = Example.issuer(
                "far", iss: "https://far.example.test", ["type": "jwks-url", "url": .string(url)])
            return try await world.call(.post, "/ims/v1/issuers", .operatorKey, body)
        }
    }

    private static let cases: [SwitchCase] = tokenCases + userCases + keyCases

    private static let tokenCases: [SwitchCase] = [
        SwitchCase("max-lifetime-seconds", "off", nil, me([("exp", 1_900_000_000)])),
        SwitchCase("max-lifetime-seconds", "900", nil, me([("exp", 1_800_000_900)])),
        SwitchCase("max-lifetime-seconds", "900", "lifetime-too-long", me([("exp", 1_800_000_901)])),
        SwitchCase(
            "max-lifetime-seconds", "900", "lifetime-too-long", me([("nbf", 1_799_999_999), ("exp", 1_800_000_900)])),
        SwitchCase("not-before-leeway-seconds", "30", nil, me([("iat", 1_800_000_030)])),
        SwitchCase("not-before-leeway-seconds", "30", "token-not-yet-valid", me([("iat", 1_800_000_031)])),
        SwitchCase("not-before-leeway-seconds", "0", "token-not-yet-valid", me([("iat", 1_800_000_001)])),
        SwitchCase("not-before-leeway-seconds", "600", nil, me([("iat", 1_800_000_600), ("exp", 1_800_000_900)])),
        SwitchCase("expiry-leeway-seconds", "0", "token-expired", me([("exp", 1_800_000_000)])),
        SwitchCase("expiry-leeway-seconds", "600", nil, me([("iat", 1_799_999_000), ("exp", 1_799_999_401)])),
        SwitchCase(
            "expiry-leeway-seconds", "600", "token-expired", me([("iat", 1_799_999_000), ("exp", 1_799_999_400)])),
        SwitchCase("missing-not-before", "refuse", "claim-missing", me([("iat", nil)])),
        SwitchCase("missing-not-before", "accept", nil, me([("iat", nil)])),
        SwitchCase("missing-not-before", "accept", "claim-invalid", me([("iat", "soon")])),
    ]

    private static let userCases: [SwitchCase] = [
        SwitchCase("unknown-user", "refuse", "user-unknown", me([("sub", "EMP-9999")])),
        SwitchCase("unknown-user", "adopt", nil, me([("sub", "EMP-9999")])),
        SwitchCase("unknown-user", "adopt", "user-unknown", me([("sub", .string(String(repeating: "x", count: 256)))])),
        SwitchCase("unknown-user", "adopt", "user-not-active", me([("sub", "EMP-0002")])),
        SwitchCase("operator-auth", "key", "operator-key-missing") { try await $0.call(.get, "/ims/v1/users") },
        SwitchCase("operator-auth", "open", nil) { try await $0.call(.get, "/ims/v1/users") },
        SwitchCase("operator-auth", "open", nil) {
            try await $0.call(.get, "/ims/v1/users", [("x-ims-operator-key", "wrong")])
        },
    ]

    private static let keyCases: [SwitchCase] = [
        SwitchCase("jwks-cooldown-seconds", "30", "kid-unknown", rotated(after: 29)),
        SwitchCase("jwks-cooldown-seconds", "30", nil, rotated(after: 30)),
        SwitchCase("jwks-cooldown-seconds", "0", nil, rotated(after: 0)),
        SwitchCase("jwks-default-lifetime-seconds", "600", nil, replaced(after: 600)),
        SwitchCase("jwks-default-lifetime-seconds", "30", nil, replaced(after: 30)),
        SwitchCase("jwks-allow", "", "jwks-url-not-allowed", create("https://127.1:1/jwks.json")),
        SwitchCase("jwks-allow", "other.test,127.1", nil, create("https://127.1:1/jwks.json")),
        SwitchCase("jwks-allow", "127.1", "jwks-url-not-allowed", create("http://127.1:1/jwks.json")),
        SwitchCase("jwks-allow-http", "", "jwks-url-not-allowed", create("http://127.1:1/jwks.json")),
        SwitchCase("jwks-allow-http", "127.1", nil, create("http://127.1:1/jwks.json")),
    ]

    @Test("the SDK asks for a new token as long before the end as the switch says", arguments: [0, 60, 3600])
    func nearExpiry(_ margin: Int) async throws {
        let world = try await World()
        try await world.set("ims.sdk-near-expiry-seconds", "\(margin)")
        for (left, renews) in [(margin, margin > 0), (margin + 1, false)] where left > 0 {
            let token = try Forged(.uat, [("exp", JSON(World.exampleMoment + left))]).text()
            let order: JSON = ["token": .string(token), "vendor": "ims"]
            let verdict = try await world.control(.post, "tokens/explain", order.text).json["verdicts"]?[0]
            #expect(verdict?["clients"]?[0]?["result"]?["renew"] == .bool(renews))
        }
    }

    @Test("a user who is adopted is enrolled and active, and stays")
    func adoption() async throws {
        let world = try await World()
        try await world.set("ims.unknown-user", "adopt")
        try await world.me(Forged(.uat, [("sub", "EMP-7")])).expect(
            200,
            #"{"id":"usr-5","enterprise_id":"EMP-7","email":"EMP-7@adopted.invalid","first_name":"","last_name":"","#
                + #""phone":"","locale":"en","state":"active","activated_at":1800000000}"#)
        try await world.set("ims.unknown-user", "refuse")
        try await world.me(Forged(.uat, [("sub", "EMP-7")])).expect(200)
    }

    @Test("a request that is refused adopts nobody")
    func refusedAdoption() async throws {
        let world = try await World()
        try await world.set("ims.unknown-user", "adopt")
        let token = try Forged(.uat, [("sub", "EMP-7")]).text()
        try await world.call(.post, "/ims/v1/trips", .bearer(token), "{}").expectRefusal(
            400, "body-invalid", field: "trip_id")
        try await world.call(.get, "/ims/v1/users/EMP-7", .operatorKey).expectRefusal(404, "user-not-found")
    }

    @Test("an issuer's own rule beats the switch")
    func ownRule() async throws {
        let world = try await World()
        try await world.set("ims.max-lifetime-seconds", "60")
        try await world.set("ims.expiry-leeway-seconds", "600")
        try await world.replaceUAT(["max_lifetime_seconds": 600, "expiry_leeway_seconds": 0])
        try await world.me(Forged()).expect(200)
        try await world.me(Forged(.uat, [("exp", 1_800_000_000)])).expectRefusal(401, "token-expired")
    }
}
