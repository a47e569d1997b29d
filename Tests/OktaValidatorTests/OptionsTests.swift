import Emulation
import Expectations
import JSON
import Testing
import Tokens

@testable import OktaValidator

@Suite("The options of a validator") struct OptionsTests {
    @Test("are taken from a dictionary by the validator page's names") func dictionary() {
        let options = OktaValidatorOptions([
            "issuer": "i", "audience": "a", "nonce": "n", "iat": false, "exp": true, "cid": "c", "scp": "s", "typ": "t",
            "leeway": 3000, "customClaim": "customClaimValue",
        ])
        let expected = OktaValidatorOptions(
            issuer: "i", audience: "a", nonce: "n", checksExpiry: true, checksIssuedAt: false, leeway: 3000,
            clientID: "c", scopes: "s", type: "t", claims: ["customClaim": "customClaimValue"])
        expect(options, is: expected)
        expect(OktaValidatorOptions([:]), is: OktaValidatorOptions())
    }

    private static let wrong: [(name: String, value: any Sendable, problem: String)] = [
        ("issuer", 7, "the option issuer is of type Int; expected a string."),
        ("exp", "true", "the option exp is of type String; expected true or false."),
        ("iat", 1, "the option iat is of type Int; expected true or false."),
        ("leeway", 1.5, "the option leeway is of type Double; expected a whole number."),
        ("customClaim", ["x"], "the option customClaim is of type Array<String>; expected a string."),
    ]

    @Test("of another type say what would be right", arguments: wrong.indices) func problems(_ index: Int) {
        let (name, value, problem) = Self.wrong[index]
        expect(OktaValidatorOptions.problem(in: [name: value]), is: problem)
        expect(OktaValidatorOptions.problem(in: ["nonce": "n"]), is: nil)
    }

    @Test("that make no sense say why") func senseless() {
        let given = OktaKeys.set([])
        func problem(_ options: OktaValidatorOptions, _ keys: OktaKeys) -> String? {
            OktaTokenValidator.problem(with: options, keys: keys)
        }
        let discovery = OktaKeys.discovery(fetch: TestIssuer().fetch)
        expect(problem(OktaValidatorOptions(), given), is: nil)
        expect(problem(OktaValidatorOptions(), discovery)?.hasPrefix("without the option issuer"), is: true)
        expect(problem(OktaValidatorOptions(leeway: -1), given), is: nil)
        let many = Dictionary(uniqueKeysWithValues: (0...OktaValidatorOptions.mostClaims).map { ("c\($0)", "x") })
        expect(
            problem(OktaValidatorOptions(claims: many), given),
            is: "33 claims are to be compared; expected at most 32.")
        if let ec = TestKey.ec {
            expect(
                problem(OktaValidatorOptions(), .rsa(ec.verificationKey)),
                is: "the key is an EC key on P-256; expected an RSA key.")
        }
    }

    @Test("are a programming error where they are wrong") func stops() async {
        await #expect(processExitsWith: .failure) { _ = OktaValidatorOptions(["leeway": "3000"]) }
        await #expect(processExitsWith: .failure) {
            let claims = Dictionary(uniqueKeysWithValues: (0...32).map { ("c\($0)", "x") })
            _ = OktaTokenValidator(options: OktaValidatorOptions(claims: claims), keys: .set([]))
        }
    }

    @Test("may be as many claims as fit into one list of rules", arguments: BehaviourProfile.allCases)
    func manyClaims(_ profile: BehaviourProfile) async throws {
        let names = (0..<OktaValidatorOptions.mostClaims).map { "c\($0)" }
        let options = OktaValidatorOptions.id.with {
            $0.claims = Dictionary(uniqueKeysWithValues: names.map { ($0, "x") })
            ($0.clientID, $0.scopes) = ("x", "x")
        }
        var token = TestToken.id.claim("cid", "x").claim("scp", "x")
        for name in names { token = token.claim(name, "x") }
        expect(await OktaTokenValidator(options, profile).failure(of: try token.signed()), is: nil)
        let last = try token.claim("c9", "y").claim("c31", "y").signed()
        let error = try #require(await OktaTokenValidator(options, profile).error(of: last))
        #expect(error.failure == .claim && error.detail.hasPrefix("c31 is "), "in order of name")
    }

    @Test("leave nbf to the profile") func notBefore() async throws {
        let cases: [(JSON, OktaTokenFailure?)] = [
            (1_800_003_000, nil), (1_800_003_001, .notYetValid), ("1", .notYetValid), (.null, .notYetValid),
        ]
        for (value, failure) in cases {
            let token = try TestToken.id.claim("nbf", value).signed()
            expect(await OktaTokenValidator().failure(of: token), is: failure)
            expect(await OktaTokenValidator(.id, .observed).failure(of: token), is: nil)
        }
    }

    @Test("compare typ without capitals, if a token has one") func type() async throws {
        for (value, failure) in [
            ("jwt", nil), ("JWT", nil), ("at+jwt", OktaTokenFailure.malformed), (7, .malformed),
        ] as [(JSON, OktaTokenFailure?)] {
            let token = try TestToken.id.header("typ", value).signed()
            expect(await OktaTokenValidator().failure(of: token), is: failure, "\(value)")
        }
        let other = OktaValidatorOptions.id.with { $0.type = "okta-at+jwt" }
        expect(
            await OktaTokenValidator(other).failure(of: try TestToken.id.header("typ", "OKTA-at+JWT").signed()), is: nil
        )
        expect(await OktaTokenValidator(other).failure(of: try TestToken.id.signed()), is: nil)
    }

    @Test("drop a slash at the end as the shipped library does") func slashes() async throws {
        let options = OktaValidatorOptions.id.with { ($0.issuer, $0.audience) = (TestIssuer.base + "/", "a/") }
        let token = try TestToken.id.claim("aud", "a").signed()
        expect(await OktaTokenValidator(options, .observed).failure(of: token), is: nil)
        expect(await OktaTokenValidator(options).failure(of: token), is: .issuer)
        let slashed = try TestToken.id.claim("aud", "a/").claim("iss", JSON(options.issuer)).signed()
        expect(await OktaTokenValidator(options).failure(of: slashed), is: nil, "discovery drops it in any case")
    }
}

@Suite("The checker of commands and of the server") struct CheckerTests {
    private let moment = Moment(unixSeconds: Double(TestToken.now))

    @Test("judges by the keys of a sandbox without any request") func givenKeys() throws {
        let settings = CheckerSettings(key: .set([TestKey.current.verificationKey]))
        let token = CompactToken(try TestToken.id.signed())
        let verdict = TokenChecker.okta.verdict(on: token, at: moment, settings)
        #expect(verdict.isUsable && verdict.result["key"] == "given" && !verdict.findings.isEmpty)
        expect(verdict.summary, is: "valid, by the key of: given")
        let other = CompactToken(try TestToken.id.signedAndNamed(by: TestKey.next))
        let refused = TokenChecker.okta.verdict(on: other, at: moment, settings)
        #expect(!refused.isUsable && refused.result["error"] == "jwt-no-key")
        let nobody = TokenChecker.okta.verdict(on: token, at: moment)
        expect(nobody.result["error"], is: "jwt-no-well-known", "it never asks anybody")
    }

    @Test("answers programs in the forms that the command promises") func forms() throws {
        let settings = CheckerSettings(key: .set([TestKey.current.verificationKey]))
        let valid = TokenChecker.okta.verdict(on: CompactToken(try TestToken.id.signed()), at: moment, settings)
        expect(
            valid.answer,
            is: [
                "valid": true, "header": .object(TestToken.id.header), "claims": .object(TestToken.id.claims),
                "key": "given",
            ])
        let late = TokenChecker.okta.verdict(
            on: CompactToken(try TestToken.id.claim("exp", 1_799_990_000).signed()), at: moment, settings)
        let names = late.answer.object?.map(\.name)
        expect(names, is: ["valid", "error", "seed", "shipped", "detail", "findings"])
        expect(late.answer["seed"], is: .null)
        expect(late.answer["shipped"], is: "OktaJWTVerificationError.expiredJWT")
        expect(late.answer["detail"], is: "exp 1799990000 is 10000 s before now, leeway 3000 s")
    }

    @Test("takes every setting of a validator") func settings() async throws {
        let issuer = TestIssuer()
        var settings = CheckerSettings()
        (settings.issuer, settings.audience, settings.clientID) = (TestIssuer.base, "api://default", TestToken.client)
        (settings.scopes, settings.claims) = ("openid", [("uid", "00uunderstudyada0001")])
        expect(TokenChecker.okta.complaint(settings), is: nil)
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
            expect(verdict.result["error"], is: .string(error))
        }
        let typed = CompactToken(try TestToken.access.header("typ", "x").claim("exp", 1).claim("iat", 2e9).signed())
        (settings.type, settings.checksExpiry, settings.checksIssuedAt) = ("x", false, false)
        #expect(await TokenChecker.okta.verdict(on: typed, at: moment, settings, fetching: issuer.fetch).isUsable)
        settings.checksExpiry = true
        settings.leeway = 2_000_000_000
        #expect(await TokenChecker.okta.verdict(on: typed, at: moment, settings, fetching: issuer.fetch).isUsable)
    }

    @Test("says which settings make no sense") func problems() {
        var settings = CheckerSettings()
        expect(TokenChecker.okta.complaint(settings)?.hasPrefix("without the option issuer"), is: true)
        settings.issuer = "x"
        settings.claims = [("a", "1"), ("a", "2")]
        expect(TokenChecker.okta.complaint(settings), is: "the claim a is given twice.")
    }

    @Test("lists its rules") func rules() {
        let rules = TokenChecker.okta.rules
        #expect(rules.allSatisfy { $0.id.hasPrefix("okta.") && !$0.expects.isEmpty })
        expect(Set(rules.map(\.id)).count, is: rules.count)
        expect(Set(rules.flatMap(\.failures)), is: Set(OktaTokenFailure.allCases.map(\.rawValue)))
        for rule in rules where rule.source?.hasPrefix("ours") == true { expect(rule.evidence, is: .ours) }
    }
}
