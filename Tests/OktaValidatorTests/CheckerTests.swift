import Emulation
import JSON
import Testing
import Tokens

@testable import OktaValidator

@Suite("The checker of commands and of the server")
struct CheckerTests {
    private let moment = Moment(unixSeconds: Double(TestToken.now))

    @Test("judges by the keys of a sandbox without any request")
    func givenKeys() throws {
        let settings = CheckerSettings(key: .set([TestKey.current.verificationKey]))
        let token = CompactToken(try TestToken.id.signed())
        let verdict = TokenChecker.okta.verdict(on: token, at: moment, settings)
        #expect(verdict.isUsable && verdict.result["key"] == "given" && !verdict.findings.isEmpty)
        #expect(verdict.summary == "valid, by the key of: given")
        let other = CompactToken(try TestToken.id.signedAndNamed(by: TestKey.next))
        let refused = TokenChecker.okta.verdict(on: other, at: moment, settings)
        #expect(!refused.isUsable && refused.result["error"] == "jwt-no-key")
        let nobody = TokenChecker.okta.verdict(on: token, at: moment)
        #expect(nobody.result["error"] == "jwt-no-well-known", "it never asks anybody")
    }

    @Test("answers programs in the forms that the command promises")
    func forms() throws {
        let settings = CheckerSettings(key: .set([TestKey.current.verificationKey]))
        let valid = TokenChecker.okta.verdict(
            on: CompactToken(try TestToken.id.signed()), at: moment, settings)
        #expect(
            valid.answer == [
                "valid": true, "header": .object(TestToken.id.header), "claims": .object(TestToken.id.claims),
                "key": "given",
            ])
        let late = TokenChecker.okta.verdict(
            on: CompactToken(try TestToken.id.claim("exp", 1_799_990_000).signed()), at: moment, settings)
        let names = late.answer.object?.map(\.name)
        #expect(names == ["valid", "error", "seed", "shipped", "detail", "findings"])
        #expect(late.answer["seed"] == .null)
        #expect(late.answer["shipped"] == "OktaJWTVerificationError.expiredJWT")
        #expect(late.answer["detail"] == "exp 1799990000 is 10000 s before now, leeway 3000 s")
    }

    @Test("takes every setting of a validator")
    func settings() async throws {
        let issuer = TestIssuer()
        var settings = CheckerSettings()
        (settings.issuer, settings.audience, settings.clientID) = (TestIssuer.base, "api://default", TestToken.client)
        (settings.scopes, settings.claims) = ("openid", [("uid", "00uunderstudyada0001")])
        #expect(TokenChecker.okta.problem(with: settings) == nil)
        let token = CompactToken(try TestToken.access.signed())
        let good = await TokenChecker.okta.verdict(on: token, at: moment, settings, fetching: issuer.fetch)
        #expect(good.isUsable && good.result["key"] == "discovery")
        let changes: [(String, (inout CheckerSettings) -> Void)] = [
            ("jwt-issuer", { $0.issuer = "x" }), ("jwt-audience", { $0.audience = "x" }),
            ("jwt-nonce", { $0.nonce = "x" }),
            ("jwt-client", { $0.clientID = "x" }), ("jwt-scope", { $0.scopes = "x" }),
            ("jwt-claim", { $0.claims = [("uid", "x")] }),
            ("jwt-claim", { ($0.profile, $0.scopes) = (.observed, "openid") }),
            ("jwt-kid-mismatch", { $0.key = .jwk(TestKey.next.published) }),
            ("jwt-signature", { $0.key = .rsa(TestKey.next.verificationKey) }),
        ]
        for (error, change) in changes {
            var changed = settings
            change(&changed)
            let verdict = await TokenChecker.okta.verdict(on: token, at: moment, changed, fetching: issuer.fetch)
            #expect(verdict.result["error"] == .string(error))
        }
        let typed = CompactToken(try TestToken.access.header("typ", "x").claim("exp", 1).claim("iat", 2e9).signed())
        (settings.type, settings.checksExpiry, settings.checksIssuedAt) = ("x", false, false)
        #expect(await TokenChecker.okta.verdict(on: typed, at: moment, settings, fetching: issuer.fetch).isUsable)
        settings.checksExpiry = true
        settings.leeway = 2_000_000_000
        #expect(await TokenChecker.okta.verdict(on: typed, at: moment, settings, fetching: issuer.fetch).isUsable)
    }

    @Test("says which settings make no sense")
    func problems() {
        var settings = CheckerSettings()
        #expect(TokenChecker.okta.problem(with: settings)?.hasPrefix("without the option issuer") == true)
        settings.issuer = "x"
        settings.claims = [("a", "1"), ("a", "2")]
        #expect(TokenChecker.okta.problem(with: settings) == "the claim a is given twice.")
    }

    @Test("lists its rules")
    func rules() {
        let rules = TokenChecker.okta.rules
        #expect(rules.allSatisfy { $0.id.hasPrefix("okta.") && !$0.expects.isEmpty })
        #expect(Set(rules.map(\.id)).count == rules.count)
        #expect(Set(rules.flatMap(\.failures)) == Set(OktaTokenFailure.allCases.map(\.rawValue)))
        for rule in rules where rule.source?.hasPrefix("ours") == true { #expect(rule.evidence == .ours) }
    }
}
