import Expectations
import JSON
import Support
import Testing
import Tokens
import Understudy

/// The rules of the app's token one by one (sections 2.1 to 2.3 of the vendor's spec), in checking order.
@Suite("Comapi's rules of tokens") struct TokenRuleTests {
    struct Rule: Sendable, CustomStringConvertible {
        let description: String
        let failure: String?
        let claims: String
        let notes: [String]
        let header: String

        init(
            _ description: String, _ failure: String?, _ claims: String, notes: [String] = [],
            header: String = #"{"alg":"HS256","typ":"JWT"}"#
        ) {
            (self.description, self.failure, self.claims) = (description, failure, claims)
            (self.notes, self.header) = (notes, header)
        }
    }

    @Test("each rule decides as the spec says, and remarks what is odd", arguments: rules)
    func rule(_ rule: Rule) async throws {
        let world = try await World.comapi()
        let answer = try await world.answer(header: rule.header) { rule.claims.replacing(Forged.nonce, with: $0.json) }
        if let failure = rule.failure { answer.expect(403, Example.invalidJWT, failure) } else { answer.expect(200) }
        let names = [
            "milliseconds-exp", "milliseconds-iat", "milliseconds-nbf", "iat-ahead", "long-lived-token", "unusual-typ",
            "audience-array", "shared-user-id",
        ]
        expect(names.filter(answer.isNoted), is: names.filter(rule.notes.contains))
    }

    private static let rules: [Rule] = [
        Rule("typ may be absent", nil, Forged.claims(), header: #"{"alg":"HS256"}"#),
        Rule("another typ", nil, Forged.claims(), notes: ["unusual-typ"], header: #"{"alg":"HS256","typ":"JWS"}"#),
        Rule("alg in small letters", "wrong-algorithm", Forged.claims(), header: #"{"alg":"hs256"}"#),
        Rule("crit", "unsupported-critical-header", Forged.claims(), header: #"{"alg":"HS512","crit":[]}"#),
        Rule("a member twice", "malformed-token", Forged.claims(more: [("sub", #""bob""#)])),
        Rule("claims that are no object", "malformed-token", "[]"),
        Rule(
            "an array of audiences", nil, Forged.claims(audience: #"["other","https://api.comapi.com"]"#),
            notes: ["audience-array"]),
        Rule("an array of others", "wrong-audience", Forged.claims(audience: #"["other"]"#)),
        Rule("an audience that is not text", "missing-audience", Forged.claims(audience: "7")),
        Rule("an issuer in capitals", "wrong-issuer", Forged.claims(issuer: #""https://api.comapi.com/defaultAuth""#)),
        Rule("an issuer that is not text", "missing-issuer", Forged.claims(issuer: "null")),
        Rule("a nonce that is not text", "missing-nonce", Forged.claims(nonce: "7")),
        Rule("the nonce goes before the issuer", "nonce-mismatch", Forged.claims(nonce: #""x""#, issuer: nil)),
        Rule("the issuer goes before the audience", "missing-issuer", Forged.claims(issuer: nil, audience: nil)),
        Rule("the user goes before the times", "missing-user-id", Forged.claims(user: nil, expires: "1")),
        Rule("an empty user", "missing-user-id", Forged.claims(user: #""""#)),
        Rule("a user that is a number", "missing-user-id", Forged.claims(user: "7")),
        Rule("the name of the claim as user", nil, Forged.claims(user: #""sub""#), notes: ["shared-user-id"]),
        Rule("exp without end", "malformed-time", Forged.claims(expires: "1e400")),
        Rule("iat as null", "malformed-time", Forged.claims(issued: "null")),
        Rule("nbf as text", "malformed-time", Forged.claims(more: [("nbf", #""now""#)])),
        Rule("nbf in milliseconds", nil, Forged.claims(more: [("nbf", "1798761600000")]), notes: ["milliseconds-nbf"]),
        Rule("nbf just within the leeway", nil, Forged.claims(more: [("nbf", "1798761660")])),
        Rule("nbf just beyond it", "not-yet-valid", Forged.claims(more: [("nbf", "1798761661")])),
        Rule("iat ahead of the clock", nil, Forged.claims(issued: "1798765200"), notes: ["iat-ahead"]),
        Rule("iat of any finite size", nil, Forged.claims(issued: "1e300"), notes: ["milliseconds-iat", "iat-ahead"]),
        Rule(
            "iat of any finite size before all time", nil, Forged.claims(issued: "-9007199254740994"),
            notes: ["long-lived-token"]),
        Rule("iat without end", "malformed-time", Forged.claims(issued: "1e400")),
        Rule(
            "exp beyond 2^53", "malformed-time", Forged.claims(expires: "9007199254740993"),
            notes: ["milliseconds-exp", "long-lived-token"]),
        Rule(
            "exp of any finite size", "malformed-time", Forged.claims(expires: "1e300"),
            notes: ["milliseconds-exp", "long-lived-token"]),
        Rule("exp of any finite size before all time", "expired-token", Forged.claims(expires: "-1e300")),
        Rule("nbf of any finite size", "not-yet-valid", Forged.claims(more: [("nbf", "1e300")])),
        Rule("nbf of any finite size before all time", nil, Forged.claims(more: [("nbf", "-1e300")])),
        Rule("30 days", nil, Forged.claims(expires: "1801353600"), notes: ["long-lived-token"]),
        Rule("iat alone in milliseconds", nil, Forged.claims(issued: "1798761600000"), notes: ["milliseconds-iat"]),
        Rule(
            "exp in milliseconds, and over", "expired-token", Forged.claims(expires: "1798761000000"),
            notes: ["milliseconds-exp"]),
        Rule("no times at all", nil, Forged.claims(issued: nil, expires: nil)),
    ]

    @Test("the remark on milliseconds says which year they would be, and that there is none for the largest")
    func years() async throws {
        for (issued, phrase) in [
            ("1798761600000", "as seconds this is the year 58970; as milliseconds it is 2027-01-01T00:00:00.000Z."),
            ("1e300", "as seconds this is not a year that has a name; as milliseconds it is after the year 9999."),
        ] {
            let answer = try await World.comapi().answer { Forged.claims(nonce: $0.json, issued: issued) }
            answer.expect(200)
            #expect(
                answer.findings.contains { $0.check == "milliseconds-iat" && $0.note?.contains(phrase) == true },
                "\(answer.findings)")
        }
    }

    @Test("a challenge belongs to its space, and the journal says to which")
    func foreignChallenge() async throws {
        let world = try await World.comapi()
        let challenge = try await world.challenge(in: Example.c)
        let answer = try await world.answer(challenge, Forged.token(claims: Forged.claims(nonce: challenge.json)))
        answer.expect(403, Example.invalidJWT, "unknown-authentication")
        expect(answer.entry?.explanation?.contains(Example.c), is: true)
    }

    @Test("the nonce of an answered challenge is told apart from any other")
    func reusedNonce() async throws {
        let world = try await World.comapi()
        let first = try await world.challenge()
        let token = try Forged.token(claims: Forged.claims(nonce: first.json))
        try await world.answer(first, token).expect(200)
        let second = try await world.challenge()
        try await world.answer(second, token).expect(403, Example.invalidJWT, "nonce-reused")
        let third = try await world.challenge()
        let open = try Forged.token(claims: Forged.claims(nonce: third.json))
        try await world.answer(second, open).expect(403, Example.invalidJWT, "nonce-mismatch")
    }

    @Test("the answer to a broken body judges the rest for the journal alone")
    func brokenBody() async throws {
        let world = try await World.comapi()
        let token = try Forged.token(secret: "wrong", claims: "{}")
        let answer = try await world.call(
            .post, Example.path("/sessions"), [], #"{"authenticationToken":"\#(token)"}"#)
        answer.expect(400, Example.fault("authenticationId", "is required"), "missing-field")
        expect(answer.outcome(of: "signature"), is: .noted)
        expect(answer.outcome(of: "challenge-known"), is: .notJudged)
    }

    @Test("a session's token is taken with the scheme in any case")
    func schemes() async throws {
        let world = try await World.comapi()
        let mira = try await world.session()
        for scheme in ["bearer", "BEARER", "Bearer "] {
            try await world.call(.get, Example.path("/profiles/mira"), [("Authorization", "\(scheme) \(mira.token)")])
                .expect(200)
        }
        for value in ["Basic x", "Bearer", mira.token, ""] {
            try await world.call(.get, Example.path("/profiles/mira"), [("Authorization", value)])
                .expect(401, Example.unauthorized, "session-missing")
        }
    }

    @Test("what the app tells of its device is kept, and what makes no sense is remarked")
    func device() async throws {
        let world = try await World.comapi()
        let session = try await world.session(
            "mira", in: Example.a,
            ["deviceId": 7, "platform": "iOS", "push": ["fcm": ["package": "p"]], "sdkVersion": "2.2.0"])
        expect(session.answer.json["session"]?["deviceId"], is: nil)
        expect(session.answer.json["session"]?["platform"], is: "iOS")
        expect(session.answer.json["session"]?["sdkVersion"], is: "2.2.0")
        expect(session.answer.findings.filter { $0.check == "ignored-member" }.count, is: 2)
    }
}

/// The spec's acceptance examples for challenge and session, with the spec's numbers.
@Suite("Comapi's acceptance examples: challenge and session")
struct AcceptanceOfSessionsTests {

    /// Section 2.4 of the spec: one signing input, signed with space B's secret correctly and incorrectly.
    private static let signingInput =
        "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiJtaXJhIiwibm9uY2UiOiIzYjZmMGE1NC05YzFkLTRlNjctOGEyMC01ZDFmN2"
        + "M5ZTRiMTAiLCJhdWQiOiJodHRwczovL2FwaS5jb21hcGkuY29tIiwiaXNzIjoiaHR0cHM6Ly9hcGkuY29tYXBpLmNvbS9kZWZhdWx0YXV0aC"
        + "IsImlhdCI6MTc5ODc2MTYwMCwiZXhwIjoxNzk4ODQ4MDAwfQ"

    @Test(
        "6: the vectors of wrong encodings are explained by name",
        arguments: [
            ("JziPVDysz4tjA5NLNLewt20BHdRlhGy_owqs-r9XSOM", nil),
            ("42GR93T9fV4iv3wYSh5BNpbkwzWcyNIiwdX8rKMBkr4", "secret-hex-decoded"),
            ("6medkCx2X6jgUoWsMWzr80pxrrUUdWacrE-r8-LXIYQ", "secret-base64-decoded"),
            ("I4oO1_7IpSgpHMkEQtsmFDswuED29pc9I8ZZr3mtnlM", "secret-base64-text"),
            ("Gg_xXkPq7UN8N0AydzuZ_6UCd2dFIlZA4OJlXKPlH44", "secret-base64-text"),
        ] as [(String, String?)])
    func vectors(_ vector: (signature: String, failure: String?)) async throws {
        let world = try await World.comapi()
        for request: JSON in [["space": .string(Example.b)], [:]] {
            let order: JSON = [
                "token": .string("\(Self.signingInput).\(vector.signature)"), "vendor": "comapi", "request": request,
            ]
            let verdict = try await world.control(.post, "tokens/explain", order.text).json["verdicts"]?[0]
            expect(verdict?["failure"], is: JSON(vector.failure))
            expect(verdict?["kind"], is: "app")
            let signature = verdict?["findings"]?.array?.first { $0["check"] == "signature" }
            expect(signature?["outcome"], is: (vector.failure == nil ? "passed" : "failed"))
        }
    }

    @Test("a secret shorter than the hash is noted where a token is explained, and not at every sign-in")
    func shortSecret() async throws {
        let world = try await World.comapi()
        let answer = try await world.answer { Forged.claims(nonce: $0.json) }
        answer.expect(200)
        #expect(!answer.isNoted("secret-length"))
        for (space, outcome) in [(Example.a, "noted"), ("suite-1", nil)] as [(String, String?)] {
            let minted = try await world.mint("comapi/app", ["space": .string(space), "user": "mira", "nonce": "n"])
            let order: JSON = ["token": .string(minted), "vendor": "comapi", "request": ["space": .string(space)]]
            let verdict = try await world.control(.post, "tokens/explain", order.text).json["verdicts"]?[0]
            let finding = verdict?["findings"]?.array?.first { $0["check"] == "secret-length" }
            expect(finding?["outcome"]?.string, is: outcome, "\(verdict?.text ?? "")")
            expect(verdict?["failure"], is: .null)
        }
    }

    @Test("10: fractions of seconds are accepted in both profiles") func fractions() async throws {
        let world = try await World.comapi()
        for _ in 0..<2 {
            let answer = try await world.answer {
                Forged.claims(nonce: $0.json, issued: "1798761600.766123", expires: "1798848000.766123")
            }
            answer.expect(200)
            #expect(!answer.isNoted("milliseconds-exp"))
            try await world.set(profile: .observed)
        }
    }
}

/// Secrets used as something other than the UTF-8 bytes of their text (section 2.4 of the vendor's spec).
@Suite("Comapi's wrong secrets")
struct SecretTests {
    @Test("a secret with letters beyond ASCII shows when it was taken as Latin-1") func latin1() async throws {
        let fixtures = try OwnFixtures()
        try fixtures.put("comapi/accounts.yaml", [(Example.secretA, "geheim-ü")])
        let world = try await World.comapi(on: Stage(fixtures.emulator(of: "comapi")))
        let challenge = try await world.challenge()
        let token = try await world.mint(
            "comapi/app", ["nonce": .string(challenge.nonce), "defect": "secret-latin-1"])
        let answer = try await world.answer(challenge, token)
        answer.expect(403, Example.invalidJWT, "secret-latin-1")
        expect(answer.entry?.explanation?.contains("Use its UTF-8 bytes."), is: true)
        let right = try await world.mint("comapi/app", ["nonce": .string(challenge.nonce)])
        try await world.answer(challenge, right).expect(200)
    }

    @Test(
        "white space that was added at the edge of a secret shows",
        arguments: [Example.secretA + " ", Example.secretA + "\n", Example.secretA + "\r\n"])
    func extended(_ secret: String) async throws {
        let world = try await World.comapi()
        let answer = try await world.answer(secret: secret) { Forged.claims(nonce: $0.json) }
        answer.expect(403, Example.invalidJWT, "secret-trimmed")
        expect(answer.entry?.explanation?.contains("is added"), is: true)
    }

    @Test("white space that was dropped from a secret shows")
    func trimmed() async throws {
        let fixtures = try OwnFixtures()
        try fixtures.put("comapi/accounts.yaml", [("\"\(Example.secretA)\"", "\" \(Example.secretA) \"")])
        let world = try await World.comapi(on: Stage(fixtures.emulator(of: "comapi")))
        let answer = try await world.answer { Forged.claims(nonce: $0.json) }
        answer.expect(403, Example.invalidJWT, "secret-trimmed")
        expect(answer.entry?.explanation?.contains("is removed"), is: true)
    }
}
