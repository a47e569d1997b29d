import JSON
import Support
import Testing

/// The rules of the app's token one by one (sections 2.1 to 2.3 of the vendor's spec), in checking order.
@Suite("Comapi's rules of tokens")
struct TokenRuleTests {
    struct Rule: Sendable, CustomStringConvertible {
        let description: String
        let failure: String?
        var notes: [String] = []
        var header = #"{"alg":"HS256","typ":"JWT"}"#
        let claims: @Sendable (String) -> String
    }

    @Test("each rule decides as the spec says, and remarks what is odd", arguments: rules)
    func rule(_ rule: Rule) async throws {
        let world = try await World.comapi()
        let answer = try await world.answer(header: rule.header) { rule.claims($0.json) }
        if let failure = rule.failure { answer.expect(403, Example.invalidJWT, failure) } else { answer.expect(200) }
        let names = [
            "milliseconds-exp", "milliseconds-iat", "iat-ahead", "long-lived-token", "unusual-typ", "audience-array",
            "shared-user-id",
        ]
        #expect(names.filter(answer.isNoted) == names.filter(rule.notes.contains))
    }

    private static let rules: [Rule] = [
        Rule(description: "typ may be absent", failure: nil, header: #"{"alg":"HS256"}"#) { Forged.claims(nonce: $0) },
        Rule(description: "another typ", failure: nil, notes: ["unusual-typ"], header: #"{"alg":"HS256","typ":"JWS"}"#)
        {
            Forged.claims(nonce: $0)
        },
        Rule(description: "alg in small letters", failure: "wrong-algorithm", header: #"{"alg":"hs256"}"#) {
            Forged.claims(nonce: $0)
        },
        Rule(description: "crit", failure: "unsupported-critical-header", header: #"{"alg":"HS512","crit":[]}"#) {
            Forged.claims(nonce: $0)
        },
        Rule(description: "a member twice", failure: "malformed-token") {
            Forged.claims(nonce: $0, more: [("sub", #""bob""#)])
        },
        Rule(description: "claims that are no object", failure: "malformed-token") { _ in "[]" },
        Rule(description: "an array of audiences", failure: nil, notes: ["audience-array"]) {
            Forged.claims(nonce: $0, audience: #"["other","https://api.comapi.com"]"#)
        },
        Rule(description: "an array of others", failure: "wrong-audience") {
            Forged.claims(nonce: $0, audience: #"["other"]"#)
        },
        Rule(description: "an audience that is not text", failure: "missing-audience") {
            Forged.claims(nonce: $0, audience: "7")
        },
        Rule(description: "an issuer in capitals", failure: "wrong-issuer") {
            Forged.claims(nonce: $0, issuer: #""https://api.comapi.com/defaultAuth""#)
        },
        Rule(description: "an issuer that is not text", failure: "missing-issuer") {
            Forged.claims(nonce: $0, issuer: "null")
        },
        Rule(description: "a nonce that is not text", failure: "missing-nonce") { _ in Forged.claims(nonce: "7") },
        Rule(description: "another nonce", failure: "nonce-mismatch") { _ in Forged.claims(nonce: #""x""#) },
        Rule(description: "the nonce goes before the issuer", failure: "nonce-mismatch") { _ in
            Forged.claims(nonce: #""x""#, issuer: nil)
        },
        Rule(description: "the issuer goes before the audience", failure: "missing-issuer") {
            Forged.claims(nonce: $0, issuer: nil, audience: nil)
        },
        Rule(description: "the user goes before the times", failure: "missing-user-id") {
            Forged.claims(nonce: $0, user: nil, expires: "1")
        },
        Rule(description: "an empty user", failure: "missing-user-id") { Forged.claims(nonce: $0, user: #""""#) },
        Rule(description: "a user that is a number", failure: "missing-user-id") {
            Forged.claims(nonce: $0, user: "7")
        },
        Rule(description: "the name of the claim as user", failure: nil, notes: ["shared-user-id"]) {
            Forged.claims(nonce: $0, user: #""sub""#)
        },
        Rule(description: "exp as text", failure: "malformed-time") {
            Forged.claims(nonce: $0, expires: #""1798848000""#)
        },
        Rule(description: "exp without end", failure: "malformed-time") { Forged.claims(nonce: $0, expires: "1e400") },
        Rule(description: "iat as null", failure: "malformed-time") { Forged.claims(nonce: $0, issued: "null") },
        Rule(description: "nbf as text", failure: "malformed-time") {
            Forged.claims(nonce: $0, more: [("nbf", #""now""#)])
        },
        Rule(description: "nbf just within the leeway", failure: nil) {
            Forged.claims(nonce: $0, more: [("nbf", "1798761660")])
        },
        Rule(description: "nbf just beyond it", failure: "not-yet-valid") {
            Forged.claims(nonce: $0, more: [("nbf", "1798761661")])
        },
        Rule(description: "iat ahead of the clock", failure: nil, notes: ["iat-ahead"]) {
            Forged.claims(nonce: $0, issued: "1798765200")
        },
        Rule(
            description: "iat of any finite size", failure: nil, notes: ["milliseconds-iat", "iat-ahead"]
        ) { Forged.claims(nonce: $0, issued: "1e300") },
        Rule(description: "iat of any finite size before all time", failure: nil, notes: ["long-lived-token"]) {
            Forged.claims(nonce: $0, issued: "-9007199254740994")
        },
        Rule(description: "iat without end", failure: "malformed-time") { Forged.claims(nonce: $0, issued: "1e400") },
        Rule(
            description: "exp beyond 2^53", failure: "malformed-time", notes: ["milliseconds-exp", "long-lived-token"]
        ) {
            Forged.claims(nonce: $0, expires: "9007199254740993")
        },
        Rule(
            description: "exp of any finite size", failure: "malformed-time",
            notes: ["milliseconds-exp", "long-lived-token"]
        ) {
            Forged.claims(nonce: $0, expires: "1e300")
        },
        Rule(description: "exp of any finite size before all time", failure: "expired-token") {
            Forged.claims(nonce: $0, expires: "-1e300")
        },
        Rule(description: "nbf of any finite size", failure: "not-yet-valid") {
            Forged.claims(nonce: $0, more: [("nbf", "1e300")])
        },
        Rule(description: "nbf of any finite size before all time", failure: nil) {
            Forged.claims(nonce: $0, more: [("nbf", "-1e300")])
        },
        Rule(description: "30 days", failure: nil, notes: ["long-lived-token"]) {
            Forged.claims(nonce: $0, expires: "1801353600")
        },
        Rule(description: "iat alone in milliseconds", failure: nil, notes: ["milliseconds-iat"]) {
            Forged.claims(nonce: $0, issued: "1798761600000")
        },
        Rule(description: "exp in milliseconds, and over", failure: "expired-token", notes: ["milliseconds-exp"]) {
            Forged.claims(nonce: $0, expires: "1798761000000")
        },
        Rule(description: "no times at all", failure: nil) { Forged.claims(nonce: $0, issued: nil, expires: nil) },
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
        #expect(answer.entry?.explanation?.contains(Example.c) == true)
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
        #expect(answer.outcome(of: "signature") == .noted)
        #expect(answer.outcome(of: "challenge-known") == .notJudged)
    }

    @Test("a session's token is taken with the scheme in any case, and told from the app's own")
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
        let app = try await world.mint("comapi/app", ["nonce": "n"])
        let answer = try await world.call(.get, Example.path("/profiles/mira"), [("Authorization", "Bearer \(app)")])
        answer.expect(401, Example.unauthorized, "session-forged")
        #expect(answer.findings.contains { $0.note?.contains("the app's own JWT") == true })
    }

    @Test("a session belongs to its sandbox")
    func sandboxes() async throws {
        let (world, other) = (try await World.comapi(), try await World.comapi())
        let mira = try await world.session()
        try await other.call(.get, Example.path("/profiles/mira"), mira.fields)
            .expect(401, Example.unauthorized, "session-forged")
    }

    @Test("what the app tells of its device is kept, and what makes no sense is remarked")
    func device() async throws {
        let world = try await World.comapi()
        let session = try await world.session(
            "mira", in: Example.a,
            ["deviceId": 7, "platform": "iOS", "push": ["fcm": ["package": "p"]], "sdkVersion": "2.2.0"])
        #expect(session.answer.json["session"]?["deviceId"] == nil)
        #expect(session.answer.json["session"]?["platform"] == "iOS")
        #expect(session.answer.json["session"]?["sdkVersion"] == "2.2.0")
        #expect(session.answer.findings.filter { $0.check == "ignored-member" }.count == 2)
    }
}
