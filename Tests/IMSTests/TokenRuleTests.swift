import Emulation
import Expectations
import JSON
import Support
import Testing
import Tokens

@testable import IMS

@Suite("IMS's token rules") struct TokenRuleTests {
    /// A changed claim and the resulting failure, with its field.
    private static let claims: [(String, JSON?, String?, String?)] = [
        ("iss", nil, "claim-missing", "iss"), ("iss", .null, "claim-missing", "iss"),
        ("iss", 7, "claim-invalid", "iss"),
        ("iss", "", "claim-invalid", "iss"), ("sub", .null, "claim-missing", "sub"), ("sub", 7, "claim-invalid", "sub"),
        ("sub", "", "claim-invalid", "sub"), ("exp", nil, "claim-missing", "exp"),
        ("exp", .null, "claim-missing", "exp"),
        ("exp", true, "claim-invalid", "exp"), ("exp", -1, "claim-invalid", "exp"),
        ("exp", 9_007_199_254_740_994, "claim-invalid", "exp"), ("exp", 1_800_000_000.5, nil, nil),
        ("nbf", .null, "claim-invalid", "nbf"), ("nbf", "1799999999", "claim-invalid", "nbf"),
        ("nbf", -5, "claim-invalid", "nbf"), ("nbf", 1_799_999_999.5, nil, nil), ("iat", .null, "claim-missing", "nbf"),
        ("iat", [], "claim-invalid", "iat"), ("scope", "any", nil, nil), ("aud", 7, nil, nil), ("jti", 7, nil, nil),
    ]

    @Test("of a token that is known to hold are judged anew when its issuer or the moment changes")
    func known() async throws {
        let world = try await World()
        let token = try Forged().text()
        let first = try await world.me(token)
        for _ in 0..<4 {
            let answer = try await world.me(token)
            answer.expect(200)
            expect(answer.findings.map { "\($0)" }, is: first.findings.map { "\($0)" })
        }
        try await world.replaceUAT(["keys": try Example.publicKey(2)])
        try await world.me(token).expectRefusal(401, "signature-invalid")
        try await world.replaceUAT(["require_kid": true])
        try await world.me(token).expectRefusal(401, "kid-required", field: "kid")
        try await world.replaceUAT([:])
        for _ in 0..<2 { try await world.me(token).expect(200) }
        try await world.advance("600s")
        try await world.me(token).expectRefusal(401, "token-expired", field: "exp")
        try await world.freeze(at: World.exampleMoment)
        try await world.me(token).expect(200)
        try await world.call(.delete, "/ims/v1/issuers/uat", .operatorKey).expect(204)
        try await world.me(token).expectRefusal(401, "issuer-unknown", field: "iss")
    }

    @Test("each claim has its type", arguments: claims)
    func claim(_ name: String, _ value: JSON?, _ failure: String?, _ field: String?) async throws {
        let answer = try await World().me(Forged(.uat, [(name, value)]))
        if let failure { answer.expectRefusal(401, failure, field: field) } else { answer.expect(200) }
    }

    @Test("come out the same whether somebody wants to know what they found or not", arguments: claims)
    func agreement(_ name: String, _ value: JSON?, _ failure: String?, _ field: String?) throws {
        let changed = Forged(.uat, [(name, value)])
        let vendor = try IMS(fixtures: VendorFixtures(store: Repository.fixtures, folder: "ims"))
        let examples = try [
            changed.text(), try changed.header("kid", value).text(), try changed.header("crit", value).text(),
        ].map { text in
            IMSFacts(
                IMSFacts.Presented(
                    vendor, IMSSwitches(), at: Moment(unixSeconds: Double(World.exampleMoment)),
                    token: IMSToken(text + (value == nil ? "=" : ""))))
        }
        expectAgreement(of: IMS.formRules, on: examples)
        expectAgreement(of: IMS.claimRules, on: examples)
    }

    @Test("an infinite exp is no number", arguments: ["1e400", "-1e400"]) func infinite(_ number: String) async throws {
        let payload = #"{"iss":"https://auth.example.test/uat","sub":"EMP-0001","iat":1800000000,"exp":\#(number)}"#
        let token = try Forged.signed(
            Base64URL.encode(JSON.object(Forged().header).bytes) + "." + Base64URL.encode(Array(payload.utf8)), by: 1)
        try await World().me(token).expectRefusal(401, "claim-invalid", field: "exp")
    }

    /// A changed header member and the resulting failure.
    private static let headers: [(String, JSON?, String?)] = [
        ("typ", "jwt", nil), ("typ", "JWS", "typ-not-allowed"), ("typ", 7, "typ-not-allowed"),
        ("alg", nil, "alg-not-allowed"), ("alg", "rs256", "alg-not-allowed"), ("alg", "ES256", "alg-not-allowed"),
        ("alg", "RS384", "alg-not-allowed"), ("alg", "PS256", "alg-not-allowed"), ("alg", "HS256", "alg-not-allowed"),
        ("alg", "EdDSA", "alg-not-allowed"), ("alg", 7, "alg-not-allowed"), ("crit", [], "token-malformed"),
        ("crit", ["exp"], "token-malformed"), ("jku", "https://evil.test/", nil), ("x5c", ["AA"], nil),
        ("kid", "any", nil), ("kid", .null, "claim-invalid"), ("other", 7, nil),
    ]

    @Test("each member of the header has its values", arguments: headers)
    func header(_ name: String, _ value: JSON?, _ failure: String?) async throws {
        let world = try await World()
        let answer = try await world.me(Forged().header(name, value))
        expect(answer.failure, is: failure, "\(answer.findings)")
        expect(world.sandbox.journal.entries().count, is: 1, "nothing is ever followed")
    }

    @Test("a token of another form is malformed, and nothing crashes") func forms() async throws {
        let world = try await World()
        let parts = try Forged().text().split(separator: ".").map(String.init)
        let twice = Base64URL.encode(Array(#"{"alg":"RS256","alg":"RS256","typ":"JWT"}"#.utf8))
        let latin = Base64URL.encode([0x7B, 0x22, 0xE9, 0x22, 0x3A, 0x31, 0x7D])
        for token in [
            "x", ".", "..", "...", "\(parts[0])..\(parts[2])", "\(twice).\(parts[1]).\(parts[2])",
            "\(latin).\(parts[1]).\(parts[2])", "\(parts[0]).\(parts[1]).\(parts[2].dropLast())~",
            "\(parts[0])\u{20}.\(parts[1]).\(parts[2])", String(repeating: "a", count: 17_000),
        ] {
            try await world.me(token).expectRefusal(401, "token-malformed")
        }
    }

    @Test("no key is asked for by a token that is refused anyway") func noFetch() async throws {
        let world = try await World()
        try await world.me(Forged(.rotating).header("alg", "none")).expectRefusal(401, "alg-not-allowed")
        try await world.me(Forged(.rotating).header("typ", nil)).expectRefusal(401, "typ-not-allowed")
        try await world.me(Forged(.firebase).header("kid", nil)).expectRefusal(401, "kid-required")
        expect(world.sandbox.journal.entries().count, is: 3)
    }

    @Test("an issuer is the one of its bytes, not of its meaning") func normalization() async throws {
        let world = try await World()
        let composed = "https://auth.example.test/caf\u{E9}"
        let decomposed = "https://auth.example.test/cafe\u{301}"
        let body = Example.issuer("cafe", iss: composed, try Example.publicKey())
        try await world.call(.post, "/ims/v1/issuers", .operatorKey, body).expect(201)
        try await world.me(Forged(.uat, [("iss", .string(composed))])).expect(200)
        try await world.me(Forged(.uat, [("iss", .string(decomposed))])).expectRefusal(401, "issuer-unknown")
        let second = Example.issuer("cafe2", iss: decomposed, try Example.publicKey(2))
        try await world.call(.post, "/ims/v1/issuers", .operatorKey, second).expect(201)
        try await world.me(Forged(.uat, [("iss", .string(decomposed))]).signed(by: 2)).expect(200)
    }

    @Test("a lifetime has a limit also without a beginning, and counts from now")
    func lifetimeWithoutBeginning() async throws {
        let world = try await World()
        try await world.set("ims.missing-not-before", "accept")
        try await world.set("ims.max-lifetime-seconds", "900")
        func token(_ end: Int, _ nbf: JSON? = nil) -> Forged {
            Forged(.uat, [("iat", nil), ("nbf", nbf), ("exp", JSON(end))])
        }
        try await world.me(token(1_800_000_900)).expect(200)
        let answer = try await world.me(token(1_800_000_901))
        answer.expectRefusal(401, "lifetime-too-long")
        expect(answer.entry?.explanation?.contains("Without nbf and iat it counts from now to exp"), is: true)
        try await world.me(token(1_800_000_901, .null)).expectRefusal(401, "lifetime-too-long")
    }

    // MARK: - The SDK's check

    private func check(_ text: String, margin: Duration = .seconds(60)) -> JSON {
        let checker = IMS.checkers[0]
        return .object(
            checker.verdict(
                on: CompactToken(text), at: Moment(unixSeconds: Double(World.exampleMoment)),
                CheckerSettings(margin: margin)
            ).result)
    }

    private static func problem(_ name: String, _ field: String? = nil) -> JSON {
        var object: JSONObject = ["name": .string(name)]
        object["field"] = field.map(JSON.string)
        return ["usable": false, "renew": false, "problems": [.object(object)]]
    }

    @Test("the SDK's check looks at structure, three claims and expiry, and at nothing else") func preCheck() throws {
        let usable: JSON = ["usable": true, "renew": false, "problems": []]
        let parts = try Forged().text().split(separator: ".").map(String.init)
        expect(check(try Forged().text()), is: usable)
        expect(check("\(parts[0]).\(parts[1])."), is: usable, "the signature may be anything")
        expect(check("\(parts[0])==.\(parts[1]).AA=="), is: usable, "padding is tolerated")
        expect(check(Forged().header("alg", "none").header("typ", nil).input + ".x_-"), is: usable)
        expect(check("\(parts[0]).\(parts[1])"), is: Self.problem("sdk-not-three-parts"))
        expect(check(try Forged().text() + ".e30"), is: Self.problem("sdk-not-three-parts"))
        expect(check("a.b.c"), is: Self.problem("sdk-not-decodable"))
        expect(check("\(parts[0]).W10.\(parts[2])"), is: Self.problem("sdk-not-decodable"))
        for name in ["iss", "sub", "exp"] {
            expect(check(try Forged(.uat, [(name, nil)]).text()), is: Self.problem("sdk-claim-missing", name))
            expect(check(try Forged(.uat, [(name, .null)]).text()), is: Self.problem("sdk-claim-missing", name))
        }
        expect(check(try Forged(.uat, [("exp", "1800000600")]).text()), is: Self.problem("sdk-claim-missing", "exp"))
        expect(check(try Forged(.uat, [("sub", 7)]).text()), is: usable, "only null counts as absent")
        expect(check(try Forged(.uat, [("exp", 1_800_000_000)]).text()), is: Self.problem("sdk-expired"))
        let near = try Forged(.uat, [("exp", 1_800_000_060)]).text()
        expect(check(near), is: ["usable": true, "renew": true, "problems": []])
        expect(check(near, margin: .seconds(59)), is: usable)
    }

    // MARK: - Times

    @Test(
        "times are read to the letter of RFC 3339",
        arguments: [
            ("2027-01-15T08:00:00Z", 1_800_000_000.0), ("2027-01-15t09:00:00.25+01:00", 1_800_000_000.25),
            ("2027-01-15T07:30:00-00:30", 1_800_000_000), ("2028-02-29T00:00:00z", 1_835_395_200),
        ])
    func time(_ text: String, _ seconds: Double) { expect(RFC3339Time(text)?.unixSeconds, is: seconds) }

    @Test(
        "what is not a time is refused",
        arguments: [
            "", "2027-01-15", "2027-01-15T08:00:00", "2027-01-15 08:00:00Z", "2027-1-15T08:00:00Z",
            "2027-02-29T08:00:00Z", "2027-13-01T08:00:00Z", "2027-01-00T08:00:00Z", "2027-01-15T24:00:00Z",
            "2027-01-15T08:60:00Z", "2027-01-15T08:00:60Z", "2027-01-15T08:00:00.Z", "2027-01-15T08:00:00+24:00",
            "2027-01-15T08:00:00+0100", "2027-01-15T08:00:00ZZ", "1800000000", "٢٠٢٧-01-15T08:00:00Z",
        ])
    func noTime(_ text: String) { expect(RFC3339Time(text), is: nil) }
}
