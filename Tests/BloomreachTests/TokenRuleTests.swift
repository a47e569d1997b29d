import Support
import Testing

/// What a token may and may not contain (sections 2.2 and 2.4 of the vendor's spec).
@Suite("Bloomreach's rules for tokens")
struct TokenRuleTests {
    /// A header and claims, correctly signed, and the resulting failure.
    struct Case: Sendable, CustomStringConvertible {
        var header = Forged.customerHeader
        var claims = Forged.anaClaims
        let failure: String?

        var description: String { "\(header) \(claims)" }
    }

    private static func header(_ members: String) -> String { "{\(members)}" }
    private static func exp(_ text: String) -> String { #"{"sub":{"registered":"ana@example.test"},"exp":\#(text)}"# }
    private static func sub(_ text: String) -> String { #"{"sub":\#(text),"exp":1800003600}"# }

    private static let cases: [Case] = [
        Case(failure: nil),
        Case(header: header(#""alg":"HS256","kid":"privkey-demo-1""#), failure: nil),
        Case(
            header: header(#""alg":"HS256","typ":"at+jwt","kid":"privkey-demo-1""#),
            failure: "customer-token-wrong-algorithm"),
        Case(
            header: header(#""alg":"hs256","typ":"JWT","kid":"privkey-demo-1""#),
            failure: "customer-token-wrong-algorithm"),
        Case(
            header: header(#""alg":"HS256","kid":"privkey-demo-1","crit":["x"],"x":1"#),
            failure: "customer-token-wrong-algorithm"),
        Case(header: header(#""alg":"HS256","typ":"JWT""#), failure: "customer-token-unknown-key"),
        Case(header: header(#""alg":"HS256","typ":"JWT","kid":7"#), failure: "customer-token-unknown-key"),
        Case(
            header: header(#""alg":"HS256","kid":"privkey-demo-1","kid":"privkey-demo-1""#),
            failure: "customer-token-malformed"),
        Case(header: "[]", failure: "customer-token-malformed"), Case(claims: "7", failure: "customer-token-malformed"),
        Case(claims: exp("1800000000.5"), failure: nil),
        Case(claims: exp("1800000000"), failure: "customer-token-expired"),
        Case(claims: exp("null"), failure: "customer-token-missing-expiry"),
        Case(claims: exp(#""1800003600""#), failure: "customer-token-missing-expiry"),
        Case(claims: exp("1e400"), failure: "customer-token-missing-expiry"),
        Case(claims: exp(#"1800003600,"nbf":1800000000"#), failure: nil),
        Case(claims: exp(#"1800003600,"nbf":1800000001"#), failure: "customer-token-not-yet-valid"),
        Case(claims: exp(#"1800003600,"iss":7,"aud":[],"iat":1900000000"#), failure: nil),
        Case(claims: sub(#""ana@example.test""#), failure: "customer-token-bad-subject"),
        Case(claims: sub("{}"), failure: "customer-token-bad-subject"),
        Case(claims: sub(#"{"registered":""}"#), failure: "customer-token-bad-subject"),
        Case(claims: sub(#"{"registered":null}"#), failure: "customer-token-bad-subject"),
        Case(claims: sub(#"{"registered":["ana@example.test"]}"#), failure: "customer-token-bad-subject"),
        Case(claims: #"{"exp":1800003600}"#, failure: "customer-token-bad-subject"),
    ]

    @Test("each member of a customer token", arguments: Depth.allCases, cases)
    func customerToken(_ depth: Depth, _ example: Case) async throws {
        let world = try await World(depth)
        let token = try Forged.customer(header: example.header, claims: example.claims)
        let answer = try await world.call(.post, Example.inbox, .bearer(token), Example.body(Example.ana))
        #expect(answer.failure == example.failure, "\(answer.findings)")
        #expect(answer.status == (example.failure == nil ? 200 : 401))
    }

    @Test("a secret of another length, another project's or a public key as secret does not sign")
    func otherSecrets() async throws {
        let world = try await World()
        for secret in [Example.streamSecret, "pubkey-demo-1", Example.secret + "\n"] {
            let token = try Forged.customer(secret: secret)
            let answer = try await world.call(.post, Example.inbox, .bearer(token), Example.body(Example.ana))
            answer.expect(401, Example.invalidToken, "customer-token-bad-signature")
        }
        let answer = try await world.call(
            .post, Example.inbox, .bearer(try Forged.customer(secret: Example.streamSecret)), Example.body(Example.ana))
        #expect(answer.outcome(of: "signature") == .failed)
    }

    @Test("a token of one project opens no other")
    func otherProject() async throws {
        let world = try await World()
        let path = "/webxp/projects/demo-project-2/appinbox/fetch"
        try await world.call(.post, path, .bearer, Example.body(Example.ana)).expect(
            401, Example.invalidToken, "customer-token-unknown-key")
    }

    @Test("a customer token of a stream's kind, and the reverse, are refused")
    func otherKind() async throws {
        let world = try await World()
        let body = Example.body(Example.ana)
        let asCustomer = try Forged.customer(claims: Forged.streamClaims)
        try await world.call(.post, Example.inbox, .bearer(asCustomer), body).expect(
            401, Example.error("token has invalid claims: sub is not a map of customer ids"),
            "customer-token-bad-subject")
        let asStream = try Forged.stream(claims: Forged.anaClaims)
        try await world.call(.post, Example.streamInbox, .bearer(asStream), body).expect(
            401, Example.invalidToken, "stream-token-empty-ids")
    }

    @Test("a token with several faults is refused for the first in the vendor's order")
    func order() async throws {
        let world = try await World()
        let body = Example.body(Example.ben)
        let expired = #"{"sub":{},"exp":1}"#
        for (token, failure) in [
            (
                try Forged.customer(header: #"{"alg":"HS512","typ":"JWT","kid":"x"}"#, claims: expired),
                "wrong-algorithm"
            ),
            (try Forged.customer(header: #"{"alg":"HS256","typ":"JWT","kid":"x"}"#, claims: expired), "unknown-key"),
            (try Forged.customer(claims: expired, secret: "x-not-a-secret"), "bad-signature"),
            (try Forged.customer(claims: #"{"sub":{},"nbf":1900000000}"#), "missing-expiry"),
            (try Forged.customer(claims: #"{"sub":{},"exp":1,"nbf":1900000000}"#), "expired"),
            (try Forged.customer(claims: #"{"sub":{},"exp":1900000001,"nbf":1900000000}"#), "not-yet-valid"),
            (try Forged.customer(claims: #"{"sub":{},"exp":1900000001}"#), "bad-subject"),
            (Example.jwtAna, "ids-mismatch"),
        ] {
            let answer = try await world.call(.post, Example.inbox, .bearer(token), body)
            #expect(answer.failure == "customer-token-" + failure)
        }
    }

    @Test("the leeway counts for both ends of a life")
    func leeway() async throws {
        let world = try await World()
        try await world.set("bloomreach.clock-leeway-seconds", "5")
        for (claims, failure) in [
            (Self.exp("1799999996"), nil), (Self.exp("1799999995"), "customer-token-expired"),
            (Self.exp(#"1800003600,"nbf":1800000005"#), nil),
            (Self.exp(#"1800003600,"nbf":1800000006"#), "customer-token-not-yet-valid"),
        ] as [(String, String?)] {
            let token = try Forged.customer(claims: claims)
            let answer = try await world.call(.post, Example.inbox, .bearer(token), Example.body(Example.ana))
            #expect(answer.failure == failure, "\(claims)")
        }
    }
}
