import JSON
import Support
import Testing
import Tokens

/// Tokens on demand (section 2.5 of the vendor's spec), and Comapi's answer to each of their defects.
@Suite("Comapi's minted tokens")
struct MintingTests {
    @Test(
        "a secret that looks like something else shows how it was read",
        arguments: ["secret-hex-decoded", "secret-base64-decoded"])
    func secretDefect(_ defect: String) async throws {
        let world = try await World.comapi()
        let challenge = try await world.challenge(in: Example.b)
        let token = try await world.mint(
            "comapi/app",
            ["space": .string(Example.b), "nonce": .string(challenge.nonce), "defect": .string(defect)])
        try await world.answer(challenge, token, in: Example.b).expect(403, Example.invalidJWT, defect)
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
