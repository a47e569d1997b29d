import JSON
import Support
import Testing
import Tokens

/// Tokens on demand (section 2.5 of the vendor's spec), and Rezolve's answer to each of their defects.
@Suite("Rezolve's minted tokens")
struct MintingTests {
    @Test("what the example world holds is minted byte for byte")
    func exampleWorld() async throws {
        let world = try await World()
        #expect(try await world.mint("rezolve/login") == Example.jwtAda)
        #expect(try await world.mint("rezolve/login", ["expires_in": -1]) == Example.jwtAdaOld)
        #expect(
            try await world.mint("rezolve/login", ["defect": "fractional-exp", "expires_in": 1800]) == Example.jwtFloat)
        #expect(try await world.mint("rezolve/registration") == Example.regNew)
        #expect(
            try await world.mint("rezolve/login", ["partner_entity_id": "317", "defect": "v2-header-bug"])
                == Example.jwtV2Bug)
        try await world.freeze(at: 1_520_869_470 - 1800)
        #expect(
            try await world.mint("rezolve/registration", ["partner": "3", "partner_entity_id": "123"])
                == Example.seedJWT)
    }

    @Test("the journal names the mistake with the secret")
    func diagnosis() async throws {
        let world = try await World()
        let token = try await world.mint("rezolve/login", ["defect": "secret-base64-decoded"])
        let answer = try await world.call(.get, Example.addresses, .keyN.bearer(token).device(Example.device))
        answer.expectDenied("masked-signature")
        #expect(answer.outcome(of: "secret-base64-decoded") == .noted)
    }

    @Test("a logout token is over already, unless told otherwise")
    func logoutToken() async throws {
        let world = try await World()
        let token = try await world.mint("rezolve/logout")
        #expect(CompactToken(token).claims?["exp"] == 1_799_999_940)
        try await world.call(.get, Example.addresses, .keyN.bearer(token).device(Example.device)).expectExpired()
        #expect(try await world.mint("rezolve/logout", ["expires_in": 1800]) == Example.jwtAda)
    }

    @Test("every member of an order shows in the token")
    func members() async throws {
        let world = try await World()
        let token = CompactToken(
            try await world.mint(
                "rezolve/login",
                [
                    "partner": 317, "customer": "entity456", "partner_entity_id": "other", "device_id": "dev-9",
                    "expires_in": "60", "header": ["kid": "k"], "claims": ["extra": [1], "exp": 7],
                ]))
        #expect(token.header == ["auth": "v2", "alg": "HS512", "typ": "JWT", "kid": "k"])
        #expect(
            token.claims == [
                "rezolve_entity_id": "entity456", "partner_entity_id": "other", "exp": 7, "device_id": "dev-9",
                "extra": [1],
            ])
    }

    @Test(
        "an order that makes no sense is refused, and the answer says why",
        arguments: [
            ("login", #"{"defect":"expird"}"#, "expird"), ("login", #"{"custmer":"x"}"#, "did you mean “customer”?"),
            ("login", #"{"partner":"31"}"#, "did you mean “3”?"), ("login", #"{"partner":"404"}"#, "no auth key"),
            ("login", #"{"partner":"3"}"#, "no customer"), ("login", #"{"expires_in":"soon"}"#, "whole number"),
            ("login", #"{"expires_in":1.5}"#, "whole number"), ("login", #"{"customer":[]}"#, "expected a string"),
            ("login", #"{"header":[]}"#, "expected an object"), ("login", #"{"claims":"x"}"#, "expected an object"),
            ("login", #"{"defect":"public-key-as-secret"}"#, "a secret has no public key"),
            ("login", #"{"defect":"secret-hex-decoded"}"#, "hexadecimal"),
            ("login", #"{"defect":"missing-nbf"}"#, "nbf"),
            ("login", #"{"defect":"wrong-devce"}"#, "did you mean “wrong-device”?"),
            ("registration", #"{"defect":"wrong-device"}"#, "no defect wrong-device"),
            ("registration", #"{"defect":"v2-header-bug"}"#, "no defect v2-header-bug"),
        ])
    func refused(_ kind: String, _ order: String, _ hint: String) async throws {
        let answer = try await World().control(.post, "tokens/rezolve/" + kind, order)
        #expect(answer.status == 400)
        #expect(answer.json["error"]?["code"] == "invalid")
        #expect(answer.json["error"]?["message"]?.string?.contains(hint) == true, "\(answer.text)")
    }

    @Test(
        "a lifetime beyond all integers is cut off, not fatal",
        arguments: ["9223372036854775807", "-9223372036854775808"])
    func endlessLifetime(_ seconds: String) async throws {
        let answer = try await World().control(.post, "tokens/rezolve/login", #"{"expires_in":\#(seconds)}"#)
        #expect(answer.status == 200)
        #expect(answer.json["claims"]?["exp"]?.int != nil)
    }

    @Test(
        "explaining a token names its kind, its account and its answer",
        arguments: [
            (Example.jwtAda, "login", "partner 317", nil as String?),
            (Example.regNew, "registration", "partner 317", nil),
            (Example.jwtAdaOld, "login", "partner 317", "token-expired"),
            (Example.seedJWT, "registration", "partner 3", "token-expired"),
            (Example.jwtV2Bug, "login", "partner 317", "masked-missing-fields"),
        ])
    func explanation(_ token: String, _ kind: String, _ account: String, _ failure: String?) async throws {
        let answer = try await World().control(
            .post, "tokens/explain", JSON.object(["token": .string(token), "vendor": "rezolve"]).text)
        let verdict = try #require(answer.json["verdicts"]?[0])
        #expect(verdict["kind"] == .string(kind))
        #expect(verdict["account"] == .string(account))
        #expect(verdict["failure"] == JSON(failure))
        #expect(verdict["accepted"] == .bool(failure == nil))
        #expect(verdict["answer"]?["status"]?.int == (failure == "token-expired" ? 401 : failure == nil ? nil : 403))
    }

    @Test("explaining a token judges what is known of its request, and nothing else")
    func explanationContext() async throws {
        let world = try await World()
        func verdict(_ request: JSON) async throws -> JSON? {
            try await world.control(
                .post, "tokens/explain", JSON.object(["token": .string(Example.jwtAda), "request": request]).text
            ).json["verdicts"]?[0]
        }
        let bare = try #require(try await verdict([:]))
        let device = bare["findings"]?.array?.first { $0["check"] == "device" }
        #expect(device?["outcome"] == "not-judged")
        #expect(try await verdict(["device_id": "another"])?["failure"] == "masked-device-mismatch")
        #expect(try await verdict(["entity": "entity456"])?["failure"] == "masked-other-user")
        #expect(try await verdict(["partner": "3"])?["failure"] == "masked-signature")
    }
}
