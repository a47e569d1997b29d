import Expectations
import JSON
import Support
import Testing
import Tokens

/// Tokens on demand (section 2.5 of the vendor's spec), and Rezolve's answer to each of their defects.
@Suite("Rezolve's minted tokens") struct MintingTests {
    @Test("what the example world holds is minted byte for byte") func exampleWorld() async throws {
        let world = try await World()
        expect(try await world.mint("rezolve/login"), is: Example.jwtAda)
        expect(try await world.mint("rezolve/login", ["expires_in": -1]), is: Example.jwtAdaOld)
        expect(
            try await world.mint("rezolve/login", ["defect": "fractional-exp", "expires_in": 1800]),
            is: Example.jwtFloat)
        expect(try await world.mint("rezolve/registration"), is: Example.regNew)
        expect(
            try await world.mint("rezolve/login", ["partner_entity_id": "317", "defect": "v2-header-bug"]),
            is: Example.jwtV2Bug)
        try await world.freeze(at: 1_520_869_470 - 1800)
        expect(
            try await world.mint("rezolve/registration", ["partner": "3", "partner_entity_id": "123"]),
            is: Example.seedJWT)
    }

    @Test("every member of an order shows in the token") func members() async throws {
        let token = CompactToken(
            try await World().mint(
                "rezolve/login",
                [
                    "partner": 317, "customer": "entity456", "partner_entity_id": "other", "device_id": "dev-9",
                    "expires_in": "60", "header": ["kid": "k"], "claims": ["extra": [1], "exp": 7],
                ]))
        expect(token.header, is: ["auth": "v2", "alg": "HS512", "typ": "JWT", "kid": "k"])
        expect(
            token.claims,
            is: [
                "rezolve_entity_id": "entity456", "partner_entity_id": "other", "exp": 7, "device_id": "dev-9",
                "extra": [1],
            ])
    }

    @Test(
        "an order that makes no sense is refused, and the answer says why",
        arguments: [
            ("login", #"{"defect":"expird"}"#, "expird"), ("login", #"{"custmer":"x"}"#, "did you mean “customer”?"),
            ("login", #"{"partner":"31"}"#, "did you mean “3”?"), ("login", #"{"partner":"404"}"#, "no auth key"),
            ("login", #"{"partner":"3"}"#, "no customer"), ("login", #"{"expires_in":"soon"}"#, "whole number"),
            ("login", #"{"expires_in":1.5}"#, "whole number"), ("login", #"{"customer":[]}"#, "expected a string"),
            ("login", #"{"header":[]}"#, "expected an object"), ("login", #"{"claims":"x"}"#, "expected an object"),
            ("login", #"{"defect":"wrong-devce"}"#, "did you mean “wrong-device”?"),
            ("registration", #"{"defect":"wrong-device"}"#, "no defect wrong-device"),
            ("registration", #"{"defect":"v2-header-bug"}"#, "no defect v2-header-bug"),
        ])
    func refused(_ kind: String, _ order: String, _ hint: String) async throws {
        let answer = try await World().control(.post, "tokens/rezolve/" + kind, order)
        expect(answer.status, is: 400)
        expect(answer.json["error"]?["code"], is: "invalid")
        expect(answer.json["error"]?["message"]?.string?.contains(hint), is: true, "\(answer.text)")
    }

    @Test(
        "a lifetime beyond all integers is cut off, not fatal",
        arguments: ["9223372036854775807", "-9223372036854775808"])
    func endlessLifetime(_ seconds: String) async throws {
        let answer = try await World().control(.post, "tokens/rezolve/login", #"{"expires_in":\#(seconds)}"#)
        expect(answer.status, is: 200)
        #expect(answer.json["claims"]?["exp"]?.int != nil)
    }

    @Test(
        "explaining a token names its kind, its account and its answer",
        arguments: [
            (Example.jwtAda, "login", "partner 317", nil as String?),
            (Example.regNew, "registration", "partner 317", nil),
            (Example.jwtAdaOld, "login", "partner 317", "token-expired"),
            (Example.seedJWT, "registration", "partner 3", "token-expired"),
            (Example.jwtV2Bug, "login", "partner 317", "masked-missing-fields"),
        ])
    func explanation(_ token: String, _ kind: String, _ account: String, _ failure: String?) async throws {
        let answer = try await World().control(
            .post, "tokens/explain", JSON.object(["token": .string(token), "vendor": "rezolve"]).text)
        let verdict = try #require(answer.json["verdicts"]?[0])
        expect(verdict["kind"], is: .string(kind))
        expect(verdict["account"], is: .string(account))
        expect(verdict["failure"], is: JSON(failure))
        expect(verdict["accepted"], is: .bool(failure == nil))
        expect(verdict["answer"]?["status"]?.int, is: (failure == "token-expired" ? 401 : failure == nil ? nil : 403))
    }

    @Test("explaining a token judges what is known of its request, and nothing else")
    func explanationContext() async throws {
        let world = try await World()
        func verdict(_ request: JSON) async throws -> JSON? {
            try await world.control(
                .post, "tokens/explain", JSON.object(["token": .string(Example.jwtAda), "request": request]).text
            ).json["verdicts"]?[0]
        }
        let bare = try #require(try await verdict([:]))
        let device = bare["findings"]?.array?.first { $0["check"] == "device" }
        expect(device?["outcome"], is: "not-judged")
        expect(try await verdict(["device_id": "another"])?["failure"], is: "masked-device-mismatch")
        expect(try await verdict(["entity": "entity456"])?["failure"], is: "masked-other-user")
        let foreign = try await verdict(["partner": "3"])
        expect(foreign?["failure"], is: "masked-signature")
        expect(foreign?["account"], is: "partner 317", "whose key fits, not whom the request names")
        expect(try await verdict(["partner": "404"])?["failure"], is: "masked-no-auth-key")
    }
}

@Suite("Rezolve's reasons") struct ReasonTests {
    @Test("a secret that was encoded, or changed by decoding, is masked too") func masked() async throws {
        let world = try await World()
        let encoded = Base64URL.encode(Array(Example.secret.utf8))
        for key in [encoded, "x " + encoded] {
            try await world.call(.get, Example.addresses + "?note=" + encoded, Self.apiKey(key))
                .expect(403, Example.denied, "masked-api-key")
        }
        let journal = try await world.control(.get, "journal").text
        #expect(!journal.contains(encoded) && !journal.contains(Example.secret))
    }

    private static func list(_ token: @escaping @Sendable () throws -> String) -> World.Send {
        { try await $0.addresses(token()) }
    }

    private static func list(_ fields: World.Fields) -> World.Send {
        { try await $0.call(.get, Example.addresses, fields) }
    }

    private static func ping(_ token: @escaping @Sendable () throws -> String) -> World.Send {
        { try await $0.call(.get, "/v2/credentials/ping", World.Fields().bearer(try token())) }
    }

    private static func apiKey(_ value: String) -> World.Fields {
        [("x-rezolve-partner-apikey", value)].bearer(Example.jwtAda).device(Example.device)
    }

    private static let decoded = Base64URL.decodeLeniently(Array(Example.secret.utf8)) ?? []

    private static let signatures: [Mistake] = [
        Mistake(
            "secret base64-decoded", says: "partner 317", "when the secret is base64-decoded first",
            by: list { try Forged.token(secret: decoded, claims: Forged.adaClaims()) }),
        Mistake(
            "secret base64-decoded, at RUA", says: "partner 317", "when the secret is base64-decoded first",
            by: ping { try Forged.token(secret: decoded, claims: Forged.adaClaims()) }),
        Mistake(
            "white space added", says: "white space is added at the ends of the secret",
            by: list { try Forged.token(secret: Array((Example.secret + "\n").utf8), claims: Forged.adaClaims()) }),
        Mistake(
            "another partner's key, at RUA", says: "partner 317", "matches the secret of partner 3",
            by: ping { try Forged.token(secret: Array("secret".utf8), claims: Forged.adaClaims()) }),
        Mistake(
            "api key as token", says: "api key of partner 317", "x-rezolve-partner-apikey",
            by: list { Example.apiKeyN }),
        Mistake(
            "auth key as token", says: "auth key of partner 317", "never sent", hides: [Example.secret],
            by: list { Example.secret }),
    ]

    private static let keys: [Mistake] = [
        Mistake(
            "a JWT as api key", says: "a JWT", "belongs in Authorization", hides: [Example.jwtAda],
            by: list(apiKey(Example.jwtAda))),
        Mistake(
            "an auth key as api key", says: "auth key", "never sent", hides: [Example.secret],
            by: list(apiKey(Example.secret))),
        Mistake("a partner id as api key", says: "the id of partner 317", by: list(apiKey("317"))),
        Mistake(
            "an api key in capitals", says: "differs from the api key of partner 317",
            by: list(apiKey(Example.apiKeyN.uppercased()))),
        Mistake(
            "an api key in quotes", says: "differs from the api key of partner 317",
            by: list(apiKey("\"\(Example.apiKeyN)\""))),
        Mistake(
            "an api key in base64", says: "the api key of partner 317 in base64",
            by: list(apiKey(Base64URL.encode(Array(Example.apiKeyN.utf8))))),
        Mistake(
            "an auth key in base64 as api key", says: "the auth key of partner 317 in base64", "never sent",
            hides: [Example.secret, Base64URL.encode(Array(Example.secret.utf8))],
            by: list(apiKey(Base64URL.encode(Array(Example.secret.utf8))))),
        Mistake("a token in the query", says: "no Authorization header, but access_token in the query") {
            try await $0.call(.get, Example.addresses + "?access_token=" + Example.jwtAda, .keyN)
        },
        Mistake("an empty api key", says: "empty") { try await $0.call(.get, Example.addresses, apiKey("")) },
        Mistake(
            "another partner's api key, at RUA", says: "api key of partner 3", "api key of partner 317", "entity123"
        ) {
            try await $0.call(.get, "/v2/credentials/ping", .keyS.bearer(Example.jwtAda))
        },
    ]

    private static let claims: [Mistake] = [
        Mistake(
            "swapped claims", says: "user-1001", "entity123", "swapped",
            by: list { try Forged.token(claims: Forged.adaClaims(entity: #""user-1001""#, user: #""entity123""#)) }),
        Mistake(
            "the partner's id for the user's", says: "user-1001", "317", "partner-entity-id = any",
            by: list { try Forged.token(claims: Forged.adaClaims(user: "317")) }),
        Mistake(
            "a customer whom nobody registered, at RUA", says: "nobody", "registered",
            by: ping { try Forged.token(claims: Forged.adaClaims(entity: #""nobody""#, user: #""x""#)) }),
        Mistake("a registration JWT at RUA", says: "registration JWT", "user-2001", by: ping { Example.regNew }),
        Mistake(
            "an empty member", says: #"found """#, "non-empty string",
            by: list { try Forged.token(claims: Forged.adaClaims(device: #""""#)) }),
        Mistake(
            "a name that is too long", says: "256 characters", "1 to 255 characters",
            by: list { try Forged.token(claims: Forged.adaClaims(user: "\"\(String(repeating: "u", count: 256))\"")) }),
        Mistake(
            "exp beyond every clock", says: "9007199254740993", "above 2^53",
            by: list { try Forged.token(claims: Forged.adaClaims(exp: "9007199254740993")) }),
        Mistake(
            "exp in milliseconds, of which none may be so many", says: "looks like milliseconds",
            "2027-01-15T08:30:00Z", "1800 s"
        ) {
            try await $0.set("rezolve.max-lifetime-seconds", "1800")
            return try await list { try Forged.token(claims: Forged.adaClaims(exp: "1800001800000")) }($0)
        },
    ]

    @Test("names the cause, both sides, and no secret", arguments: signatures + keys + claims)
    func reason(_ mistake: Mistake) async throws { try await mistake.check(in: World()) }

    @Test("a token is explained by the same words", arguments: signatures.prefix(3))
    func explained(_ mistake: Mistake) async throws {
        let world = try await World()
        let answer = try await mistake.send(world)
        let fields = answer.entry?.request.fields.values(of: .authorization) ?? []
        let token = String((fields.first ?? "").dropFirst("Bearer ".count))
        let explained = try await world.control(
            .post, "tokens/explain", JSON.object(["token": .string(token), "vendor": "rezolve"]).text)
        let findings = explained.json["verdicts"]?[0]?["findings"]?.array ?? []
        let note = findings.first { $0["check"] == "signature" }?["note"]?.string ?? ""
        #expect(note.contains(mistake.phrases.last ?? ""), "\(note)")
    }

    @Test("an exp in milliseconds that passes leaves a note", arguments: [Example.addresses, "/v2/credentials/ping"])
    func milliseconds(_ path: String) async throws {
        let token = try Forged.token(claims: Forged.adaClaims(exp: "1800001800000"))
        let answer = try await World().call(.get, path, .core(token))
        answer.expect(200)
        let note = answer.findings.first { $0.check == "milliseconds-exp" }
        expect(note?.outcome, is: .noted)
        expect(note?.note?.contains("exp looks like milliseconds"), is: true)
    }
}
