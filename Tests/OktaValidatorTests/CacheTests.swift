import Emulation
import Expectations
import JSON
import Testing
import Tokens

@testable import OktaValidator

@Suite("The cache of keys") struct CacheTests {
    private static let current = TestKey.current.published
    private static let next = TestKey.next.published

    @Test("is asked before any network, and shared by the copies of a validator") func kept() async throws {
        let issuer = TestIssuer()
        let validator = OktaTokenValidator(issuer: issuer)
        let copy = validator
        let token = try TestToken.id.signed()
        expect(try await validator.validate(token).keyOrigin, is: .discovery)
        issuer.answer(TestIssuer.discoveryPath, .failed(.slow(within: KeyRequest.timeLimit)))
        expect(try await copy.validate(token).keyOrigin, is: .cache)
        expect(issuer.asked, is: [TestIssuer.base + TestIssuer.discoveryPath, TestIssuer.base + TestIssuer.keysPath])
    }

    @Test("serves a call that makes no request") func synchronous() async throws {
        let validator = OktaTokenValidator()
        let token = try TestToken.id.signed()
        _ = try await validator.validate(token)
        func origin() throws -> OktaKeyOrigin { try validator.validate(token).keyOrigin }
        expect(try origin(), is: .cache)
    }

    @Test("drops the keys of an issuer when it lacks a name, also when nobody answers") func dropped() async throws {
        let issuer = TestIssuer([Self.current, Self.next])
        let validator = OktaTokenValidator(issuer: issuer)
        let old = try TestToken.id.signed()
        expect(await validator.failure(of: old), is: nil)
        issuer.answer(TestIssuer.keysPath, .failed(.slow(within: KeyRequest.timeLimit)))
        expect(await validator.failure(of: try TestToken.id.header("kid", "x").signed()), is: .offline)
        expect(await validator.failure(of: old), is: .offline)
        issuer.answer(TestIssuer.keysPath, nil)
        expect(await validator.failure(of: old), is: nil)
        expect(issuer.keyFetches, is: 4)
    }

    @Test("drops nothing in the shipped library") func shippedKeeps() async throws {
        let issuer = TestIssuer([Self.current, Self.next])
        let validator = OktaTokenValidator(.id, .observed, issuer: issuer)
        expect(await validator.failure(of: try TestToken.id.signed()), is: nil)
        expect(await validator.failure(of: try TestToken.id.header("kid", "x").signed()), is: .noKey)
        expect(await validator.failure(of: try TestToken.id.signed()), is: nil)
        expect(issuer.keyFetches, is: 2)
    }

    @Test("asks no more than once again, and keeps what it got") func retry() async throws {
        let issuer = TestIssuer()
        let validator = OktaTokenValidator(issuer: issuer)
        let good = try TestToken.id.signed()
        expect(await validator.failure(of: good), is: nil)
        let forged = try TestToken.id.signed(by: TestKey.next)
        expect(await validator.failure(of: forged), is: .signature)
        expect(issuer.keyFetches, is: 2)
        expect(await validator.failure(of: good), is: nil)
        expect(issuer.keyFetches, is: 2)
        issuer.answer(TestIssuer.keysPath, .failed(.slow(within: KeyRequest.timeLimit)))
        expect(await validator.failure(of: forged), is: .offline)
        let fresh = OktaTokenValidator(issuer: TestIssuer())
        expect(await fresh.failure(of: forged), is: .signature, "a fetched key is not fetched again")
    }

    @Test("asks nobody for a token whose claims are wrong") func wrongClaims() async throws {
        let issuer = TestIssuer()
        let validator = OktaTokenValidator(issuer: issuer)
        let foreign = try #require(await validator.error(of: try TestToken.id.claim("aud", "x").signed()))
        #expect(foreign.failure == .audience && issuer.asked == [])
        let undecided = foreign.findings.filter { $0.outcome == .notJudged }.map(\.check)
        expect(undecided, is: ["key", "signature"])
        expect(await validator.failure(of: try TestToken.id.signed()), is: nil)
        let forged = try TestToken.id.claim("aud", "x").signed(by: TestKey.next)
        let error = try #require(await validator.error(of: forged))
        #expect(error.failure == .audience && issuer.keyFetches == 1)
        expect(error.findings.filter { $0.outcome == .failed }.map(\.check), is: ["audience", "signature"])
    }

    @Test("tells issuers apart, except in the shipped library") func issuers() async throws {
        let cache = OktaKeyCache()
        let other = "http://localhost:8080"
        func keys(_ issuer: TestIssuer) -> OktaKeys { .discovery(cache: cache, fetch: issuer.fetch) }
        let (first, second) = (TestIssuer(), TestIssuer([TestKey.impostor.published], name: other))
        let own = try TestToken.id.signed()
        let strange = try TestToken.id.claim("iss", .string(other)).signed(by: TestKey.impostor)
        let options = OktaValidatorOptions.id.with { $0.issuer = other }
        expect(await OktaTokenValidator(keys: keys(first)).failure(of: own), is: nil)
        expect(await OktaTokenValidator(options, keys: keys(second)).failure(of: strange), is: nil)
        expect(await OktaTokenValidator(keys: keys(first)).failure(of: own), is: nil)
        #expect(first.keyFetches == 1 && second.keyFetches == 1)
        expect(await OktaTokenValidator(.id, .observed, keys: keys(first)).failure(of: own), is: nil)
        expect(await OktaTokenValidator(options, .observed, keys: keys(second)).failure(of: strange), is: .signature)
    }

    @Test("wins over a JWK in the shipped library, which is kept, and not otherwise") func jwks() async throws {
        let (good, impostor) = (try TestToken.id.signed(), TestKey.impostor.published)
        for profile in BehaviourProfile.allCases {
            let cache = OktaKeyCache()
            let first = OktaTokenValidator(.id, profile, keys: .jwk(Self.current, cache: cache))
            expect(try await first.validate(good).keyOrigin, is: .jwk)
            let second = OktaTokenValidator(.id, profile, keys: .jwk(impostor, cache: cache))
            expect(await second.failure(of: good), is: (profile == .observed ? nil : .signature))
            let forged = try TestToken.id.signed(by: TestKey.impostor)
            expect(await second.failure(of: forged), is: (profile == .observed ? .signature : nil))
        }
        let issuer = TestIssuer()
        let unnamed = TestKey.next.published(["kid": nil])
        let keys = OktaKeys.jwk(unnamed, fetch: issuer.fetch)
        expect(await OktaTokenValidator(.id, keys: keys).failure(of: good), is: .signature)
        expect(await OktaTokenValidator(.id, .observed, keys: keys).failure(of: good), is: nil, "set aside")
        expect(await OktaTokenValidator(.id, .observed, keys: .jwk(unnamed)).failure(of: good), is: .noWellKnown)
    }

    /// Validates a good token fifty times at once, while the issuer holds its answers.
    private func validateAtOnce(_ validator: OktaTokenValidator, _ issuer: TestIssuer) async throws {
        let token = try TestToken.id.signed()
        let asked = issuer.asked.count
        issuer.hold()
        let failures = await withTaskGroup(of: OktaTokenFailure?.self) { group in
            for _ in 0..<50 { group.addTask { await validator.failure(of: token) } }
            await issuer.waitForRequest(after: asked)
            issuer.release()
            return await group.reduce(into: [OktaTokenFailure?]()) { $0.append($1) }
        }
        #expect(failures.count == 50 && failures.allSatisfy { $0 == nil })
    }

    @Test("lets concurrent look-ups of a name share one fetch") func concurrent() async throws {
        let issuer = TestIssuer()
        try await validateAtOnce(OktaTokenValidator(issuer: issuer), issuer)
        expect(issuer.asked.count, is: 2)
    }

    @Test("lets concurrent tokens that fail with a kept key share the fetch of the next")
    func concurrentRetries() async throws {
        let issuer = TestIssuer([TestKey.impostor.published])
        let validator = OktaTokenValidator(issuer: issuer)
        expect(await validator.failure(of: try TestToken.id.signed(by: TestKey.impostor)), is: nil)
        issuer.publish([Self.current])
        try await validateAtOnce(validator, issuer)
        expect(issuer.keyFetches, is: 2)
    }

    @Test("goes on fetching for the others when the one who began is cancelled") func cancelled() async throws {
        let issuer = TestIssuer()
        let validator = OktaTokenValidator(issuer: issuer)
        let token = try TestToken.id.signed()
        issuer.hold()
        let first = Task { await validator.failure(of: token) }
        await issuer.waitForRequest()
        let second = Task { await validator.failure(of: token) }
        first.cancel()
        issuer.release()
        expect(await second.value, is: nil)
        expect(issuer.keyFetches, is: 1)
    }

    @Test("is bounded") func bounded() throws {
        let cache = OktaKeyCache()
        func place(_ number: Int) -> OktaKeyCache.Place { .init(issuer: nil, kid: .init("\(number)")) }
        for number in 0...OktaKeyCache.mostKeys { cache.keep(TestKey.current.verificationKey, at: place(number)) }
        #expect(cache.entry(at: place(0)) == nil && cache.entry(at: place(OktaKeyCache.mostKeys)) != nil)
    }

    @Test("does not save the shipped library from asking the issuer for its name each time")
    func shippedIssuer() async throws {
        let issuer = TestIssuer(name: "http://elsewhere")
        let token = try TestToken.id.signed()
        expect(await OktaTokenValidator(.id, .observed, issuer: issuer).failure(of: token), is: .issuer)
        let elsewhere = try TestToken.id.claim("iss", "http://elsewhere").signed()
        let validator = OktaTokenValidator(.id, .observed, issuer: issuer)
        expect(await validator.failure(of: elsewhere), is: nil)
        let asked = issuer.asked.count
        expect(await validator.failure(of: elsewhere), is: nil)
        expect(issuer.asked.count, is: asked + 1)
        expect(await validator.failure(of: "x"), is: .malformed)
        expect(issuer.asked.count, is: asked + 1, "the form comes first")
        issuer.answer(TestIssuer.discoveryPath, .json(["jwks_uri": "http://elsewhere/v1/keys"]))
        expect(await validator.failure(of: token), is: nil, "without a name the option counts")
        expect(await OktaTokenValidator(.id, .documented, issuer: issuer).failure(of: elsewhere), is: .issuer)
    }
}
