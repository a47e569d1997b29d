import Emulation
import JSON
import Support
import Testing
import Tokens
import Wire

@testable import IMS

@Suite("IMS's rules")
struct RuleExampleTests {
    private static let moment = Moment(unixSeconds: Double(World.exampleMoment))
    private static let vendor = Result { try IMS(fixtures: VendorFixtures(store: Repository.fixtures, folder: "ims")) }

    private static func issuer(_ members: JSONObject) throws -> IMSIssuer {
        var body: JSONObject = ["name": "uat", "issuer": .string(Forged.Issuer.uat.rawValue), "tenant": "demo"]
        for member in members { body[member.name] = member.value }
        let record = try IMSBody(body).read {
            IMSIssuerRecord(&$0, source: IMSKeySource(kind: .publicKey, given: .null, url: nil), created: moment)
        }
        return IMSIssuer(record, keys: [try Forged.key(1).verificationKey, try Forged.key(2).verificationKey])
    }

    /// A token of an issuer with these members, signed with its first key.
    private static func facts(
        _ token: Forged = Forged(), _ members: JSONObject = [:], _ switches: [String: String] = [:],
        text: String? = nil, _ change: (inout IMSFacts) -> Void = { _ in }
    ) throws -> IMSFacts {
        let vendor = try vendor.get()
        let switches = IMSSwitches(SwitchValues(switches))
        let judge = IMSTokenJudge(
            vendor, IMSAuthenticationContext(issuers: vendor.initialState.issuers, devKeys: [:]), switches, at: moment,
            asking: .done, in: SandboxIdentity(name: SandboxName.standard, start: "00000000"))
        var presented = IMSFacts.Presented(vendor, switches, at: moment)
        let text = try text ?? token.text()
        presented.token = IMSToken(text)
        presented.bearer = BearerToken(["authorization": "Bearer \(text)"])
        presented.issuer = try issuer(members)
        var facts = IMSFacts(presented, judge: judge)
        facts.keys = .some(IMSKeyRing.Candidates([0]))
        facts.isGenuine = true
        change(&facts)
        return facts
    }

    private static func claim(_ name: String, _ value: JSON?, _ members: JSONObject = [:]) throws -> IMSFacts {
        try facts(Forged(.uat, [(name, value)]), members)
    }

    @Test("of form and issuer hold and are broken")
    func form() throws {
        let forms = try brokenForms(of: Forged().text()).mapValues { try Self.facts(text: $0) }
        let symmetric = try Self.facts(Forged().header("alg", "HS256")) { $0.presented.isSignedBySecret = true }
        expectExamples(
            of: IMS.formRules, holding: [try Self.facts()],
            breaking: forms.merging([
                "token-present": try Self.facts { ($0.presented.token, $0.presented.bearer) = (nil, BearerToken([:])) },
                "authorization-lines": try Self.facts {
                    $0.presented.bearer = BearerToken(["authorization": "Bearer a", "Authorization": "Bearer b"])
                },
                "bearer-once": try Self.facts {
                    $0.presented.bearer = BearerToken(["authorization": "Bearer Bearer a"])
                },
                "token-is-jwt": try Self.facts(text: "ims-operator-test-key"),
                "critical": try Self.facts(Forged().header("crit", [])), "algorithm": symmetric,
                "public-key-as-secret": symmetric, "type": try Self.facts(Forged().header("typ", "JWS")),
                "key-references": try Self.facts(Forged().header("jku", "https://a.test")),
                "claim-iss-present": try Self.claim("iss", nil),
                "header-kid-present": try Self.facts(Forged().header("kid", 7)),
                "issuer-registered": try Self.facts { $0.presented.issuer = nil },
            ]) { $1 })
    }

    @Test("of key and signature hold and are broken, and so do those of claims")
    func claims() throws {
        let certificate = try Self.vendor.get().initialState.issuers.all.first { $0.ring.keys.first?.validity != nil }
        let dated = try #require(certificate)
        let certificates = try (0..<IMSKeyRing.mostTried).map { number in
            (
                "certificate-\(number + 1)",
                try Self.facts {
                    $0.presented.issuer = dated
                    $0.keys = .some(IMSKeyRing.Candidates([Int](repeating: 0, count: number + 1), valid: [0]))
                }
            )
        }
        let access: JSONObject = ["audience": "app", "token_use": "access"]
        expectExamples(
            of: IMS.claimRules,
            holding: [
                try Self.facts(
                    Forged(.uat, [("nbf", 1_800_000_000)]), ["max_lifetime_seconds": 600, "require_jti": false]),
                try Self.facts(Forged(.uat, [("client_id", "app"), ("token_use", "access"), ("jti", "1")]), access),
                try Self.claim("aud", "app", ["audience": "app"]), try Self.claim("jti", "1", ["require_jti": true]),
            ],
            breaking: Dictionary(uniqueKeysWithValues: certificates).merging([
                "keys": try Self.facts { $0.keys = .unavailable("gone", note: "") },
                "key": try Self.facts { $0.keys = .unknown },
                "certificate-dates": try Self.facts { $0.keys = .some(IMSKeyRing.Candidates([0], valid: [])) },
                "signature": try Self.facts { $0.keys = .some(IMSKeyRing.Candidates([1])) },
                "signature-of-another": try Self.facts {
                    $0.otherSigner = IMSTokenJudge.Signer(issuer: dated, keyID: nil)
                },
                "claim-sub-present": try Self.claim("sub", nil),
                "claim-exp-present": try Self.claim("exp", "1800000600"),
                "claim-nbf-present": try Self.claim("nbf", "a"), "claim-iat-present": try Self.claim("iat", -1),
                "milliseconds-exp": try Self.claim("exp", 1_800_000_600_000),
                "milliseconds-nbf": try Self.claim("nbf", 1_700_000_000_000),
                "milliseconds-iat": try Self.claim("iat", 1_700_000_000_000),
                "not-before-present": try Self.claim("iat", nil), "expiry": try Self.claim("exp", 1_800_000_000),
                "not-before": try Self.claim("nbf", 1_800_000_031),
                "lifetime": try Self.facts(Forged(), ["max_lifetime_seconds": 599]),
                "claim-client_id-equals": try Self.facts(Forged(), access),
                "audience": try Self.claim("aud", "other", ["audience": "app"]),
                "claim-token_use-equals": try Self.facts(Forged(), access),
                "claim-jti-present": try Self.facts(Forged(), ["require_jti": true]),
            ]) { $1 })
    }

    @Test("of use and user hold and are broken")
    func users() throws {
        func subject(_ state: IMSUser.State?) throws -> IMSFacts {
            try Self.facts {
                $0.subject = IMSFacts.Subject(tenant: "demo", name: "EMP-0001", user: state.map { (1, $0) })
            }
        }
        expectExamples(
            of: IMS.userRules,
            holding: [
                try subject(.active), try Self.facts(Forged(), ["replay": "single-use"]) { $0.tokenUse = .first },
            ],
            breaking: [
                "signature-genuine": try Self.facts { $0.isGenuine = false },
                "token-id-unused": try Self.facts(Forged(.uat, [("jti", "1")]), ["replay": "bind-device"]) {
                    $0.tokenUse = .repeated(by: "a", now: "b")
                },
                "user-known": try subject(nil), "user-active": try subject(.deactivated),
            ])
    }

    @Test("of operators hold and are broken")
    func operators() throws {
        func facts(_ sent: String?) throws -> IMSFacts {
            try Self.facts { $0.presented.operator = IMSFacts.Operator(sent: sent, authorization: nil) }
        }
        expectExamples(
            of: IMS.operatorRules, holding: [try facts("ims-operator-test-key")],
            breaking: ["operator-key": try facts(nil)])
    }

    @Test("of its SDK hold and are broken")
    func client() throws {
        func facts(_ token: Forged, text: String? = nil) throws -> IMSClientFacts {
            IMSClientFacts(CompactToken(try text ?? token.text()), at: Self.moment, margin: .seconds(60))
        }
        expectExamples(
            of: IMS.clientRules, holding: [try facts(Forged())],
            breaking: [
                "sdk-parts": try facts(Forged(), text: "a.b"), "sdk-decodable": try facts(Forged(), text: "a.b.c"),
                "sdk-claim-iss": try facts(Forged(.uat, [("iss", nil)])),
                "sdk-claim-sub": try facts(Forged(.uat, [("sub", .null)])),
                "sdk-claim-exp": try facts(Forged(.uat, [("exp", "1800000600")])),
                "sdk-expiry": try facts(Forged(.uat, [("exp", 1_800_000_000)])),
                "sdk-near-expiry": try facts(Forged(.uat, [("exp", 1_800_000_060)])),
            ])
    }
}
