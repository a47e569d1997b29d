import Emulation
import Expectations
import JSON
import Support
import Testing
import Tokens

@testable import Rezolve

/// The required form of a token (section 2.2 of the vendor's spec).
@Suite("Rezolve's rules for tokens") struct TokenRuleTests {
    /// A token and the address book's answer for Ada; no failure means 200. Members that are left out, and the second at
    /// which a token expires, have contract cases and are defects of the kit.
    struct Case: Sendable, CustomStringConvertible {
        let description: String
        var header = Forged.loginHeader
        var claims = Forged.adaClaims()
        var failure: String?
    }

    @Test("each member follows its rule", arguments: cases) func member(_ example: Case) async throws {
        let token = try Forged.token(header: example.header, claims: example.claims)
        let answer = try await World().addresses(token)
        switch example.failure {
        case nil: answer.expect(200, "[\(Example.address1)]")
        case "token-expired": answer.expectExpired()
        case let failure?: answer.expectDenied(failure)
        }
    }

    private static let missing = "masked-missing-fields"
    private static let signature = "masked-signature"

    private static let cases = headers + times + members

    private static let headers: [Case] = [
        Case(description: "typ in lower case", header: #"{"auth":"v2","alg":"HS512","typ":"jwt"}"#),
        Case(description: "another typ", header: #"{"auth":"v2","alg":"HS512","typ":"JOSE"}"#, failure: signature),
        Case(description: "typ of another type", header: #"{"auth":"v2","alg":"HS512","typ":1}"#, failure: signature),
        Case(description: "alg in lower case", header: #"{"auth":"v2","alg":"hs512","typ":"JWT"}"#, failure: signature),
        Case(description: "alg HS256, signed by HS512", header: #"{"auth":"v2","alg":"HS256"}"#, failure: signature),
        Case(description: "crit", header: #"{"auth":"v2","alg":"HS512","crit":["exp"],"exp":1}"#, failure: signature),
        Case(
            description: "keys of its own, which are ignored",
            header: #"{"auth":"v2","alg":"HS512","kid":"x","jku":"http://127.0.0.1:9/","jwk":{},"x5u":"u","x5c":[]}"#),
        Case(description: "a member twice", header: #"{"auth":"v2","alg":"HS512","alg":"HS512"}"#, failure: signature),
        Case(description: "another auth", header: #"{"auth":"v1","alg":"HS512","typ":"JWT"}"#, failure: missing),
        Case(description: "auth in capitals", header: #"{"auth":"V2","alg":"HS512","typ":"JWT"}"#, failure: missing),
        Case(description: "auth of another type", header: #"{"auth":2,"alg":"HS512","typ":"JWT"}"#, failure: missing),
        Case(description: "a header that is not an object", header: "[]", failure: signature),
        Case(
            description: "a header with a byte-order mark", header: "\u{FEFF}" + Forged.loginHeader, failure: signature),
    ]

    private static let times: [Case] = [
        Case(description: "exp a fraction ahead", claims: Forged.adaClaims(exp: "1800000000.5")),
        Case(description: "exp with an exponent", claims: Forged.adaClaims(exp: "1.8000018e9")),
        Case(description: "exp zero", claims: Forged.adaClaims(exp: "0"), failure: "token-expired"),
        Case(description: "exp negative", claims: Forged.adaClaims(exp: "-1"), failure: "token-expired"),
        Case(description: "exp at 2^53", claims: Forged.adaClaims(exp: "9007199254740992")),
        Case(description: "exp above 2^53", claims: Forged.adaClaims(exp: "9007199254740994"), failure: missing),
        Case(description: "exp infinite", claims: Forged.adaClaims(exp: "1e400"), failure: missing),
        Case(description: "exp null", claims: Forged.adaClaims(exp: "null"), failure: missing),
        Case(description: "exp true", claims: Forged.adaClaims(exp: "true"), failure: missing),
    ]

    private static let members: [Case] = [
        Case(description: "empty rezolve_entity_id", claims: Forged.adaClaims(entity: #""""#), failure: missing),
        Case(description: "numeric rezolve_entity_id", claims: Forged.adaClaims(entity: "123"), failure: missing),
        Case(
            description: "unknown rezolve_entity_id", claims: Forged.adaClaims(entity: #""nobody""#),
            failure: "masked-other-user"),
        Case(description: "empty partner_entity_id", claims: Forged.adaClaims(user: #""""#), failure: missing),
        Case(description: "partner_entity_id null", claims: Forged.adaClaims(user: "null"), failure: missing),
        Case(description: "partner_entity_id with a fraction", claims: Forged.adaClaims(user: "1.5"), failure: missing),
        Case(
            description: "another partner_entity_id", claims: Forged.adaClaims(user: #""user-1002""#),
            failure: "masked-other-user"),
        Case(description: "empty device_id", claims: Forged.adaClaims(device: #""""#), failure: missing),
        Case(description: "numeric device_id", claims: Forged.adaClaims(device: "1"), failure: missing),
        Case(
            description: "a claim twice", claims: #"{"exp":1800001800,"# + Forged.adaClaims().dropFirst(),
            failure: signature),
        Case(description: "claims that are no object", claims: #""text""#, failure: signature),
        Case(description: "claims that are no JSON", claims: "{", failure: signature),
    ]

    /// The number of characters decides; an id may be a JSON integer, which counts by its decimal digits.
    @Test(
        "partner_entity_id has 1 to 255 characters or is an integer",
        arguments: [
            (#""\#(String(repeating: "x", count: 255))""#, true), (#""\#(String(repeating: "x", count: 256))""#, false),
            (#""\#(String(repeating: "ä", count: 255))""#, true), ("317", true), ("-1", true),
            ("1152921504606846977", true), ("123456789012345678901234567890", true), ("1e2", false), ("true", false),
        ])
    func partnerEntityID(_ id: String, _ isAccepted: Bool) async throws {
        let answer = try await World().register(Forged.registration(id))
        if isAccepted { answer.expect(200) } else { answer.expectDenied("masked-missing-fields") }
    }

    @Test("an integer partner_entity_id is the same user as its decimal string")
    func integerIsText() async throws {
        let world = try await World()
        try await world.register(Forged.registration("4711")).expect(200)
        expect(try await world.register(Forged.registration(#""4711""#)).failure, is: "registration-duplicate")
    }

    @Test("a registration JWT may carry auth and device_id, which say nothing")
    func registrationIgnores() async throws {
        let token = try Forged.token(
            header: #"{"auth":"v1","alg":"HS512","typ":"JWT"}"#,
            claims: Forged.adaClaims(entity: #"":NONE:""#, user: #""user-3001""#, device: "1"))
        try await World().call(
            .post, "/api/v1/authentication/register", .keyN.bearer(token).device("another"),
            #"{"email":"a@example.test"}"#
        ).expect(200)
    }

    @Test(
        "a lifetime above 30 minutes earns a note, and no more",
        arguments: [("1800001800", false), ("1800001801", true)])
    func lifetimeNote(_ exp: String, _ isNoted: Bool) async throws {
        let answer = try await World().addresses(Forged.token(claims: Forged.adaClaims(exp: exp)))
        answer.expect(200)
        expect((answer.outcome(of: "lifetime") == .noted), is: isNoted)
    }

    /// Base64url has no text of each length; a blank more in the header makes up for it.
    @Test("a token is at most 16 kB long", arguments: [(16_384, "", 12_183, true), (16_385, " ", 12_182, false)])
    func size(_ length: Int, _ blank: String, _ bytesOfClaims: Int, _ isAccepted: Bool) async throws {
        let claims = Forged.adaClaims()
        let filler = String(repeating: " ", count: bytesOfClaims - claims.utf8.count)
        let token = try Forged.token(header: Forged.loginHeader + blank, claims: claims + filler)
        expect(token.utf8.count, is: length)
        let answer = try await World().addresses(token)
        if isAccepted { answer.expect(200) } else { answer.expectDenied("masked-signature") }
    }

    /// Text forms that a lenient reader would take for the same token.
    @Test("the text of a token is exactly its compact form", arguments: brokenTexts)
    func text(_ token: String) async throws {
        try await World().addresses(token).expectDenied("masked-signature")
    }

    private static let brokenTexts: [String] = {
        let parts = Example.jwtAda.split(separator: ".").map(String.init)
        return [
            "x", "a.b", "a.b.c", "..", "\(parts[0]).\(parts[1])", "\(parts[0]).\(parts[1]).", Example.jwtAda + ".e30",
            "." + Example.jwtAda, "\(parts[0])..\(parts[2])", "\(parts[0]) .\(parts[1]).\(parts[2])",
            "\(parts[0]).\(parts[1]).\(parts[2].dropLast())", "\(parts[0]).\(parts[1]).\(parts[2])A",
            // The last character of 64 bytes has four unused bits.
            "\(parts[0]).\(parts[1]).\(parts[2].dropLast())R",
            Example.jwtAda.replacing("-", with: "+"), Example.jwtAda.replacing("_", with: "/"),
            "Bearer " + Example.jwtAda, "\"\(Example.jwtAda)\"",
        ]
    }()

    @Test(
        "the token follows Bearer, in any case, and any number of blanks",
        arguments: [
            ("bearer ", true), ("BEARER ", true), ("bEaReR  ", true), ("Bearer     ", true), ("Basic ", false),
            ("Token ", false), ("Bearer:", false), ("Bearer", false), ("B ", false),
        ])
    func scheme(_ prefix: String, _ isScheme: Bool) async throws {
        let fields = World.Fields.keyN.authorization(prefix + Example.jwtAda).device(Example.device)
        let answer = try await World().call(.get, Example.addresses, fields)
        if isScheme { answer.expect(200) } else { answer.expectDenied("masked-token-missing") }
    }

    @Test("two Authorization fields are one broken token") func twoFields() async throws {
        let fields = World.Fields.ada.bearer(Example.jwtAda)
        let answer = try await World().call(.get, Example.addresses, fields)
        answer.expectDenied("masked-signature")
        let reason = answer.entry?.explanation ?? ""
        #expect(reason.hasPrefix("authorization-lines: found 2 of them, all the same; expected one"), "\(reason)")
    }

    @Test("two api keys are no known one") func twoKeys() async throws {
        try await World().call(.get, Example.addresses, .ada + .keyN).expectDenied("masked-api-key")
    }
}

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
        let keys = try [(Example.secret, "one"), ("secret", "another")].map { try SecretKey($0, of: $1, for: .hs512) }
        let token = CompactToken(Example.jwtAda)
        for _ in 0..<2 {
            var nothing: Finding?
            expect(keys.map { token.signature(by: $0, &nothing) }, is: [.passed, .failed])
            expect(token.mistake(with: keys[0]) { [] }, is: nil)
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
