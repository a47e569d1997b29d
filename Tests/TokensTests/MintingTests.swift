import Expectations
import JSON
import Testing
import Tokens

@Suite("Minting") struct MintingTests {
    static let moment = 1_800_000_000.0
    static let secretText = "5e8f02c17ab94d365e8f02c17ab94d36"
    static let draft = TokenDraft(
        header: ["alg": "HS256", "typ": "JWT", "kid": "k"],
        claims: ["sub": "mira", "iat": 1_799_999_900, "nbf": 1_799_999_900, "exp": 1_800_001_800])

    static func token(
        _ defect: Defect?, key: SigningKey? = nil, _ algorithm: Algorithm = .hs256
    ) throws -> CompactToken {
        var draft = draft
        draft.header["alg"] = .string(algorithm.rawValue)
        return CompactToken(
            try draft.mint(key: key ?? .secret(secretText), algorithm: algorithm, defect: defect, at: moment))
    }

    /// The checks that fail when a strict server verifies the token.
    static func failures(_ token: CompactToken, _ key: VerificationKey, _ algorithm: Algorithm) -> [String] {
        let findings =
            token.structure + [
                token.algorithm(is: algorithm), token.type(is: "JWT", required: true), token.critical(),
                token.signature(by: key, algorithm: algorithm), token.headerMember("kid", is: .nonEmptyString),
                token.claim("sub", is: .string), token.claim("exp", is: .integer), token.claim("iat", is: .integer),
                token.expiry(at: moment), token.notBefore(at: moment), token.issuedAt(at: moment),
                token.lifetime(atMost: 1900, from: .claims(["nbf", "iat"])),
            ]
        return findings.filter { $0.outcome == .failed }.map(\.check)
    }

    @Test("yields tokens that every check passes", arguments: Algorithm.allCases)
    func good(_ algorithm: Algorithm) throws {
        let key = try Attack.key(for: algorithm)
        let token = try Self.token(nil, key: key, algorithm)
        expect(Self.failures(token, key.verificationKey, algorithm), is: [])
    }

    @Test(
        "makes each defect break exactly its own checks",
        arguments: [
            (Defect.expired, ["expiry"]), (.notYetValid, ["not-before"]),
            (.missing("sub"), ["claim-sub-present"]), (.missing("kid"), ["header-kid-present"]),
            (.missing("typ"), ["type"]), (.missing("alg"), ["algorithm"]),
            (.missing("exp"), ["claim-exp-present", "expiry"]),
            (.wrongAlgorithm, ["algorithm", "signature"]), (.noAlgorithm, ["algorithm", "signature"]),
            (.wrongSecret, ["signature"]), (.wrongKey, ["signature"]),
            (.secretBase64Decoded, ["signature"]), (.secretHexDecoded, ["signature"]),
            (.tamperedPayload, ["signature"]), (.badSignature, ["signature"]), (.truncatedSignature, ["signature"]),
            (.paddedBase64, ["header-base64url", "payload-base64url", "signature-base64url", "signature"]),
            (.twoParts, ["parts", "signature"]), (.fourParts, ["parts", "signature"]),
            (.milliseconds, ["not-before", "issued-at", "lifetime"]),
            (.stringExpiry, ["claim-exp-present", "expiry"]), (.fractionalExpiry, ["claim-exp-present"]),
        ])
    func defects(_ defect: Defect, _ failures: [String]) throws {
        let token = try Self.token(defect)
        let found = Self.failures(token, try .secret(Self.secretText), .hs256)
        // The padding of a part depends only on its length.
        expect(found, is: failures.filter { found.contains($0) || !$0.hasSuffix("base64url") })
        expect(found.isEmpty, is: false)
    }

    @Test("makes the defects of key pairs, each verified by what it was made with") func keyPairs() throws {
        for algorithm in [Algorithm.rs256, .ps384, .es256, .es384, .es512, .edDSA] {
            let key = try Attack.key(for: algorithm)
            let pem = try #require(key.publicPEM)
            let confused = try Self.token(.publicKeyAsSecret, key: key, algorithm)
            let hmac: Algorithm = [.es512: .hs512, .ps384: .hs384, .es384: .hs384][algorithm] ?? .hs256
            expect(try confused.signature(by: .secret(pem), algorithm: hmac).outcome, is: .passed)
            expect(confused.algorithm(is: hmac).outcome, is: .passed)
            expect(Self.failures(confused, key.verificationKey, algorithm), is: ["algorithm", "signature"])
            let wrong = try Self.token(.wrongKey, key: key, algorithm)
            expect(Self.failures(wrong, key.verificationKey, algorithm), is: ["signature"])
            let named = try Self.token(.wrongAlgorithm, key: key, algorithm)
            expect(Self.failures(named, key.verificationKey, algorithm).first, is: "algorithm")
        }
    }

    @Test("signs with exactly the mistaken secret that the defect names") func mistakenSecrets() throws {
        let hex: [UInt8] = [0x5E, 0x8F, 0x02, 0xC1, 0x7A, 0xB9, 0x4D, 0x36]
        let token = try Self.token(.secretHexDecoded)
        expect(try token.signature(by: .secret(hex + hex), algorithm: .hs256).outcome, is: .passed)
        let key = try SigningKey.secret("c2VjcmV0")
        let decoded = try Self.token(.secretBase64Decoded, key: key)
        expect(try decoded.signature(by: .secret("secret"), algorithm: .hs256).outcome, is: .passed)
    }

    @Test("moves times so that their order stays, an hour from now") func times() throws {
        func times(_ defect: Defect, _ names: String...) throws -> [JSON?] {
            let claims = try #require(try Self.token(defect).claims)
            return names.map { claims[$0] }
        }
        expect(try times(.expired, "iat", "nbf", "exp"), is: [1_799_994_500, 1_799_994_500, 1_799_996_400])
        expect(try times(.notYetValid, "nbf", "exp"), is: [1_800_003_600, 1_800_005_400])
        expect(try times(.milliseconds, "iat", "exp"), is: [1_799_999_900_000, 1_800_001_800_000])
        expect(try times(.stringExpiry, "exp"), is: ["1800001800"])
        expect(try Self.token(.fractionalExpiry).claims?["exp"]?.number?.literal, is: "1800001799.25")
    }

    @Test("lets an expired token stay as it is") func alreadyExpired() throws {
        var draft = Self.draft
        draft.claims["exp"] = 1_000
        let text = try draft.mint(key: .secret("s"), algorithm: .hs256, defect: .expired, at: Self.moment)
        expect(CompactToken(text).claims?["exp"], is: 1_000)
        draft.claims["exp"] = nil
        let added = try draft.mint(key: .secret("s"), algorithm: .hs256, defect: .expired, at: Self.moment)
        expect(CompactToken(added).claims?["exp"], is: 1_799_996_400)
    }

    @Test(
        "says why a defect is not possible",
        arguments: [
            (Defect.missing("nonce"), "the token has neither a claim nor a header member “nonce” to leave out"),
            (.secretHexDecoded, "the secret is not an even number of hexadecimal digits"),
            (.secretBase64Decoded, "the secret is not base64 text"),
            (.publicKeyAsSecret, "a secret has no public key"),
        ])
    func notPossible(_ defect: Defect, _ reason: String) {
        expect(throws: MintError.notApplicable(defect, reason)) {
            try Self.token(defect, key: .secret("not hex, not base64!"))
        }
    }

    @Test(
        "says why a defect of secrets is not possible for a key pair",
        arguments: [Defect.wrongSecret, .secretHexDecoded, .secretBase64Decoded])
    func noSecret(_ defect: Defect) throws {
        let key = try Attack.key(for: .rs256)
        expect(throws: MintError.notApplicable(defect, "the key is not a secret but an RSA key of 2048 bits")) {
            try Self.token(defect, key: key, .rs256)
        }
    }

    @Test(
        "says why a defect of times is not possible without times",
        arguments: [Defect.milliseconds, .stringExpiry, .fractionalExpiry])
    func noTimes(_ defect: Defect) throws {
        let draft = TokenDraft(header: ["alg": "HS256"], claims: ["exp": "soon"])
        let key = try SigningKey.secret("s")
        expect(throws: MintError.self) { try draft.mint(key: key, algorithm: .hs256, defect: defect, at: 0) }
    }

    @Test("refuses an algorithm that the key cannot do") func wrongKind() throws {
        let key = try SigningKey.secret("s")
        expect(throws: MintError.key(.algorithm("RS256"))) { try Self.draft.mint(key: key, algorithm: .rs256) }
        let p256 = try Attack.key(for: .es256)
        expect(throws: MintError.key(.algorithm("ES384"))) { try Self.draft.mint(key: p256, algorithm: .es384) }
    }

    @Test("gives equal tokens for equal input where the algorithm is deterministic") func deterministic() throws {
        for algorithm in [Algorithm.hs256, .rs256, .edDSA] {
            let key = try Attack.key(for: algorithm)
            for defect in [nil, Defect.wrongKey, .tamperedPayload, .badSignature] {
                let token = try Self.token(defect, key: key, algorithm)
                expect(try Self.token(defect, key: key, algorithm).bytes, is: token.bytes)
            }
        }
    }

    @Test("puts an absent alg in front, and leaves one that is there alone") func algorithmMember() throws {
        let key = try SigningKey.secret("s")
        let added = try TokenDraft(header: ["typ": "JWT"], claims: [:]).mint(key: key, algorithm: .hs384)
        expect(CompactToken(added).header, is: ["alg": "HS384", "typ": "JWT"])
        let kept = try TokenDraft(header: ["alg": "anything"], claims: [:]).mint(key: key, algorithm: .hs384)
        expect(CompactToken(kept).header, is: ["alg": "anything"])
        expect(try CompactToken(kept).signature(by: .secret("s"), algorithm: .hs384).outcome, is: .passed)
    }

    @Test("writes repeated members, so that duplicates can be made") func repeated() throws {
        var claims: JSONObject = ["exp": 1]
        claims.append("exp", 2)
        let token = try TokenDraft(header: [:], claims: claims).mint(key: .secret("s"), algorithm: .hs256)
        expect(CompactToken(token).claims, is: claims)
    }

    @Test("knows every defect by its name") func names() throws {
        expect(Defect.names.count, is: 19)
        for name in Defect.names where name != "missing-CLAIM" { expect(try Defect(named: name).name, is: name) }
        expect(try Defect(named: "missing-device_id"), is: .missing("device_id"))
        for name in ["", "missing-", "missing", "Expired", "expired ", "caf\u{E9}"] {
            expect(throws: MintError.unknownDefect(name)) { try Defect(named: name) }
        }
    }
}
