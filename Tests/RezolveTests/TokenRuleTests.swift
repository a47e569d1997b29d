import Expectations
import JSON
import Support
import Testing
import Tokens

/// The required form of a token (section 2.2 of the vendor's spec).
@Suite("Rezolve's rules for tokens") struct TokenRuleTests {
    /// A token and the address book's answer for Ada; no failure means 200.
    struct Case: Sendable, CustomStringConvertible {
        let description: String
        var header = Forged.loginHeader
        var claims = Forged.adaClaims()
        var failure: String?
    }

    @Test("each member follows its rule", arguments: cases) func member(_ example: Case) async throws {
        let world = try await World()
        let token = try Forged.token(header: example.header, claims: example.claims)
        let answer = try await world.call(.get, Example.addresses, .keyN.bearer(token).device(Example.device))
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
        Case(description: "no typ", header: #"{"auth":"v2","alg":"HS512"}"#),
        Case(description: "another typ", header: #"{"auth":"v2","alg":"HS512","typ":"JOSE"}"#, failure: signature),
        Case(description: "typ of another type", header: #"{"auth":"v2","alg":"HS512","typ":1}"#, failure: signature),
        Case(description: "alg in lower case", header: #"{"auth":"v2","alg":"hs512","typ":"JWT"}"#, failure: signature),
        Case(description: "no alg", header: #"{"auth":"v2","typ":"JWT"}"#, failure: signature),
        Case(description: "alg HS256, signed by HS512", header: #"{"auth":"v2","alg":"HS256"}"#, failure: signature),
        Case(description: "crit", header: #"{"auth":"v2","alg":"HS512","crit":["exp"],"exp":1}"#, failure: signature),
        Case(
            description: "keys of its own, which are ignored",
            header: #"{"auth":"v2","alg":"HS512","kid":"x","jku":"http://127.0.0.1:9/","jwk":{},"x5u":"u","x5c":[]}"#),
        Case(description: "a member twice", header: #"{"auth":"v2","alg":"HS512","alg":"HS512"}"#, failure: signature),
        Case(description: "no auth", header: #"{"alg":"HS512","typ":"JWT"}"#, failure: missing),
        Case(description: "another auth", header: #"{"auth":"v1","alg":"HS512","typ":"JWT"}"#, failure: missing),
        Case(description: "auth in capitals", header: #"{"auth":"V2","alg":"HS512","typ":"JWT"}"#, failure: missing),
        Case(description: "auth of another type", header: #"{"auth":2,"alg":"HS512","typ":"JWT"}"#, failure: missing),
        Case(description: "a header that is not an object", header: "[]", failure: signature),
        Case(
            description: "a header with a byte-order mark", header: "\u{FEFF}" + Forged.loginHeader, failure: signature),
    ]

    private static let times: [Case] = [
        Case(description: "exp one second ahead", claims: Forged.adaClaims(exp: "1800000001")),
        Case(description: "exp a fraction ahead", claims: Forged.adaClaims(exp: "1800000000.5")),
        Case(description: "exp with an exponent", claims: Forged.adaClaims(exp: "1.8000018e9")),
        Case(description: "exp now", claims: Forged.adaClaims(exp: "1800000000"), failure: "token-expired"),
        Case(description: "exp zero", claims: Forged.adaClaims(exp: "0"), failure: "token-expired"),
        Case(description: "exp negative", claims: Forged.adaClaims(exp: "-1"), failure: "token-expired"),
        Case(description: "exp in milliseconds, which is far ahead", claims: Forged.adaClaims(exp: "1800001800000")),
        Case(description: "exp at 2^53", claims: Forged.adaClaims(exp: "9007199254740992")),
        Case(description: "exp above 2^53", claims: Forged.adaClaims(exp: "9007199254740994"), failure: missing),
        Case(description: "exp infinite", claims: Forged.adaClaims(exp: "1e400"), failure: missing),
        Case(description: "exp a numeric string", claims: Forged.adaClaims(exp: #""1800001800""#), failure: missing),
        Case(description: "exp null", claims: Forged.adaClaims(exp: "null"), failure: missing),
        Case(description: "exp true", claims: Forged.adaClaims(exp: "true"), failure: missing),
        Case(description: "no exp", claims: Forged.adaClaims(exp: nil), failure: missing),
    ]

    private static let members: [Case] = [
        Case(description: "no rezolve_entity_id", claims: Forged.adaClaims(entity: nil), failure: missing),
        Case(description: "empty rezolve_entity_id", claims: Forged.adaClaims(entity: #""""#), failure: missing),
        Case(description: "numeric rezolve_entity_id", claims: Forged.adaClaims(entity: "123"), failure: missing),
        Case(
            description: "unknown rezolve_entity_id", claims: Forged.adaClaims(entity: #""nobody""#),
            failure: "masked-other-user"),
        Case(description: "no partner_entity_id", claims: Forged.adaClaims(user: nil), failure: missing),
        Case(description: "empty partner_entity_id", claims: Forged.adaClaims(user: #""""#), failure: missing),
        Case(description: "partner_entity_id null", claims: Forged.adaClaims(user: "null"), failure: missing),
        Case(description: "partner_entity_id with a fraction", claims: Forged.adaClaims(user: "1.5"), failure: missing),
        Case(
            description: "another partner_entity_id", claims: Forged.adaClaims(user: #""user-1002""#),
            failure: "masked-other-user"),
        Case(description: "no device_id", claims: Forged.adaClaims(device: nil), failure: missing),
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
        let world = try await World()
        let token = try Forged.token(
            header: Forged.registrationHeader, claims: Forged.registrationClaims(user: id))
        let answer = try await world.call(
            .post, "/api/v1/authentication/register", .keyN.bearer(token), #"{"email":"a@example.test"}"#)
        if isAccepted { answer.expect(200) } else { answer.expectDenied("masked-missing-fields") }
    }

    @Test("an integer partner_entity_id is the same user as its decimal string")
    func integerIsText() async throws {
        let world = try await World()
        func register(_ id: String) async throws -> ReceivedAnswer {
            let token = try Forged.token(
                header: Forged.registrationHeader, claims: Forged.registrationClaims(user: id))
            return try await world.call(
                .post, "/api/v1/authentication/register", .keyN.bearer(token), #"{"email":"a@example.test"}"#)
        }
        try await register("4711").expect(200)
        expect(try await register(#""4711""#).failure, is: "registration-duplicate")
    }

    @Test("a registration JWT may carry auth and device_id, which say nothing")
    func registrationIgnores() async throws {
        let world = try await World()
        let token = try Forged.token(
            header: #"{"auth":"v1","alg":"HS512","typ":"JWT"}"#,
            claims: Forged.adaClaims(entity: #"":NONE:""#, user: #""user-3001""#, device: "1"))
        try await world.call(
            .post, "/api/v1/authentication/register", .keyN.bearer(token).device("another"),
            #"{"email":"a@example.test"}"#
        ).expect(200)
    }

    @Test(
        "a lifetime above 30 minutes earns a note, and no more",
        arguments: [("1800001800", false), ("1800001801", true)])
    func lifetimeNote(_ exp: String, _ isNoted: Bool) async throws {
        let world = try await World()
        let token = try Forged.token(claims: Forged.adaClaims(exp: exp))
        let answer = try await world.call(.get, Example.addresses, .keyN.bearer(token).device(Example.device))
        answer.expect(200)
        expect((answer.outcome(of: "lifetime") == .noted), is: isNoted)
    }

    @Test("a token is at most 16 kB long", arguments: [(16_384, true), (16_385, false)])
    func size(_ length: Int, _ isAccepted: Bool) async throws {
        let world = try await World()
        let plain = try Forged.token(claims: Forged.adaClaims())
        func token(filledBy count: Int) throws -> String {
            try Forged.token(
                claims: #"{"filler":"\#(String(repeating: "x", count: count))","# + Forged.adaClaims().dropFirst())
        }
        // Base64url turns three bytes into four characters; the last step is found by search.
        let start = (length - plain.utf8.count) * 3 / 4 - 16
        let fitting = try (start...start + 16).map(token).last { $0.utf8.count <= length }
        let token = try #require(fitting)
        let exact = token.utf8.count == length ? token : try Self.token(ofLength: length, from: start, by: token)
        let answer = try await world.call(.get, Example.addresses, .keyN.bearer(exact).device(Example.device))
        if isAccepted { answer.expect(200) } else { answer.expectDenied("masked-signature") }
    }

    /// The payload alone cannot reach every length; a header member makes up the difference.
    private static func token(ofLength length: Int, from start: Int, by near: String) throws -> String {
        for filler in start - 8...start + 16 {
            for pad in 0..<6 {
                let token = try Forged.token(
                    header: #"{"auth":"v2","alg":"HS512","p":"\#(String(repeating: "p", count: pad))"}"#,
                    claims: #"{"filler":"\#(String(repeating: "x", count: filler))","# + Forged.adaClaims().dropFirst())
                if token.utf8.count == length { return token }
            }
        }
        return near
    }

    /// Text forms that a lenient reader would take for the same token.
    @Test("the text of a token is exactly its compact form", arguments: brokenTexts)
    func text(_ token: String) async throws {
        let world = try await World()
        try await world.call(.get, Example.addresses, .keyN.bearer(token).device(Example.device))
            .expectDenied("masked-signature")
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
        "the scheme's case and the number of blanks do not matter",
        arguments: ["bearer ", "BEARER ", "bEaReR  ", "Bearer     "])
    func scheme(_ prefix: String) async throws {
        let world = try await World()
        let fields = World.Fields.keyN.authorization(prefix + Example.jwtAda).device(Example.device)
        try await world.call(.get, Example.addresses, fields).expect(200)
    }

    @Test("another scheme, or none, is not a token", arguments: ["Basic ", "Token ", "Bearer:", "Bearer", "B "])
    func otherScheme(_ prefix: String) async throws {
        let world = try await World()
        let fields = World.Fields.keyN.authorization(prefix + Example.jwtAda).device(Example.device)
        try await world.call(.get, Example.addresses, fields).expectDenied("masked-token-missing")
    }

    @Test("two Authorization fields are one broken token") func twoFields() async throws {
        let world = try await World()
        let fields = World.Fields.ada.bearer(Example.jwtAda)
        let answer = try await world.call(.get, Example.addresses, fields)
        answer.expectDenied("masked-signature")
        let reason = answer.entry?.explanation ?? ""
        #expect(reason.hasPrefix("authorization-lines: found 2 of them, all the same; expected one"), "\(reason)")
    }

    @Test("two api keys are no known one") func twoKeys() async throws {
        let world = try await World()
        try await world.call(.get, Example.addresses, .ada + .keyN).expectDenied("masked-api-key")
    }
}
