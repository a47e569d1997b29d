import JSON
import Support
import Testing
import Tokens

/// Tokens on demand (section 2.5 of the vendor's spec), and what Comapi answers to each of their defects.
@Suite("Comapi's minted tokens")
struct MintingTests {
    /// What a challenge's answer with that defect comes to; `nil` is a session.
    static let appDefects: [(String, String?)] = [
        ("expired", "expired-token"), ("not-yet-valid", "not-yet-valid"), ("missing-sub", "missing-user-id"),
        ("missing-nonce", "missing-nonce"), ("missing-iss", "missing-issuer"), ("missing-aud", "missing-audience"),
        ("missing-exp", nil), ("missing-iat", nil), ("missing-alg", "wrong-algorithm"), ("missing-typ", nil),
        ("wrong-alg", "wrong-algorithm"), ("alg-none", "wrong-algorithm"), ("wrong-secret", "bad-signature"),
        ("wrong-key", "bad-signature"), ("tampered-payload", "bad-signature"), ("bad-signature", "bad-signature"),
        ("truncated-signature", "bad-signature"), ("padded-base64", "malformed-token"),
        ("two-parts", "malformed-token"), ("four-parts", "malformed-token"), ("milliseconds", nil),
        ("string-exp", "malformed-time"), ("fractional-exp", nil), ("secret-base64-text", "secret-base64-text"),
        ("secret-trimmed", "secret-trimmed"), ("secret-of-another-space", "secret-of-another-space"),
        ("unsupported-critical-header", "unsupported-critical-header"), ("nonce-mismatch", "nonce-mismatch"),
        ("nonce-reused", "nonce-reused"), ("wrong-issuer", "wrong-issuer"), ("wrong-audience", "wrong-audience"),
        ("missing-user-id", "missing-user-id"), ("malformed-time", "malformed-time"), ("milliseconds-exp", nil),
        ("milliseconds-iat", nil),
    ]

    /// Defects that need another kind of key or secret.
    private static let inapplicable = ["public-key-as-secret", "secret-latin-1"]
    /// Defects that space B's secret shows.
    private static let hexadecimal = ["secret-hex-decoded", "secret-base64-decoded"]

    @Test("each defect of the app's token has its answer", arguments: appDefects)
    func appDefect(_ defect: String, _ failure: String?) async throws {
        let world = try await World.comapi()
        // An answered challenge, for the defect that needs one.
        _ = try await world.session("bob")
        let challenge = try await world.challenge()
        let token = try await world.mint(
            "comapi/app", ["authenticationId": .string(challenge.id), "defect": .string(defect)])
        let answer = try await world.answer(challenge, token)
        if let failure { answer.expect(403, Example.invalidJWT, failure) } else { answer.expect(200) }
    }

    @Test("a secret that looks like something else shows how it was read", arguments: hexadecimal)
    func secretDefect(_ defect: String) async throws {
        let world = try await World.comapi()
        let challenge = try await world.challenge(in: Example.b)
        let token = try await world.mint(
            "comapi/app",
            ["space": .string(Example.b), "nonce": .string(challenge.nonce), "defect": .string(defect)])
        try await world.answer(challenge, token, in: Example.b).expect(403, Example.invalidJWT, defect)
    }

    /// What a call with a session's token of that defect comes to; `nil` is 200.
    static let sessionDefects: [(String, String?)] = [
        ("expired", "session-expired"), ("missing-sub", "session-forged"),
        ("missing-jti", "session-forged"), ("missing-boot", "session-forged"), ("missing-exp", "session-forged"),
        ("missing-apiSpaceId", "session-forged"), ("missing-alg", "session-forged"),
        ("wrong-alg", "session-forged"), ("alg-none", "session-forged"), ("wrong-secret", "session-forged"),
        ("wrong-key", "session-forged"), ("tampered-payload", "session-forged"), ("bad-signature", "session-forged"),
        ("truncated-signature", "session-forged"), ("padded-base64", "session-malformed"),
        ("two-parts", "session-malformed"), ("four-parts", "session-malformed"), ("milliseconds", nil),
        ("string-exp", "session-forged"), ("fractional-exp", nil), ("session-other-space", "session-other-space"),
        ("session-unknown", "session-unknown"), ("session-ended", "session-ended"),
    ]

    /// Session keys are bytes, and no text that could be decoded; nobody looks at their `nbf` and `typ`.
    private static let inapplicableToSessions = [
        "public-key-as-secret", "secret-hex-decoded", "secret-base64-decoded", "not-yet-valid", "missing-typ",
    ]

    @Test("each defect of a session's token has its answer", arguments: sessionDefects)
    func sessionDefect(_ defect: String, _ failure: String?) async throws {
        let world = try await World.comapi()
        // An ended session, for the defect that needs one.
        let ended = try await world.session("bob")
        try await world.call(.delete, Example.path("/sessions/\(ended.id)"), ended.fields).expect(204)
        let token = try await world.mint("comapi/session", ["defect": .string(defect)])
        let answer = try await world.call(.get, Example.path("/profiles/mira"), [("authorization", "Bearer \(token)")])
        if let failure { answer.expect(401, Example.unauthorized, failure) } else { answer.expect(200) }
    }

    @Test("no defect that the kinds list is without a case")
    func coverage() async throws {
        let answer = try await World().control(.get, "tokens")
        let kinds = (answer.json["kinds"]?.array ?? []).filter { $0["vendor"] == "comapi" }
        #expect(kinds.compactMap { $0["kind"]?.string } == ["app", "session"])
        let tested = [
            Self.appDefects.map(\.0) + Self.inapplicable + Self.hexadecimal,
            Self.sessionDefects.map(\.0) + Self.inapplicableToSessions,
        ]
        for (kind, tested) in zip(kinds, tested) {
            let listed = Set(kind["defects"]?.array?.compactMap(\.string) ?? []).subtracting(["missing-CLAIM"])
            #expect(listed.subtracting(tested) == [])
            #expect(Set(tested).filter { !$0.hasPrefix("missing-") }.subtracting(listed) == [])
        }
    }

    @Test("every member of an order shows in the token")
    func members() async throws {
        let world = try await World.comapi()
        let token = CompactToken(
            try await world.mint(
                "comapi/app",
                [
                    "space": .string(Example.c), "user": "anna", "nonce": "n", "expires_in": "60",
                    "header": ["kid": "k"], "claims": ["extra": [1]],
                ]))
        #expect(token.header == ["alg": "HS256", "typ": "JWT", "kid": "k"])
        #expect(
            token.claims == [
                "uid": "anna", "nonce": "n", "aud": "orders-app", "iss": "https://issuer.example/app",
                "iat": 1_798_761_600, "exp": 1_798_761_660, "extra": [1],
            ])
        let session = CompactToken(
            try await world.mint("comapi/session", ["profile": "anna", "session": "s-1", "expires_in": 60]))
        #expect(session.claims?["sub"] == "anna")
        #expect(session.claims?["jti"] == "s-1")
        #expect(session.claims?["exp"] == 1_798_761_660)
    }

    @Test("a minted token of a session opens it, or begins one; after a reset a new one has to be minted")
    func sessions() async throws {
        let world = try await World.comapi()
        let minted: World.Fields = [("authorization", "Bearer " + (try await world.mint("comapi/session")))]
        let first = try await world.call(.get, Example.path("/profiles/mira"), minted)
        first.expect(200)
        #expect(first.isNoted("session-known"))
        #expect(try await world.control(.post, "reset").status == 204)
        try await world.freeze(at: Example.moment)
        try await world.call(.get, Example.path("/profiles/mira"), minted)
            .expect(401, Example.unauthorized, "session-unknown")
        let again: World.Fields = [("authorization", "Bearer " + (try await world.mint("comapi/session")))]
        try await world.call(.get, Example.path("/profiles/mira"), again).expect(200)
        let bob = try await world.session("bob")
        let known = CompactToken(try await world.mint("comapi/session", ["profile": "bob"]))
        #expect(known.claims?["jti"]?.string == bob.id)
        #expect(known.text == bob.token)
    }

    @Test(
        "an order that makes no sense is refused, and the answer says why",
        arguments: [
            ("app", #"{"defect":"expird"}"#, "expird"), ("app", #"{"usr":"x"}"#, "did you mean “user”?"),
            ("app", #"{"space":"none"}"#, "no API space"), ("app", #"{"authenticationId":"none"}"#, "no challenge"),
            ("app", #"{"expires_in":"soon"}"#, "whole number"), ("app", #"{"defect":"nonce-reused"}"#, "answered yet"),
            ("app", #"{"defect":"secret-latin-1"}"#, "U+0080"),
            ("app", #"{"defect":"public-key-as-secret"}"#, "no public key"),
            ("session", #"{"defect":"session-ended"}"#, "no session was ended"),
            ("session", #"{"defect":"nonce-mismatch"}"#, "no defect nonce-mismatch"),
            ("session", #"{"defect":"secret-hex-decoded"}"#, "hexadecimal"),
        ])
    func refused(_ kind: String, _ order: String, _ hint: String) async throws {
        let answer = try await World.comapi().control(.post, "tokens/comapi/\(kind)", order)
        #expect(answer.status == 400)
        #expect(answer.text.contains(hint), "\(answer.text)")
    }

    @Test("an explanation names the space whose secret fits, and judges the nonce where the challenge is known")
    func explanation() async throws {
        let world = try await World.comapi()
        let challenge = try await world.challenge()
        let token = try await world.mint("comapi/app", ["nonce": .string(challenge.nonce)])
        func verdict(_ token: String, _ request: JSON) async throws -> JSON? {
            let order: JSON = ["token": .string(token), "vendor": "comapi", "request": request]
            return try await world.control(.post, "tokens/explain", order.text).json["verdicts"]?[0]
        }
        let bare = try await verdict(token, [:])
        #expect(bare?["account"] == .string("API space \(Example.a)"))
        #expect(bare?["accepted"] == true)
        #expect(bare?["findings"]?.array?.first { $0["check"] == "nonce" }?["outcome"] == "not-judged")
        #expect(try await verdict(token, ["authenticationId": .string(challenge.id)])?["accepted"] == true)
        #expect(try await verdict(token, ["nonce": "other"])?["failure"] == "nonce-mismatch")
        #expect(try await verdict(token, ["space": .string(Example.b)])?["failure"] == "secret-of-another-space")
        let session = try await world.session()
        let own = try await verdict(session.token, [:])
        #expect(own?["kind"] == "session")
        #expect(own?["accepted"] == true)
        #expect(own?["account"] == .string("API space \(Example.a)"))
        let other = try await verdict(session.token, ["space": .string(Example.b)])
        #expect(other?["failure"] == "session-other-space")
        #expect(other?["answer"]?["status"] == 401)
    }

    @Test("whatever the user id is, the payload of a session's token has neither - nor _")
    func decodable() async throws {
        let world = try await World.comapi()
        let users = ["~~~", "???", ">>>", "\u{7F}", "ÿþ", "日本", "👍🏽", "a~b?c>d", "\u{0}\u{1F}", "\\\"/", "é?é~é>"]
        for user in users + (0..<40).map({ number in String(repeating: "x", count: number % 4) + "~?>\(number)ö" }) {
            let token = try await world.mint("comapi/session", ["profile": .string(user)])
            let payload = token.split(separator: ".")[1]
            #expect(!payload.contains("-") && !payload.contains("_"), "\(user)")
            #expect(CompactToken(token).claims?["sub"]?.string == user)
        }
    }
}
