import Emulation
import JSON
import Mutations
import Testing
import Tokens

@testable import OktaValidator

@Suite("Hostile tokens")
struct HostileTokenTests {
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
        for text in texts { #expect(await validator.failure(of: text) == .malformed, "\(text.prefix(80))") }
        #expect(issuer.asked == [])
    }

    @Test("cut off anywhere are refused")
    func truncated() async throws {
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
        let validator = OktaTokenValidator(
            .id, profile, keys: .rsa(TestKey.current.verificationKey))
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
        #expect(await OktaTokenValidator().failure(of: padded) == .malformed)
        #expect(await OktaTokenValidator(.id, .observed).failure(of: padded) == nil)
    }

    @Test("with a key of their own are judged by ours")
    func ownKeys() async throws {
        let token = TestToken.id.header("jwk", TestKey.next.published).header("jku", "http://evil.example/keys")
        let issuer = TestIssuer()
        #expect(await OktaTokenValidator(issuer: issuer).failure(of: try token.signed(by: TestKey.next)) == .signature)
        #expect(issuer.asked.allSatisfy { $0.hasPrefix(TestIssuer.base) })
    }

    @Test("compare texts byte for byte")
    func bytes() async throws {
        let token = try TestToken.id.claim("nonce", "zoe\u{301}").signed()
        #expect(await OktaTokenValidator(.id.with { $0.nonce = "zo\u{E9}" }).failure(of: token) == .nonce)
        #expect(await OktaTokenValidator(.id.with { $0.nonce = "zoe\u{301}" }).failure(of: token) == nil)
    }

    @Test("with odd claims give an error, never a trap")
    func oddClaims() async throws {
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
                    #expect(error?.detail.isEmpty == false)
                }
            }
        }
    }

    @Test("with a long claim are shown in part")
    func longClaims() async throws {
        let token = try TestToken.id.claim("nonce", .string(String(repeating: "n", count: 8000))).signed()
        let error = try #require(await OktaTokenValidator().error(of: token))
        #expect(error.failure == .nonce && error.detail.count < 300)
    }

    @Test("from issuers with hostile answers give an error")
    func hostileSets() async throws {
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
