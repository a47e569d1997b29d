import Emulation
import JSON
import Support
import Testing
import Tokens
import Wire

@testable import Rezolve

/// A change to an example that breaks a rule.
private typealias Change = (inout RezolveFacts) -> Void

@Suite("Rezolve's rules")
struct RuleTests {
    private static let vendor = Result {
        try Rezolve(fixtures: VendorFixtures(store: Repository.fixtures, folder: "rezolve"))
    }

    private static func facts(_ switches: [String: String] = [:]) throws -> RezolveFacts {
        RezolveFacts(
            try vendor.get(), RezolveSwitches(SwitchValues(switches)),
            at: Moment(unixSeconds: Double(World.exampleMoment)))
    }

    /// Ada calling the core with a login JWT.
    private static func ada(
        _ token: String? = Example.jwtAda, _ switches: [String: String] = [:], _ change: Change = { _ in }
    ) throws -> RezolveFacts {
        var facts = try facts(switches)
        let vendor = try vendor.get()
        facts.apiKey = Example.apiKeyN
        facts.partner = vendor.accounts.partner(id: "317")
        facts.signer = facts.partner
        facts.bearer = BearerToken(token.map { ["authorization": "Bearer \($0)"] } ?? [:])
        facts.token = token.map { RezolveToken($0) }
        (facts.pathPartner, facts.pathEntity) = (.value("317"), .value("entity123"))
        facts.device = .value(Example.device)
        facts.findOwner(in: vendor.initialState)
        change(&facts)
        return facts
    }

    private static func forged(
        header: String = Forged.loginHeader, _ claims: String = Forged.adaClaims(), _ switches: [String: String] = [:],
        _ change: Change = { _ in }
    ) throws -> RezolveFacts {
        try ada(Forged.token(header: header, claims: claims), switches, change)
    }

    /// Tokens that cannot be verified, by the rule that explains it.
    private static func unverified() throws -> [String: RezolveFacts] {
        try brokenForms(of: Example.jwtAda).mapValues { try ada($0) }.merging([
            "algorithm": try forged(header: #"{"alg":"HS256"}"#),
            "type": try forged(header: #"{"alg":"HS512","typ":"JWS"}"#),
            "critical": try forged(header: #"{"alg":"HS512","crit":[]}"#),
            "key-references": try forged(header: #"{"alg":"HS512","jku":"https://a.test"}"#),
            "signature": try ada(Example.jwtAda + "A"),
            "secret-mistake": try ada(Forged.token(secret: "secret", claims: Forged.adaClaims())),
            "secret-length": try ada { $0.signer = try? vendor.get().accounts.partner(id: "3") },
        ]) { $1 }
    }

    private static func incomplete() throws -> [String: RezolveFacts] {
        [
            "claim-rezolve_entity_id-present": try forged(Forged.adaClaims(entity: nil)),
            "claim-partner_entity_id-present": try forged(Forged.adaClaims(user: "1.5")),
            "claim-exp-present": try forged(Forged.adaClaims(exp: nil)),
            "exp-fraction": try forged(Forged.adaClaims(exp: "1800001799.25")),
            "claim-exp-integer": try forged(Forged.adaClaims(exp: "1800001799.25"), ["exp-number": "integer"]),
            "header-auth-equals": try forged(header: Forged.registrationHeader),
            "claim-device_id-present": try forged(Forged.adaClaims(device: nil)),
            "not-before": try forged(#"{"nbf":1800000001}"#),
            "milliseconds-exp": try forged(Forged.adaClaims(exp: "1800001800000")),
            "milliseconds-nbf": try forged(#"{"nbf":1700000000000}"#),
        ]
    }

    @Test("of api key and token hold and are broken")
    func token() throws {
        let registration = try Self.ada(Example.regNew) { $0.isRegistration = true }
        expectExamples(
            of: Rezolve.tokenRules,
            holding: [
                try Self.ada(), registration, try Self.ada(Example.jwtAda, ["exp-number": "integer"]),
                try Self.ada(Example.jwtAda, ["max-lifetime-seconds": "1800"]),
            ],
            breaking: try Self.unverified().merging(Self.incomplete()) { $1 }.merging([
                "api-key": try Self.ada { ($0.partner, $0.apiKey) = (nil, "other") },
                "auth-key": try Self.ada { $0.partner = try? Self.vendor.get().accounts.partner(id: "404") },
                "token-present": try Self.ada(nil),
                "authorization-lines": try Self.ada {
                    $0.bearer = BearerToken(["authorization": "Bearer a", "Authorization": "Bearer b"])
                },
                "bearer-once": try Self.ada { $0.bearer = BearerToken(["authorization": "Bearer Bearer a"]) },
                "token-kind": try Self.ada { $0.isRegistration = true },
                "lifetime": try Self.ada(Example.jwtAda, ["max-lifetime-seconds": "60"]),
                "expiry": try Self.ada(Example.jwtAdaOld),
            ]) { $1 })
    }

    @Test("of customer and device hold and are broken")
    func ownership() throws {
        let revoked = ["logout-revokes-core": "yes"]
        var loggedOut = try #require(try Self.vendor.get().initialState.users.user(entity: "entity123"))
        loggedOut.logOut(on: Example.device)
        let session = RezolveFacts.Session(loggedOut, on: Example.device)
        expectExamples(
            of: Rezolve.ownershipRules, holding: [try Self.ada(), try Self.ada(Example.jwtAda, revoked)],
            breaking: [
                "session-revoked": try Self.ada(Example.jwtAda, revoked) { $0.session = session },
                "path-partner": try Self.ada { $0.pathPartner = .value("3") },
                "registration-token-reuse": try Self.ada(Example.regNew, ["registration-token-reuse": "refuse"]),
                "customer-known": try Self.forged(Forged.adaClaims(entity: #""nobody""#)),
                "customer-partner": try Self.ada { $0.partner = try? Self.vendor.get().accounts.partner(id: "3") },
                "path-entity": try Self.ada { $0.pathEntity = .value("entity456") },
                "partner-entity-id": try Self.forged(Forged.adaClaims(user: #""other""#)),
                "device": try Self.ada { $0.device = .absent },
            ])
    }

    @Test("of api keys where one may do without hold and are broken")
    func apiKeys() throws {
        let wrong = try Self.ada { ($0.partner, $0.apiKey) = (nil, "other") }
        for list in [Rezolve.signInRules, Rezolve.guestRules] {
            expectExamples(of: list, holding: [try Self.ada()], breaking: ["api-key-or-only-partner": wrong])
        }
        expectExamples(
            of: Rezolve.sessionRules, holding: [try Self.ada()],
            breaking: [
                "api-key-if-sent": wrong, "token-present": try Self.ada(nil),
                "authorization-lines": try Self.ada {
                    $0.bearer = BearerToken(["authorization": "Bearer a", "Authorization": "Bearer b"])
                },
                "bearer-once": try Self.ada { $0.bearer = BearerToken(["authorization": "Bearer Bearer a"]) },
            ])
    }

    @Test("of RUA's sessions hold and are broken")
    func sessions() throws {
        var loggedOut = try #require(try Self.vendor.get().initialState.users.user(entity: "entity123"))
        loggedOut.logOut(on: Example.device)
        let session = RezolveFacts.Session(loggedOut, on: Example.device)
        expectExamples(
            of: Rezolve.sessionTokenRules,
            holding: [
                try Self.ada(), try Self.ada { $0.isRenewal = true },
                try Self.ada(Example.jwtAda, ["exp-number": "integer"]),
            ],
            breaking: try Self.unverified().merging(Self.incomplete()) { $1 }.merging([
                "session-customer-known": try Self.forged(Forged.adaClaims(entity: #""nobody""#)),
                "api-key-partner": try Self.ada { $0.partner = try? Self.vendor.get().accounts.partner(id: "3") },
                "session-expiry": try Self.ada(Example.jwtAdaOld), "rua-user": try Self.ada { $0.session = nil },
                "session-open": try Self.ada { $0.session = session },
            ]) { $1 })
    }

    // MARK: All tokens

    private static let ids = [nil, #""""#, #"":NONE:""#, #""e""#, "1", "null", "[]"]
    private static let users = [
        nil, #""""#, #""u""#, "1", "1.5", "12345678901234567890", "true", "\"\(String(repeating: "u", count: 255))\"",
        "\"\(String(repeating: "u", count: 256))\"", "\"\(String(repeating: "ü", count: 200))\"",
        "\"\(String(repeating: "ü", count: 256))\"",
    ]
    private static let expiries = [
        nil, "1800001800", "1800001800.5", "1.8e9", "-1", "1e400", "9007199254740993", #""1800001800""#, "null",
        "1800001800000",
    ]
    private static let devices = [nil, #""""#, #""d""#, "1"]
    private static let headers = [
        Forged.loginHeader, Forged.registrationHeader, #"{"auth":"V2","alg":"HS512"}"#, #"{"auth":2,"alg":"HS512"}"#,
    ]

    @Test("come out the same whether somebody wants to know what they found or not")
    func agreement() throws {
        for switches in Self.switches {
            expectAgreement(
                of: Rezolve.tokenRules,
                on: try Self.tokens.map { token in try Self.ada(nil, switches) { $0.token = token } })
        }
        expectAgreement(of: Rezolve.tokenRules, on: Array(try Self.unverified().values))
    }

    @Test("judge the signature by each key anew")
    func verification() throws {
        let keys = try [RezolveAuthKey(Example.secret), RezolveAuthKey("secret")]
        let token = RezolveToken(Example.jwtAda)
        for _ in 0..<2 {
            var nothing: Finding?
            #expect(keys.map { token.signature(by: $0, &nothing) } == [.passed, .failed])
            #expect(token.mistake(by: keys[0]) { [] } == nil)
        }
        let facts = try Self.ada { $0.signer = nil }
        let signature = Rezolve.tokenRules.rules.first { $0.id == "signature" }
        #expect(signature?.outcome(on: facts) == .notJudged, "no key is known")
    }

    private static let switches = RezolveSwitches.AuthHeader.allCases.flatMap { auth in
        RezolveSwitches.DeviceCheck.allCases.flatMap { device in
            RezolveSwitches.ExpiryNumber.allCases.map { expiry in
                ["auth-header": auth.rawValue, "device-check": device.rawValue, "exp-number": expiry.rawValue]
            }
        }
    }

    /// Every kind of id with every value of each other member; the remaining members are valid.
    private static let tokens: [RezolveToken] =
        ids.flatMap { id in
            users.map { token(id: id, user: $0) } + expiries.map { token(id: id, expiry: $0) }
                + headers.flatMap { header in devices.map { token(header, id: id, device: $0) } }
        } + [RezolveToken(""), RezolveToken("a.b.c")]

    /// Unsigned, since the other rules ignore the signature.
    private static func token(
        _ header: String = Forged.loginHeader, id: String?, user: String? = #""u""#, expiry: String? = "1800001800",
        device: String? = #""d""#
    ) -> RezolveToken {
        let claims = Forged.adaClaims(entity: id, user: user, exp: expiry, device: device)
        return RezolveToken("\(Base64URL.encode(Array(header.utf8))).\(Base64URL.encode(Array(claims.utf8))).AA")
    }
}
