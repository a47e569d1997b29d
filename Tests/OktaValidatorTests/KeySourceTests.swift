import Emulation
import Expectations
import JSON
import Mutations
import TestKeys
import Testing
import Tokens

@testable import OktaValidator

@Suite("The keys of a validator") struct KeySourceTests {
    private let token: String
    private let unnamed: String

    init() throws {
        token = try TestToken.id.signed()
        unnamed = try TestToken.id.header("kid", nil).signed()
    }

    private func failure(
        _ keys: OktaKeys, _ token: String? = nil, _ profile: BehaviourProfile = .documented
    ) async -> OktaTokenFailure? {
        await OktaTokenValidator(.id, profile, keys: keys).failure(of: token ?? self.token)
    }

    private static func numbers(_ key: SigningKey) throws -> (n: [UInt8], e: [UInt8]) {
        func bytes(_ name: String) throws -> [UInt8] { try Base64URL.decode((key.published[name]?.string ?? "").utf8) }
        return (try bytes("n"), try bytes("e"))
    }

    @Test("may be modulus and exponent, a public key or a certificate, in DER or PEM") func rsaKeys() async throws {
        let (n, e) = try Self.numbers(TestKey.current)
        expect(await failure(try .rsa(modulus: n, exponent: e), unnamed), is: nil)
        expect(await failure(try .rsa(modulus: [0] + n, exponent: e), unnamed), is: nil)
        let der = try #require(TestKey.current.verificationKey.publicDER)
        expect(await failure(try .rsa(der: der), unnamed), is: nil)
        expect(await failure(try .rsa(pem: TestKey.current.publicPEM ?? ""), unnamed), is: nil)
        #expect(throws: KeyError.self) { try OktaKeys.rsa(der: Array(der.dropLast())) }
        #expect(throws: KeyError.self) { try OktaKeys.rsa(modulus: [], exponent: e) }
        #expect(throws: KeyError.noKeyInPEM) { try OktaKeys.rsa(pem: "nothing") }
        let ec = try #require(TestKey.ec)
        #expect(throws: KeyError.algorithm("RS256")) { try OktaKeys.rsa(pem: ec.publicPEM ?? "") }
        #expect(throws: KeyError.algorithm("RS256")) { try OktaKeys.rsa(der: ec.verificationKey.publicDER ?? []) }
    }

    @Test("may be a certificate, whose key alone is read") func certificates() async throws {
        let signer = try SigningKey.pem(TestPEM.rsaPrivate)
        let token = try TestToken.id.signed(by: signer)
        expect(await failure(try .rsa(pem: TestPEM.rsaCertificate), token), is: nil)
        let lines = TestPEM.rsaCertificate.split(separator: "\n").filter { !$0.hasPrefix("-") }.joined()
        let der = try #require(Base64URL.decodeLeniently(lines.utf8))
        expect(await failure(try .rsa(der: der), token), is: nil)
        expect(await failure(try .rsa(der: der), self.token), is: .signature)
    }

    @Test("are read from a JWK by type and numbers alone") func jwkMembers() async throws {
        let (n, _) = try Self.numbers(TestKey.current)
        let zero = JSON.string(Base64URL.encode([0] + n))
        let cases: [(String, [String: JSON?], OktaTokenFailure?)] = [
            ("leading zero", ["n": zero], nil), ("others", ["x5c": ["a"], "key_ops": ["sign"], "use": "enc"], nil),
            ("no n", ["n": nil], .key), ("e", ["e": "AA"], .key), ("even n", ["n": "AAAA"], .key),
            ("number", ["n": 7], .key),
            ("EC", ["kty": "EC"], .key), ("no type", ["kty": nil], .key), ("padding", ["e": "AQAB=="], .key),
            ("other name", ["kid": "x"], .keyIDMismatch), ("name no string", ["kid": 7], .keyIDMismatch),
        ]
        for (name, changes, expected) in cases {
            let jwk = TestKey.current.published(changes)
            expect(await failure(.jwk(jwk)), is: expected, "\(name)")
            if changes["kid"] == nil { expect(await failure(in: [jwk]), is: expected, "\(name) in a set") }
        }
        let repeated = JSON.object(
            JSONObject((TestKey.current.published.object ?? [:]).map { ($0.name, $0.value) } + [("n", "AQAB")]))
        expect(await failure(.jwk(repeated)), is: .key)
        for type in ["kty": JSON("EC"), "e": "AQAB=="] {
            let jwk = TestKey.current.published([type.key: type.value])
            expect(await failure(.jwk(jwk), nil, .observed), is: nil, "the shipped library reads only the numbers")
        }
    }

    private func failure(in set: [JSON], _ profile: BehaviourProfile = .documented) async -> OktaTokenFailure? {
        await OktaTokenValidator(.id, profile, issuer: TestIssuer(set)).failure(of: token)
    }

    @Test("are strings in a set that the shipped library reads, up to the one that it wants")
    func members() async throws {
        let good = TestKey.current.published
        let odd = TestKey.next.published(["x5c": ["a"]])
        for strange in [odd, TestKey.next.published(["nbf": 7]), 7, TestKey.current.published(["x5c": []])] {
            let isWanted = strange["kid"] == good["kid"]
            let set = isWanted ? [strange] : [strange, good]
            expect(await failure(in: set), is: nil)
            let validator = OktaTokenValidator(.id, .observed, issuer: TestIssuer(set))
            let error = try #require(await validator.error(of: token))
            #expect(error.failure == .noKey && error.shippedName == nil, "it throws nothing, but stops the app")
            #expect(error.detail.contains("stops the app"))
        }
        expect(await failure(in: [good, odd], .observed), is: nil)
        expect(await failure(in: [TestKey.next.published(["kid": nil]), good], .observed), is: nil)
    }

    @Test("are the first of a name, whatever else a set has") func sets() async throws {
        let (current, next) = (TestKey.current.published, TestKey.next.published)
        expect(await failure(in: [next, .null, [], current, TestKey.impostor.published]), is: nil)
        expect(await failure(in: [TestKey.impostor.published, current]), is: .signature)
        expect(await failure(in: []), is: .noKey)
    }

    @Test("may be several, of which the token names one") func given() async throws {
        let keys = [TestKey.current, TestKey.next].map(\.verificationKey)
        expect(await failure(.set(keys)), is: nil)
        expect(await failure(.set(keys), unnamed), is: .keyIDMissing)
        expect(await failure(.set([keys[1]])), is: .noKey)
        expect(await failure(.set([])), is: .noKey)
        let ec = try #require(TestKey.ec)
        expect(await failure(.set([ec.verificationKey]), try TestToken.id.header("kid", "ec").signed()), is: .key)
    }

    @Test("need no waiting where they are given") func synchronous() throws {
        let given = OktaTokenValidator(keys: .rsa(TestKey.current.verificationKey))
        expect(try given.validate(token).keyOrigin, is: .rsaKey)
        #expect(try given.isValid(unnamed))
        let issuer = TestIssuer()
        let error = #expect(throws: OktaTokenError.self) { try OktaTokenValidator(issuer: issuer).validate(self.token) }
        #expect(error?.failure == .noWellKnown && issuer.asked == [])
        expect(error?.detail, is: "the key has to be fetched, and this call makes no request")
    }

    private static let absences: [(KeyAnswer, OktaTokenFailure, OktaTokenFailure)] = [
        (.failed(.slow(within: KeyRequest.timeLimit)), .offline, .offline),
        (.failed(.connectionLost), .offline, .offline),
        (.failed(.unreachable("x")), .noWellKnown, .noKey), (.failed(.tooLarge), .noWellKnown, .noKey),
        (.json([]), .noWellKnown, .noKey), (.json(["keys": "x", "jwks_uri": 7]), .noKeysURL, .noKey),
        (.json(["keys": []], status: 503), .noWellKnown, .noKey),
        (.answered(.ok, cacheControl: [], body: Array("<html>".utf8)), .noWellKnown, .noKey),
        (.answered(.ok, cacheControl: [], body: []), .noWellKnown, .noKey),
        (.json(["keys": .string(String(repeating: "x", count: 300_000))]), .noWellKnown, .noKey),
    ]

    @Test("that are not to be had say why", arguments: absences.indices) func absent(_ index: Int) async throws {
        let (answer, document, keys) = Self.absences[index]
        for (path, failure) in [(TestIssuer.discoveryPath, document), (TestIssuer.keysPath, keys)] {
            let issuer = TestIssuer()
            issuer.answer(path, answer)
            let error = try #require(await OktaTokenValidator(issuer: issuer).error(of: token))
            expect(error.failure, is: failure, "\(error.detail)")
            #expect(error.detail.contains(path) || failure == .noKeysURL)
        }
    }

    @Test("are read from an answer of any status by the shipped library") func anyStatus() async throws {
        let issuer = TestIssuer()
        issuer.answer(TestIssuer.keysPath, .json(["keys": [TestKey.current.published]], status: 500))
        expect(await OktaTokenValidator(issuer: issuer).failure(of: token), is: .noKey)
        expect(await OktaTokenValidator(.id, .observed, issuer: issuer).failure(of: token), is: nil)
    }
}

@Suite("Hostile tokens") struct HostileTokenTests {
    private static func encoded(_ text: String) -> String { Base64URL.encode(Array(text.utf8)) }

    @Test("are refused as malformed, and nobody is asked for their keys", arguments: BehaviourProfile.allCases)
    func malformed(_ profile: BehaviourProfile) async throws {
        let good = try TestToken.id.signed()
        let parts = good.split(separator: ".").map(String.init)
        func with(header: String) -> String { "\(Self.encoded(header)).\(parts[1]).\(parts[2])" }
        func with(payload: String) -> String { "\(parts[0]).\(Self.encoded(payload)).\(parts[2])" }
        let deep = String(repeating: "[", count: 3000)
        let texts = [
            "", ".", "..", "...", "a.b.c", "\(good).x", " \(good)", "\(good)\n", "\(parts[0]).\(parts[1])",
            String(repeating: "a", count: 1 << 20), String(repeating: ".", count: 10_000),
            with(header: "[]"), with(header: "{}"), with(header: #"{"alg":7}"#), with(header: #"{"alg":""}"#),
            with(header: #"{"alg":"RS256","alg":"none"}"#), with(header: #"{"alg":"RS256","typ":"at+jwt"}"#),
            with(header: #"{"alg":"RS256","x":\#(deep)"#), with(payload: "7"), with(payload: #"{"exp":1,"exp":2}"#),
            with(payload: #"{"x":\#(deep)}"#), with(payload: ""), "\u{202E}\(good)",
        ]
        let issuer = TestIssuer()
        let validator = OktaTokenValidator(.id, profile, issuer: issuer)
        for text in texts { expect(await validator.failure(of: text), is: .malformed, "\(text.prefix(80))") }
        expect(issuer.asked, is: [])
    }

    @Test("cut off anywhere are refused") func truncated() async throws {
        let good = try TestToken.id.signed()
        let validator = OktaTokenValidator(keys: .rsa(TestKey.current.verificationKey))
        for count in stride(from: 0, to: good.utf8.count, by: 7) {
            #expect(await validator.failure(of: String(good.prefix(count))) != nil)
        }
    }

    @Test("of any change are refused, and only the unchanged one is valid", arguments: BehaviourProfile.allCases)
    func mutated(_ profile: BehaviourProfile) throws {
        let good = Array(try TestToken.id.signed().utf8)
        let content = CompactToken(bytes: good)
        let validator = OktaTokenValidator(.id, profile, keys: .rsa(TestKey.current.verificationKey))
        var random = SeededGenerator(seed: 0x0C7A)
        var valid = 0
        for _ in 0..<2_500 {
            var bytes = good
            for _ in 0..<Int.random(in: 0...2, using: &random) { Mutation.apply(to: &bytes, using: &random) }
            let judgement = validator.judge.judgement(bytes, at: validator.clock())
            guard (try? judgement.result()) != nil else { continue }
            valid += 1
            // A lenient reader takes more than one text for the same bytes, but never for others.
            let read = CompactToken(bytes: bytes, encoding: profile == .documented ? .strict : .lenient)
            let isSame = read.claims == content.claims && read.header == content.header
            #expect(bytes == good || profile == .observed && isSame && read.signature == content.signature)
        }
        #expect(valid > 500)
    }

    @Test("with padding or the standard alphabet are taken by the shipped library alone")
    func encodings() async throws {
        let padded = try TestToken.id.signed() + "=="
        expect(await OktaTokenValidator().failure(of: padded), is: .malformed)
        expect(await OktaTokenValidator(.id, .observed).failure(of: padded), is: nil)
    }

    @Test("with a key of their own are judged by ours") func ownKeys() async throws {
        let token = TestToken.id.header("jwk", TestKey.next.published).header("jku", "http://evil.example/keys")
        let issuer = TestIssuer()
        expect(await OktaTokenValidator(issuer: issuer).failure(of: try token.signed(by: TestKey.next)), is: .signature)
        #expect(issuer.asked.allSatisfy { $0.hasPrefix(TestIssuer.base) })
    }

    @Test("compare texts byte for byte") func bytes() async throws {
        let token = try TestToken.id.claim("nonce", "zoe\u{301}").signed()
        expect(await OktaTokenValidator(.id.with { $0.nonce = "zo\u{E9}" }).failure(of: token), is: .nonce)
        expect(await OktaTokenValidator(.id.with { $0.nonce = "zoe\u{301}" }).failure(of: token), is: nil)
    }

    @Test("with odd claims give an error, never a trap") func oddClaims() async throws {
        let odd: [JSON] = [
            .null, 0, -1, 1e308, -1e308, 9_007_199_254_740_993, "", "1", [], [[]], [1, "x", .null], [:], true,
            .number(JSONNumber(-0.5)),
        ]
        for name in ["iss", "aud", "azp", "exp", "iat", "nbf", "nonce", "cid", "scp", "scope"] {
            for value in odd {
                let text = try TestToken.id.claim(name, value).signed()
                for profile in BehaviourProfile.allCases {
                    let options = OktaValidatorOptions.id.with {
                        ($0.checksExpiry, $0.checksIssuedAt, $0.leeway) = (true, true, .max)
                        ($0.clientID, $0.scopes) = ("x", "y")
                    }
                    let error = await OktaTokenValidator(options, profile).error(of: text)
                    expect(error?.detail.isEmpty, is: false)
                }
            }
        }
    }

    @Test("with a long claim are shown in part") func longClaims() async throws {
        let token = try TestToken.id.claim("nonce", .string(String(repeating: "n", count: 8000))).signed()
        let error = try #require(await OktaTokenValidator().error(of: token))
        #expect(error.failure == .nonce && error.detail.count < 300)
    }

    @Test("from issuers with hostile answers give an error") func hostileSets() async throws {
        let token = try TestToken.id.signed()
        var random = SeededGenerator(seed: 7)
        let good = JSON.object(["keys": [TestKey.current.published]]).bytes
        for _ in 0..<500 {
            var bytes = good
            for _ in 0..<3 { Mutation.apply(to: &bytes, using: &random) }
            for profile in BehaviourProfile.allCases {
                let issuer = TestIssuer()
                issuer.answer(TestIssuer.keysPath, .answered(.ok, cacheControl: [], body: bytes))
                let failure = await OktaTokenValidator(.id, profile, issuer: issuer).failure(of: token)
                #expect([nil, .noKey, .key, .signature].contains(failure))
            }
        }
    }
}
