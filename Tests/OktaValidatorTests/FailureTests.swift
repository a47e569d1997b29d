import Emulation
import Expectations
import JSON
import Support
import Testing
import Tokens

@testable import OktaValidator

private struct Refused {
    let failure: OktaTokenFailure
    let detail: String
    var documented: String?
    let shipped: String?
    var value: String?
    let token: String
    let validator: OktaTokenValidator
}

@Suite("Every failure of a validator") struct FailureTests {
    private static func refused() throws -> [Refused] { try forms() + claims() + times() + keys() + requests() }

    private static func forms() throws -> [Refused] {
        [
            Refused(
                failure: .malformed, detail: "parts: found 2; expected 3.", shipped: "malformedJWT",
                token: try TestToken.id.signed(defect: .twoParts), validator: OktaTokenValidator()),
            Refused(
                failure: .algorithm, detail: #"alg is "none", expected RS256"#, shipped: "nonSupportedAlg",
                value: "none",
                token: try TestToken.id.signed(defect: .noAlgorithm), validator: OktaTokenValidator()),
        ]
    }

    private static func claims() throws -> [Refused] {
        let id = try TestToken.id.signed()
        let several = try TestToken.id.claim("aud", [.string(TestToken.client), "b"]).claim("azp", "b").signed()
        func access(_ change: (inout OktaValidatorOptions) -> Void) -> OktaTokenValidator {
            OktaTokenValidator(.access.with(change))
        }
        let token = try TestToken.access.signed()
        return [
            Refused(
                failure: .issuer, detail: #"iss is "http://localhost:8080/oauth2/default", expected "x""#,
                shipped: "invalidIssuer", token: id, validator: OktaTokenValidator(.id.with { $0.issuer = "x" })),
            Refused(
                failure: .audience, detail: #"aud is "0oaunderstudynative1", expected "x""#, shipped: "invalidAudience",
                token: id, validator: OktaTokenValidator(.id.with { $0.audience = "x" })),
            Refused(
                failure: .authorizedParty,
                detail: #"aud names several, and azp is "b", expected "0oaunderstudynative1""#, shipped: nil,
                token: several, validator: OktaTokenValidator()),
            Refused(
                failure: .nonce, detail: #"nonce is "n1", expected "n2""#, shipped: "invalidNonce", token: id,
                validator: OktaTokenValidator(.id.with { $0.nonce = "n2" })),
            Refused(
                failure: .client, detail: #"cid is "0oaunderstudynative1", expected "x""#, documented: "customClaim",
                shipped: "invalidClaim", value: "x", token: token, validator: access { $0.clientID = "x" }),
            Refused(
                failure: .scope, detail: #"scp is ["openid","profile"], which lacks a, b"#, documented: "invalidScope",
                shipped: "invalidClaim", value: "a openid b", token: token,
                validator: access { $0.scopes = "a openid b" }),
            Refused(
                failure: .claim, detail: #"team is absent, expected "blue""#, documented: "customClaim",
                shipped: "invalidClaim",
                value: "blue", token: token,
                validator: access { $0.claims = ["uid": "00uunderstudyada0001", "team": "blue", "zone": "x"] }),
        ]
    }

    private static func times() throws -> [Refused] {
        let validator = OktaTokenValidator()
        func refused(
            _ name: String, _ value: JSON?, _ failure: OktaTokenFailure, _ detail: String, shipped: String? = nil
        ) throws -> Refused {
            Refused(
                failure: failure, detail: detail, shipped: shipped, token: try TestToken.id.claim(name, value).signed(),
                validator: validator)
        }
        return [
            try refused(
                "exp", 1_799_990_000, .expired, "exp 1799990000 is 10000 s before now, leeway 3000 s",
                shipped: "expiredJWT"),
            try refused("exp", nil, .expiryMissing, "exp is absent, expected a number of seconds"),
            try refused("nbf", 1_800_003_001, .notYetValid, "nbf 1800003001 is 3001 s after now, leeway 3000 s"),
            try refused(
                "iat", 1_800_004_000, .issuedInFuture, "iat 1800004000 is 4000 s after now, leeway 3000 s",
                shipped: "issuedInFuture"),
            try refused("iat", "x", .issuedAtMissing, #"iat is "x", expected a number of seconds"#),
        ]
    }

    private static func keys() throws -> [Refused] {
        let id = try TestToken.id.signed()
        let unnamed = try TestToken.id.header("kid", nil).signed()
        let other = try TestToken.id.header("kid", "k1").signed()
        let jwk = TestKey.current.published
        return [
            Refused(
                failure: .keyIDMissing, detail: "the header has no kid", shipped: "noKIDFromJWT", token: unnamed,
                validator: OktaTokenValidator()),
            Refused(
                failure: .keyIDMismatch, detail: "the token names the key \"k1\", the JWK is \(jwk["kid"]?.text ?? "")",
                shipped: "invalidKID", token: other, validator: OktaTokenValidator(keys: .jwk(jwk))),
            Refused(
                failure: .key, detail: "the JWK cannot be used: member “n” is not base64url: “!”",
                shipped: "invalidModulusOrExponent", token: id,
                validator: OktaTokenValidator(keys: .jwk(TestKey.current.published(["n": "!"])))),
            Refused(
                failure: .signature,
                detail: "The signature was not made with this key, or header or payload changed since.",
                documented: "invalidSignature", shipped: "invalidSignature", token: id,
                validator: OktaTokenValidator(keys: .rsa(TestKey.next.verificationKey))),
        ]
    }

    private static func requests() throws -> [Refused] {
        let id = try TestToken.id.signed()
        func validator(_ path: String, _ answer: KeyAnswer) -> OktaTokenValidator {
            let issuer = TestIssuer()
            issuer.answer(path, answer)
            return OktaTokenValidator(issuer: issuer)
        }
        let (document, keys) = (TestIssuer.discoveryPath, TestIssuer.keysPath)
        return [
            Refused(
                failure: .noWellKnown, detail: "GET \(TestIssuer.base)\(document): status 404; expected 200",
                shipped: "noWellKnown", token: id, validator: validator(document, .oktaError(404, "E0000007"))),
            Refused(
                failure: .noKeysURL, detail: "the discovery document of \(TestIssuer.base) has no jwks_uri",
                shipped: "noJWKSEndpoint", token: id, validator: validator(document, .json([:]))),
            Refused(
                failure: .noKey, detail: "\(TestIssuer.base)\(keys) has no key \(JSON(TestKey.current.id).text)",
                shipped: "noKey", token: id, validator: validator(keys, .json(["keys": []]))),
            Refused(
                failure: .offline,
                detail: "GET \(TestIssuer.base)\(keys): the answer was not complete within 5 s", shipped: "offline",
                token: id, validator: validator(keys, .failed(.slow(within: KeyRequest.timeLimit)))),
        ]
    }

    @Test("says what was found, and carries the names of the validator page and of the shipped library")
    func names() async throws {
        let all = try Self.refused()
        expect(Set(all.map(\.failure)), is: Set(OktaTokenFailure.allCases))
        for each in all {
            let error = try #require(await each.validator.error(of: each.token))
            expect(error.failure, is: each.failure, "\(error)")
            #expect(error.name == each.failure.rawValue && error.name.hasPrefix("jwt-"))
            #expect(error.detail.hasPrefix(each.detail), "\(error)")
            expect(error.documentedName, is: each.documented.map { "OktaJWTValidationError.\($0)" })
            let isOfAPI = ["noWellKnown", "noJWKSEndpoint", "noKey", "offline"].contains(each.shipped)
            let type = isOfAPI ? "OktaAPIError" : "OktaJWTVerificationError"
            expect(error.shippedName, is: each.shipped.map { "\(type).\($0)" })
            expect(error.shippedValue, is: each.value, "\(error)")
            #expect(error.findings.contains { $0.outcome == .failed })
            #expect(error.json["error"] == .string(error.name) && error.json["valid"] == false)
            expect(error.json["findings"]?.array?.count, is: error.findings.count)
        }
    }

    @Test("does not keep the other checks from being made") func findings() async throws {
        let token = try TestToken.id.claim("exp", 1).claim("iat", nil).claim("nonce", "x").claim("aud", "y").signed(
            by: TestKey.next)
        let validator = OktaTokenValidator(keys: .rsa(TestKey.current.verificationKey))
        let error = try #require(await validator.error(of: token))
        expect(error.failure, is: .audience)
        let failed = error.findings.filter { $0.outcome == .failed }.map(\.check)
        expect(failed, is: ["audience", "expiry", "issued-at", "nonce", "signature"])
        expect(error.findings.first { $0.check == "issuer" }?.outcome, is: .passed)
    }

    @Test("comes from a rule with an example that keeps it and one that breaks it") func examples() throws {
        let options = OktaValidatorOptions.id.with {
            ($0.clientID, $0.scopes, $0.claims) = (TestToken.client, "openid", ["team": "blue"])
        }
        let list = OktaRules(options: options, profile: .documented).list
        let good = TestToken.id.claim("cid", .string(TestToken.client)).claim("scp", ["openid"]).claim("team", "blue")
        func facts(_ text: String, _ key: OktaKeyResult? = nil) -> OktaValidatorFacts {
            let moment = Moment(unixSeconds: Double(TestToken.now))
            var facts = OktaValidatorFacts(CompactToken(text), at: moment, issuer: TestIssuer.base)
            if let key { facts.take(key, [.rs256]) }
            return facts
        }
        let key = OktaKeyResult.found(TestKey.current.verificationKey, .given)
        let sound = try good.signed()
        let changes: [(String, TestToken)] = [
            ("type", good.header("typ", "other")), ("header-alg-present", good.header("alg", 7)),
            ("algorithm", good.header("alg", "RS384")), ("key-references", good.header("jku", "http://x")),
            ("critical", good.header("crit", ["x"])), ("issuer", good.claim("iss", "x")),
            ("audience", good.claim("aud", "x")),
            ("authorized-party", good.claim("aud", [.string(TestToken.client), "x"])), ("expiry", good.claim("exp", 1)),
            ("not-before", good.claim("nbf", 1e300)), ("issued-at", good.claim("iat", true)),
            ("nonce", good.claim("nonce", "N1")), ("client", good.claim("cid", nil)), ("scopes", good.claim("scp", [])),
            ("claim-team", good.claim("team", 1)),
        ]
        var breaking = brokenForms(of: sound).mapValues { facts($0) }
        for (id, token) in changes { breaking[id] = facts(try token.signed()) }
        breaking["key"] = facts(sound, .failed(OktaKeyProblem(.noKey, "x")))
        breaking["signature"] = facts(try good.signed(by: TestKey.next), key)
        expectExamples(of: list, holding: [facts(sound, key)], breaking: breaking)
    }
}
