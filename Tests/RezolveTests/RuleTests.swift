import Emulation
import Expectations
import JSON
import Support
import Testing
import Tokens

@testable import Rezolve

private typealias Change = (inout RezolveFacts) -> Void

@Suite("Rezolve's rules") struct RuleTests {
    private static let vendor = Result {
        try Rezolve(fixtures: VendorFixtures(store: Repository.fixtures, folder: "rezolve"))
    }

    private static func facts(_ switches: [String: String] = [:]) throws -> RezolveFacts {
        RezolveFacts(
            try vendor.get(), RezolveSwitches(SwitchValues(switches)),
            at: Moment(unixSeconds: Double(World.exampleMoment)))
    }

    private static func ada(
        _ token: String? = Example.jwtAda, _ switches: [String: String] = [:], _ change: Change = { _ in }
    ) throws -> RezolveFacts {
        var facts = try facts(switches)
        let vendor = try vendor.get()
        facts.apiKey = Example.apiKeyN
        facts.partner = vendor.accounts.partner(id: "317")
        facts.signer = facts.partner
        facts.bearer = BearerToken(token.map { ["authorization": "Bearer \($0)"] } ?? [:])
        facts.token = token.map { RezolveToken($0) }
        (facts.pathPartner, facts.pathEntity) = (.value("317"), .value("entity123"))
        facts.device = .value(Example.device)
        facts.findOwner(in: vendor.initialState)
        change(&facts)
        return facts
    }

    private static let ids = [nil, #""""#, #"":NONE:""#, #""e""#, "1", "null", "[]"]
    private static let users = [
        nil, #""""#, #""u""#, "1", "1.5", "12345678901234567890", "true", "\"\(String(repeating: "u", count: 255))\"",
        "\"\(String(repeating: "u", count: 256))\"", "\"\(String(repeating: "ü", count: 200))\"",
        "\"\(String(repeating: "ü", count: 256))\"",
    ]
    private static let expiries = [
        nil, "1800001800", "1800001800.5", "1.8e9", "-1", "1e400", "9007199254740993", #""1800001800""#, "null",
        "1800001800000",
    ]
    private static let devices = [nil, #""""#, #""d""#, "1"]
    private static let headers = [
        Forged.loginHeader, Forged.registrationHeader, #"{"auth":"V2","alg":"HS512"}"#, #"{"auth":2,"alg":"HS512"}"#,
    ]

    @Test("come out the same whether somebody wants to know what they found or not")
    func agreement() throws {
        for switches in Self.switches {
            expectAgreement(
                of: Rezolve.tokenRules,
                on: try Self.tokens.map { token in try Self.ada(nil, switches) { $0.token = token } })
        }
        expectAgreement(
            of: Rezolve.tokenRules, on: try brokenForms(of: Example.jwtAda).values.map { try Self.ada($0) })
    }

    @Test("judge the signature by each key anew")
    func verification() throws {
        let keys = try [SecretKey(Example.secret, of: "one"), SecretKey("secret", of: "another")]
        let token = RezolveToken(Example.jwtAda)
        for _ in 0..<2 {
            var nothing: Finding?
            expect(keys.map { token.signature(by: $0, &nothing) }, is: [.passed, .failed])
            expect(token.mistake(by: keys[0]) { [] }, is: nil)
        }
        let facts = try Self.ada { $0.signer = nil }
        let signature = Rezolve.tokenRules.rules.first { $0.id == "signature" }
        expect(signature?.outcome(on: facts), is: .notJudged, "no key is known")
    }

    private static let switches = RezolveSwitches.AuthHeader.allCases.flatMap { auth in
        RezolveSwitches.DeviceCheck.allCases.flatMap { device in
            RezolveSwitches.ExpiryNumber.allCases.map { expiry in
                ["auth-header": auth.rawValue, "device-check": device.rawValue, "exp-number": expiry.rawValue]
            }
        }
    }

    /// Every kind of id with every value of each other member; the remaining members are valid.
    private static let tokens: [RezolveToken] =
        ids.flatMap { id in
            users.map { token(id: id, user: $0) } + expiries.map { token(id: id, expiry: $0) }
                + headers.flatMap { header in devices.map { token(header, id: id, device: $0) } }
        } + [RezolveToken(""), RezolveToken("a.b.c")]

    /// Unsigned, since the other rules ignore the signature.
    private static func token(
        _ header: String = Forged.loginHeader, id: String?, user: String? = #""u""#, expiry: String? = "1800001800",
        device: String? = #""d""#
    ) -> RezolveToken {
        let claims = Forged.adaClaims(entity: id, user: user, exp: expiry, device: device)
        return RezolveToken("\(Base64URL.encode(Array(header.utf8))).\(Base64URL.encode(Array(claims.utf8))).AA")
    }
}
