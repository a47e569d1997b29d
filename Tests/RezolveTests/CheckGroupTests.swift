import Emulation
import JSON
import Testing
import Tokens

@testable import Rezolve

/// Rows 5 and 6 tell their outcome before they make their findings; both must agree, or a token is let through.
@Suite("Rezolve's groups of checks")
struct CheckGroupTests {
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

    @Test("agree with their findings about the members, whatever the claims and the switches are")
    func members() throws {
        var outcomes: [Bool: Int] = [:]
        for (token, rules) in Self.tokens.flatMap({ token in Self.rules.map { (token, $0) } }) {
            let group = RezolveMembers(of: token, by: rules)
            let failed = group.findings.filter { $0.outcome == .failed }
            let isKnown = token.compact.claims != nil
            if group.holds != (isKnown && failed.isEmpty) { Issue.record("\(token.compact.text): \(failed)") }
            outcomes[group.holds, default: 0] += 1
        }
        #expect(outcomes.values.min() ?? 0 > 100 && outcomes.count == 2)
    }

    @Test("agree with their findings about a token that cannot be verified, and say so of each key anew")
    func verification() throws {
        let keys = try [RezolveAuthKey(Example.secret), RezolveAuthKey("secret")]
        let honest = try Forged.token(claims: Forged.adaClaims())
        let texts = try [
            honest, honest + "A", honest + ".A", "a.b", "", Forged.token(secret: "secret", claims: Forged.adaClaims()),
            Forged.token(claims: "[]"), Forged.token(claims: #"{"a":1,"a":2}"#), Forged.token(claims: "{"),
            Forged.token(header: #"{"alg":"HS256","typ":"JWT"}"#, claims: "{}"),
            Forged.token(header: #"{"alg":"HS512","typ":"JWS"}"#, claims: "{}"),
            Forged.token(header: #"{"alg":"HS512","typ":7}"#, claims: "{}"),
            Forged.token(header: #"{"alg":"HS512"}"#, claims: "{}"),
            Forged.token(header: #"{"alg":"HS512","crit":[]}"#, claims: "{}"),
            Forged.token(header: #"{"alg":"HS512","jku":"x"}"#, claims: "{}"),
        ]
        var holding: [String] = []
        for text in texts {
            let token = RezolveToken(text)
            for key in keys + keys {
                let group = RezolveVerification(of: token, by: key)
                #expect(group.holds == group.findings.allSatisfy { $0.outcome != .failed }, "\(text)")
                if group.holds { holding.append(text) }
            }
        }
        // Each twice: the four that one of the keys verifies.
        #expect(holding.count == 8)
    }

    @Test("do not hold while no key is known")
    func noKey() throws {
        let group = RezolveVerification(of: RezolveToken(try Forged.token(claims: Forged.adaClaims())), by: nil)
        #expect(!group.holds)
        #expect(group.findings.last?.outcome == .notJudged)
        #expect(group.findings.allSatisfy { $0.outcome != .failed })
    }

    private static let rules: [RezolveMemberRules] = RezolveSwitches.AuthHeader.allCases.flatMap { auth in
        RezolveSwitches.DeviceCheck.allCases.flatMap { device in
            RezolveSwitches.ExpiryNumber.allCases.map { expiry in
                let values = [
                    "auth-header": auth.rawValue, "device-check": device.rawValue, "exp-number": expiry.rawValue,
                ]
                return RezolveMemberRules(RezolveSwitches(SwitchValues(values)))
            }
        }
    }

    /// Every kind of id with every value of each other member, which are sound while another one varies.
    private static let tokens: [RezolveToken] =
        ids.flatMap { id in
            users.map { token(id: id, user: $0) } + expiries.map { token(id: id, expiry: $0) }
                + headers.flatMap { header in devices.map { token(header, id: id, device: $0) } }
        } + [RezolveToken(""), RezolveToken("a.b.c")]

    /// Unsigned, since row 6 does not look at the signature.
    private static func token(
        _ header: String = Forged.loginHeader, id: String?, user: String? = #""u""#, expiry: String? = "1800001800",
        device: String? = #""d""#
    ) -> RezolveToken {
        let claims = Forged.adaClaims(entity: id, user: user, exp: expiry, device: device)
        return RezolveToken("\(Base64URL.encode(Array(header.utf8))).\(Base64URL.encode(Array(claims.utf8))).AA")
    }
}
