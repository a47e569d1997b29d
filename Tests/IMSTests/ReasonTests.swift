import Expectations
import JSON
import Support
import Testing
import Tokens

extension Mistake {
    static let all = keys + claims + users + credentials

    private static let keys = [
        Mistake(
            "a swapped kid", "signature-invalid", says: "the issuer's other key “b”", "the header's kid is “a”"
        ) { world in
            let set: JSON = ["keys": [try Forged.jwk(2, kid: "a"), try Forged.jwk(3, kid: "b")]]
            try await world.createIssuer(["type": "jwks", "jwks": set]).expect(201)
            return try await world.me(.new(by: 3, kid: "a"))
        },
        Mistake("a kid that nobody has", "kid-unknown", says: "one of k2", "nope", "matches the issuer's key “k2”") {
            try await $0.me(Forged(.rotating)).expect(200)
            return try await $0.me(Forged(.rotating).header("kid", "nope"))
        },
        Mistake(
            "a key beyond those that are tried", "signature-invalid", says: "key 5 of new", "only the first 4"
        ) { world in
            let text = try (2...6).map(Forged.pem).joined()
            try await world.createIssuer(["type": "pem-public-key", "pem": .string(text)]).expect(201)
            return try await world.me(.new(by: 6))
        },
        Mistake(
            "a certificate set aside by its dates", "signature-invalid",
            says: "a certificate of new that is valid from 2020-01-01T00:00:00Z to 2040-01-01T00:00:00Z",
            "certificate_dates = reject set it aside"
        ) { world in
            try await world.freeze(at: 1_500_000_000)
            let certificate = try await world.call(.get, "/ims/dev-issuers/firebase/certs").json["k3"]?.string ?? ""
            let pem = try Example.seedCertificate() + "\n" + certificate
            let keys: JSON = ["type": "pem-certificate", "pem": .string(pem)]
            try await world.createIssuer(keys, ["certificate_dates": "reject"]).expect(201)
            let token = Forged(.uat, at: 1_500_000_000, [("iss", .string(Example.newIssuer))])
            return try await world.me(token.signed(by: 3))
        },
        Mistake("another environment's iss", "issuer-unknown", says: "matches a key of issuer uat", "environment uat") {
            try await $0.me(Forged(.uat, [("iss", "https://production.test")]))
        },
    ]

    private static let claims = [
        Mistake("a lifetime in milliseconds", "lifetime-too-long", says: "exp looks like milliseconds") { world in
            try await world.replaceUAT(["max_lifetime_seconds": 900])
            return try await world.me(Forged(.uat, [("exp", 1_800_000_600_000)]))
        },
        Mistake("a beginning in milliseconds", "token-not-yet-valid", says: "nbf looks like milliseconds") {
            try await $0.me(Forged(.uat, [("nbf", 1_800_000_000_000)]))
        },
        Mistake("another issuer's audience", "audience-mismatch", says: "audience of issuer cognito") {
            try await $0.me(Forged(.firebase, [("aud", "testclient0001")]))
        },
        Mistake("an access token for an id token", "audience-mismatch", says: "It stands in client_id") {
            try await $0.me(Forged(.cognito, [("client_id", "testclient0001"), ("token_use", "id")]))
        },
        Mistake("a second device", "token-replayed", says: "was “d1” at the first use, and is “d2” now") { world in
            try await world.replaceUAT(["replay": "bind-device"])
            try await world.me(Forged(.uat, [("jti", "j")]), device: "d1").expect(200)
            return try await world.me(Forged(.uat, [("jti", "j")]), device: "d2")
        },
    ]

    private static let users = [
        Mistake("an id for an enterprise id", "user-unknown", says: "usr-1", "has the enterprise id EMP-0001") {
            try await $0.me(Forged(.uat, [("sub", "usr-1")]))
        },
        Mistake("an email for an enterprise id", "user-unknown", says: "usr-4", "has no enterprise id yet") {
            try await $0.me(Forged(.uat, [("sub", "cleo@example.test")]))
        },
        Mistake("an activation without a name", "state-conflict", says: "usr-4", "POST /ims/v1/activation") {
            try await $0.call(.post, "/ims/v1/users/usr-4/activate", .operatorKey)
        },
        Mistake("a trip's time in milliseconds", "body-invalid", says: "started_at", "looks like Unix milliseconds") {
            try await $0.call(
                .post, "/ims/v1/trips", .bearer(try Forged().text()),
                Example.trip.replacing(#""2027-01-15T07:00:00Z""#, with: "1799996400000"))
        },
        Mistake("an empty email", "body-invalid", says: "email is an empty text") {
            try await $0.call(.post, "/ims/v1/users", .operatorKey, #"{"tenant":"demo","email":""}"#)
        },
        Mistake("a name too long", "body-invalid", says: "first_name has 256 characters; expected at most 255") {
            let name = String(repeating: "x", count: 256)
            return try await $0.call(
                .post, "/ims/v1/users", .operatorKey, #"{"tenant":"demo","email":"a@b","first_name":"\#(name)"}"#)
        },
    ]

    private static let credentials = [
        Mistake("a token for an operator key", "operator-key-wrong", says: "x-ims-operator-key holds a JWT") {
            try await $0.call(.get, "/ims/v1/users", [("x-ims-operator-key", try Forged().text())])
        },
        Mistake("a token on an operator's route", "operator-key-missing", says: "operator routes do not read") {
            try await $0.call(.get, "/ims/v1/users", .bearer(try Forged().text()))
        },
        Mistake(
            "an operator key for a token", "token-malformed", says: "the operator's key belongs in x-ims-operator-key",
            hides: ["ims-operator-test-key"]
        ) {
            try await $0.me("ims-operator-test-key")
        },
        Mistake("a private key in a set", "private-key-refused", says: "key 1 “b” has the private members d") { world in
            let set: JSON = ["keys": [try Forged.jwk(2, kid: "a"), ["kty": "RSA", "kid": "b", "d": "AA"]]]
            return try await world.createIssuer(["type": "jwks", "jwks": set])
        },
    ]
}

@Suite("IMS's reasons") struct ReasonTests {
    @Test("the reason names the cause", arguments: Mistake.all)
    func reasons(_ mistake: Mistake) async throws { try await mistake.check(in: World()) }

    @Test("times that look like milliseconds are remarked when the call passes") func milliseconds() async throws {
        let answer = try await World().me(
            Forged(.uat, [("exp", 1_800_000_600_000), ("nbf", 1_799_999_000), ("iat", 1_800_000_000_000)]))
        answer.expect(200)
        expect(answer.outcome(of: "milliseconds-exp"), is: .noted)
        expect(answer.outcome(of: "milliseconds-iat"), is: .noted)
        expect(answer.outcome(of: "milliseconds-nbf"), is: nil)
    }
}
