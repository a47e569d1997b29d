import Emulation
import Expectations
import JSON
import Testing
import Tokens

@testable import OktaValidator

@Suite("A validator of the example world") struct AcceptanceTests {
    @Test("takes the ID token, and isValid throws what is wrong with one") func idToken() async throws {
        let token = try TestToken.id.signed()
        let verified = try await OktaTokenValidator().validate(token)
        #expect(verified.claims == TestToken.id.claims && verified.header == TestToken.id.header)
        #expect(verified.text == token && verified.keyOrigin == .discovery)
        #expect(try await OktaTokenValidator().isValid(token))
        let nonce = OktaTokenValidator(.id.with { $0.nonce = "n2" })
        await #expect(throws: OktaTokenError.self) { try await nonce.isValid(token) }
    }

    @Test("takes a token for 50 minutes after its end") func expiry() async throws {
        let token = try TestToken.id.signed()
        let end = TestToken.now + 3600
        expect(await OktaTokenValidator(at: end + 3000).failure(of: token), is: nil)
        let late = try #require(await OktaTokenValidator(at: end + 3001).error(of: token))
        expect(late.failure, is: .expired)
        expect(late.detail, is: "exp 1800003600 is 3001 s before now, leeway 3000 s")
        let unchecked = OktaValidatorOptions.id.with { $0.checksExpiry = false }
        expect(await OktaTokenValidator(unchecked, at: end + 3001).failure(of: token), is: nil)
        expect(await OktaTokenValidator(.id, .observed, at: end + 3001).failure(of: token), is: nil)
        let strict = OktaValidatorOptions.id.with { $0.checksExpiry = true }
        expect(await OktaTokenValidator(strict, .observed, at: end).failure(of: token), is: nil)
        expect(await OktaTokenValidator(strict, .observed, at: end + 1).failure(of: token), is: .expired)
        let exact = OktaValidatorOptions.id.with { $0.leeway = 0 }
        expect(await OktaTokenValidator(exact, at: end + 1).failure(of: token), is: .expired)
    }

    private static let issueTimes: [(JSON, OktaTokenFailure?)] = [
        (1_800_003_000, nil), (1_800_003_001, .issuedInFuture), (1_800_000_000_000, .issuedInFuture),
        ("1800000000", .issuedAtMissing), (.null, .issuedAtMissing), (1e300, .issuedAtMissing),
    ]

    @Test("takes a token that was issued up to 50 minutes from now", arguments: issueTimes)
    func issuedAt(_ iat: JSON, _ failure: OktaTokenFailure?) async throws {
        let token = try TestToken.id.claim("iat", iat.isNull ? nil : iat).signed()
        expect(await OktaTokenValidator().failure(of: token), is: failure)
        expect(await OktaTokenValidator(.id, .observed).failure(of: token), is: nil)
        let checked = OktaValidatorOptions.id.with { ($0.checksIssuedAt, $0.leeway) = (true, 3000) }
        let observed = failure == .issuedInFuture ? failure : nil
        expect(await OktaTokenValidator(checked, .observed).failure(of: token), is: observed)
    }

    @Test("misses claims that it compares, except as the shipped library does") func missing() async throws {
        let client = JSON.string(TestToken.client)
        let several = TestToken.id.claim("aud", [client, "other"])
        let cases: [(TestToken, OktaTokenFailure?)] = [
            (.id.claim("exp", nil), .expiryMissing), (.id.claim("exp", "1800003600"), .expiryMissing),
            (.id.claim("nonce", nil), .nonce), (.id.claim("nonce", 1), .nonce), (several, .authorizedParty),
            (several.claim("azp", "other"), .authorizedParty), (several.claim("azp", client), nil),
            (.id.claim("aud", [client]), nil),
        ]
        let checked = OktaValidatorOptions.id.with { $0.checksExpiry = true }
        for (token, failure) in cases {
            let text = try token.signed()
            expect(await OktaTokenValidator().failure(of: text), is: failure, "\(token.claims)")
            expect(await OktaTokenValidator(checked, .observed).failure(of: text), is: nil, "\(token.claims)")
        }
    }

    @Test("compares cid, scopes and claims of the app in an access token") func accessToken() async throws {
        let token = try TestToken.access.signed()
        let client = OktaValidatorOptions.access.with { $0.clientID = TestToken.client }
        let cases: [(OktaValidatorOptions, OktaTokenFailure?)] = [
            (client, nil), (.access.with { $0.clientID = "x" }, .client), (.access.with { $0.scopes = "openid" }, nil),
            (.access.with { $0.scopes = "openid admin" }, .scope), (.access.with { $0.scopes = " " }, nil),
            (.access.with { $0.claims = ["uid": "00uunderstudyada0001"] }, nil),
            (.access.with { $0.claims = ["uid": "x"] }, .claim), (.access.with { $0.claims = ["ver": "1"] }, .claim),
            (.access.with { $0.claims = ["none": "1"] }, .claim),
        ]
        for (options, failure) in cases {
            expect(await OktaTokenValidator(options).failure(of: token), is: failure, "\(options)")
        }
        expect(await OktaTokenValidator(client, .observed).failure(of: token), is: nil)
        let foreign = OktaValidatorOptions.access.with { $0.clientID = "x" }
        expect(await OktaTokenValidator(foreign, .observed).failure(of: token), is: .claim)
        let scopes = OktaValidatorOptions.access.with { $0.scopes = "openid" }
        expect(await OktaTokenValidator(scopes, .observed).failure(of: token), is: .claim, "an array never fits")
        for (name, value) in [("scp", JSON("openid x")), ("scope", "openid x")] {
            let text = try TestToken.access.claim("scp", nil).claim(name, value).signed()
            expect(await OktaTokenValidator(scopes).failure(of: text), is: nil)
        }
    }

    @Test("takes RS256 alone, and a signature by the key that the token names") func signatures() async throws {
        let rs384 = try TestToken.id.signedAndNamed(by: TestKey.current, .rs384)
        expect(await OktaTokenValidator().failure(of: rs384), is: .algorithm)
        expect(await OktaTokenValidator(.id, .observed).failure(of: rs384), is: nil)
        let cases: [(String, OktaTokenFailure)] = [
            (try TestToken.id.signed(defect: .noAlgorithm), .algorithm),
            (try TestToken.id.signed(defect: .publicKeyAsSecret), .algorithm),
            (try TestToken.id.header("kid", nil).signed(), .keyIDMissing),
            (try TestToken.id.header("kid", 7).signed(), .keyIDMissing),
            (try TestToken.id.header("kid", "unknown").signed(), .noKey),
            (try TestToken.id.signed(defect: .badSignature), .signature),
            (try TestToken.id.signed(defect: .tamperedPayload), .signature),
            (try TestToken.id.signed(by: TestKey.impostor), .signature),
        ]
        for (token, failure) in cases { expect(await OktaTokenValidator().failure(of: token), is: failure, "\(token)") }
    }

    @Test("takes a given key instead of asking anybody") func givenKeys() async throws {
        let issuer = TestIssuer()
        let token = try TestToken.id.signed()
        func failure(_ keys: OktaKeys, _ token: String) async -> OktaTokenFailure? {
            await OktaTokenValidator(issuer: issuer, keys: keys).failure(of: token)
        }
        let current = TestKey.current.published
        expect(await failure(.jwk(current, fetch: issuer.fetch), token), is: nil)
        expect(await failure(.jwk(TestKey.next.published), token), is: .keyIDMismatch)
        expect(await failure(.jwk(TestKey.current.published(["n": "!"])), token), is: .key)
        let unnamed = try TestToken.id.header("kid", nil).signed()
        expect(await failure(.jwk(current), unnamed), is: .keyIDMissing)
        expect(await failure(.jwk(TestKey.current.published(["kid": nil])), unnamed), is: nil)
        let pem = try OktaKeys.rsa(pem: TestKey.current.publicPEM ?? "")
        expect(await failure(pem, unnamed), is: nil)
        expect(await failure(.rsa(TestKey.next.verificationKey), unnamed), is: .signature)
        expect(issuer.asked, is: [])
    }

    @Test("asks once for a new name, and once more when a key fails that it had kept") func rotation() async throws {
        let (current, next) = (TestKey.current.published, TestKey.next.published)
        let issuer = TestIssuer([current, next])
        let validator = OktaTokenValidator(issuer: issuer)
        let (old, new) = (try TestToken.id.signed(), try TestToken.id.signedAndNamed(by: TestKey.next))
        #expect(await validator.failure(of: old) == nil && issuer.keyFetches == 1)
        #expect(await validator.failure(of: old) == nil && issuer.keyFetches == 1)
        #expect(await validator.failure(of: new) == nil && issuer.keyFetches == 2)
        issuer.publish([TestKey.impostor.published])
        let later = OktaTokenValidator(issuer: issuer)
        expect(await later.failure(of: try TestToken.id.signed(by: TestKey.impostor)), is: nil)
        let fetches = issuer.keyFetches
        issuer.publish([current])
        #expect(await later.failure(of: old) == nil && issuer.keyFetches == fetches + 1)
        expect(issuer.asked.count, is: 2 * issuer.keyFetches)
        let observed = OktaTokenValidator(.id, .observed, issuer: issuer)
        expect(await observed.failure(of: old), is: nil)
        issuer.publish([TestKey.impostor.published])
        let asked = issuer.keyFetches
        expect(await observed.failure(of: try TestToken.id.signed(by: TestKey.impostor)), is: .signature)
        expect(issuer.keyFetches, is: asked, "the shipped library keeps a key for ever")
    }

    @Test("tells what is wrong with an issuer that gives no key as the shipped library does")
    func brokenIssuers() async throws {
        let token = try TestToken.id.signed()
        for (path, answer, failure) in [
            (TestIssuer.keysPath, .oktaError(500, "E0000009"), .noKey),
            (TestIssuer.discoveryPath, .failed(.unreachable("127.0.0.1:1 cannot be reached.")), .noWellKnown),
            (TestIssuer.discoveryPath, .oktaError(404, "E0000007"), .noKeysURL),
        ] as [(String, KeyAnswer, OktaTokenFailure)] {
            let issuer = TestIssuer()
            issuer.answer(path, answer)
            expect(await OktaTokenValidator(.id, .observed, issuer: issuer).failure(of: token), is: failure)
        }
    }
}
