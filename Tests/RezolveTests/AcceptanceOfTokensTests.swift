import JSON
import Support
import Testing
import Tokens

/// The spec's acceptance examples for tokens, with the spec's numbers.
@Suite("Rezolve's acceptance examples: tokens")
struct AcceptanceOfTokensTests {
    private let registration = "/api/v1/authentication/register"

    @Test("1: the JWT page's own token registers its user", arguments: Depth.allCases)
    func seedToken(_ depth: Depth) async throws {
        let world = try await World(depth, at: 1_520_869_000)
        let answer = try await world.call(
            .post, registration, .keyS.bearer(Example.seedJWT), #"{"email":"user@example.test"}"#)
        let entity = try #require(answer.json["entity_id"]?.string)
        answer.expect(200, #"{"entity_id":"\#(entity)","partner_id":"3"}"#)
        #expect(entity.utf8.count == 36)
        #expect(answer["content-type"] == "application/json; charset=utf-8")
    }

    @Test("2: a token is good until its last second and expired from its exp on", arguments: Depth.allCases)
    func lastSecond(_ depth: Depth) async throws {
        let world = try await World(depth, at: 1_520_869_469)
        let fields = World.Fields.keyS.bearer(Example.seedJWT)
        let body = #"{"email":"user@example.test"}"#
        try await world.call(.post, registration, fields, body).expect(200)
        for clock in [1_520_869_470, 1_800_000_000] {
            try await world.freeze(at: clock)
            try await world.call(.post, registration, fields, body).expectExpired()
        }
    }

    @Test("3: the signature is judged before the expiry", arguments: Depth.allCases, [1_520_869_000, 1_800_000_000])
    func otherPartnersToken(_ depth: Depth, _ clock: Int) async throws {
        let world = try await World(depth, at: clock)
        let answer = try await world.call(
            .post, registration, .keyN.bearer(Example.seedJWT), #"{"email":"user@example.test"}"#)
        answer.expectDenied("masked-signature")
        #expect(answer.outcome(of: "secret-of-another") == .noted)
    }

    @Test("4: a user registers once, whichever version of the call", arguments: Depth.allCases)
    func registersOnce(_ depth: Depth) async throws {
        let world = try await World(depth)
        let fields = World.Fields.keyN.bearer(Example.regNew)
        let body = #"{"email":"new@example.test"}"#
        let first = try await world.call(.post, "/api/v2/authentication/register", fields, body)
        first.expect(200)
        #expect(first.json["partner_id"] == "317")
        try await world.call(.post, registration, fields, body).expect(
            400, #"{"type":"Registration","code":"2","message":"Registration failed."}"#, "registration-duplicate")
    }

    @Test("5: without a known api key everything is denied", arguments: Depth.allCases)
    func apiKey(_ depth: Depth) async throws {
        let world = try await World(depth)
        let rest = World.Fields().bearer(Example.jwtAda).device(Example.device)
        try await world.call(.get, Example.addresses, rest).expectDenied("masked-api-key")
        try await world.call(.get, Example.addresses, rest + [("x-rezolve-partner-apikey", "123jlklk")])
            .expectDenied("masked-api-key")
    }

    @Test("6: a partner without auth key has no valid tokens", arguments: Depth.allCases)
    func noAuthKey(_ depth: Depth) async throws {
        let world = try await World(depth)
        try await world.call(.post, registration, .keyX.bearer(Example.regNew), #"{"email":"new@example.test"}"#)
            .expectDenied("masked-no-auth-key")
    }

    @Test("7: a token must come behind Bearer, unless the profile is observed", arguments: Depth.allCases)
    func scheme(_ depth: Depth) async throws {
        let world = try await World(depth)
        let rest = World.Fields.keyN.device(Example.device)
        for fields in [rest, rest.authorization("Bearer"), rest.authorization(Example.jwtAda)] {
            try await world.call(.get, Example.addresses, fields).expectDenied("masked-token-missing")
        }
        try await world.set(profile: .observed)
        try await world.call(.get, Example.addresses, rest.authorization(Example.jwtAda)).expect(200)
    }

    @Test("8: a token that is not exactly the signed one is denied", arguments: Depth.allCases)
    func changedTokens(_ depth: Depth) async throws {
        let world = try await World(depth)
        let parts = Example.jwtAda.split(separator: ".").map(String.init)
        let unsigned = Base64URL.encode(Array(#"{"auth":"v2","alg":"none","typ":"JWT"}"#.utf8))
        let tokens = [
            "\(parts[0]).\(parts[1]).Z" + parts[2].dropFirst(),
            "\(unsigned).\(parts[1]).",
            try await world.mint("rezolve/login", ["defect": "alg-hs256"]),
            Example.jwtAda + "=",
        ]
        for token in tokens {
            let fields = World.Fields.keyN.bearer(token).device(Example.device)
            try await world.call(.get, Example.addresses, fields).expectDenied("masked-signature")
        }
    }

    @Test(
        "9: a token without a member, or with one of the wrong type, is denied", arguments: Depth.allCases,
        ["missing-device_id", "missing-exp", "string-exp"])
    func missingMembers(_ depth: Depth, _ defect: String) async throws {
        let world = try await World(depth)
        let token = try await world.mint("rezolve/login", ["defect": .string(defect)])
        try await world.call(.get, Example.addresses, .keyN.bearer(token).device(Example.device))
            .expectDenied("masked-missing-fields")
    }

    @Test("10: nobody reads what is another's", arguments: Depth.allCases)
    func otherPaths(_ depth: Depth) async throws {
        let world = try await World(depth)
        for path in [Example.ben, "/api/v1/partner/3/customer/entity123"] {
            try await world.call(.get, path + "/addressbook", .ada).expectDenied("masked-other-user")
        }
    }

    @Test("11: the device header must be the token's device, unless the profile is observed", arguments: Depth.allCases)
    func device(_ depth: Depth) async throws {
        let world = try await World(depth)
        let without = World.Fields.keyN.bearer(Example.jwtAda)
        for fields in [without, without.device("another")] {
            try await world.call(.get, Example.addresses, fields).expectDenied("masked-device-mismatch")
        }
        try await world.set(profile: .observed)
        for fields in [without, without.device("another")] {
            try await world.call(.get, Example.addresses, fields).expect(200)
        }
    }

    @Test("12: an old token is told to renew, a forged one is told nothing", arguments: Depth.allCases)
    func expiry(_ depth: Depth) async throws {
        let world = try await World(depth)
        let old = World.Fields.keyN.bearer(Example.jwtAdaOld).device(Example.device)
        try await world.call(.get, Example.addresses, old).expectExpired()
        let forged = try Forged.token(secret: "wrong", claims: Forged.adaClaims(exp: "1799999999"))
        try await world.call(.get, Example.addresses, .keyN.bearer(forged).device(Example.device))
            .expectDenied("masked-signature")
        try await world.call(.get, Example.ben + "/addressbook", old).expectExpired()
    }

    @Test("13: exp may have a fraction, which is noted, unless a switch forbids it", arguments: Depth.allCases)
    func fraction(_ depth: Depth) async throws {
        let world = try await World(depth)
        let fields = World.Fields.keyN.bearer(Example.jwtFloat).device(Example.device)
        let answer = try await world.call(.get, Example.addresses, fields)
        answer.expect(200)
        #expect(answer.outcome(of: "exp-fraction") == .noted)
        try await world.set("rezolve.exp-number", "integer")
        try await world.call(.get, Example.addresses, fields).expectDenied("masked-missing-fields")
    }

    @Test("14: the sample app's wrong header is denied, unless the profile is observed", arguments: Depth.allCases)
    func sampleAppHeader(_ depth: Depth) async throws {
        let world = try await World(depth)
        let fields = World.Fields.keyN.bearer(Example.jwtV2Bug).device(Example.device)
        let answer = try await world.call(.get, Example.addresses, fields)
        answer.expectDenied("masked-missing-fields")
        let names = answer.findings.contains { $0.source?.contains("auth-header") == true && $0.outcome == .failed }
        #expect(names, "the journal names the switch that would accept the token")
        try await world.set(profile: .observed)
        try await world.call(.get, Example.addresses, fields).expect(200)
    }

    @Test("27: the registration JWT may open the session, unless a switch forbids it", arguments: Depth.allCases)
    func reuse(_ depth: Depth) async throws {
        let world = try await World(depth)
        let fields = World.Fields.keyN.bearer(Example.regNew)
        let registered = try await world.call(.post, registration, fields, #"{"email":"new@example.test"}"#)
        let entity = try #require(registered.json["entity_id"]?.string)
        let path = "/api/v1/partner/317/customer/\(entity)/addressbook"
        try await world.call(.get, path, fields).expect(200, "[]")
        try await world.set("rezolve.registration-token-reuse", "refuse")
        try await world.call(.get, path, fields).expectDenied("masked-other-user")
    }

    @Test("28: an armed failure hits the call it is meant for", arguments: Depth.allCases)
    func armed(_ depth: Depth) async throws {
        let world = try await World(depth)
        try await world.arm("token-expired", at: "addressbook.list", call: 3)
        try await world.call(.get, Example.addresses, .ada).expect(200)
        try await world.call(.get, Example.addresses, .ada).expect(200)
        let third = try await world.call(.get, Example.addresses, .ada)
        third.expectExpired()
        #expect(third.entry?.record.intervention == "armed fault at call 3: fail token-expired")
        #expect(third.outcome(of: "expiry") == .passed, "the token itself is valid, and the journal says so")
        try await world.call(.get, Example.addresses, .ada).expect(200)
    }
}
