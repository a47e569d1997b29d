import JSON
import Support
import Testing
import Tokens
import Understudy

/// The spec's acceptance examples for challenge and session, with the spec's numbers.
@Suite("Comapi's acceptance examples: challenge and session")
struct AcceptanceOfSessionsTests {
    @Test("1: two challenges have four members each and nothing in common", arguments: Depth.allCases)
    func challenges(_ depth: Depth) async throws {
        let world = try await World.comapi(depth)
        var seen: Set<String> = []
        for _ in 0..<2 {
            let answer = try await world.call(.get, Example.path("/sessions/start"))
            answer.expect(200)
            #expect(answer.json.object?.map(\.name) == ["authenticationId", "provider", "nonce", "expiresOn"])
            #expect(answer.json["provider"] == "jsonWebToken")
            #expect(answer.json["expiresOn"] == "2027-01-01T00:15:00.000Z")
            for name in ["authenticationId", "nonce"] { seen.insert(try #require(answer.json[name]?.string)) }
        }
        #expect(seen.count == 4)
    }

    @Test("2 and 3: a right answer begins a session, once", arguments: Depth.allCases)
    func create(_ depth: Depth) async throws {
        let world = try await World.comapi(depth)
        let challenge = try await world.challenge()
        let token = try Forged.token(claims: Forged.claims(nonce: challenge.json))
        let answer = try await world.answer(challenge, token, ["deviceId": "iPhone"])
        let (id, issued) = (answer.json["session"]?["id"]?.string ?? "", answer.json["token"]?.string ?? "")
        answer.expect(
            200,
            #"{"token":"\#(issued)","session":{"id":"\#(id)","profileId":"mira","deviceId":"iPhone","#
                + #""sourceIp":"127.0.0.1","isActive":true,"state":"SessionStarted","provider":"jsonWebToken","#
                + #""nonce":"\#(challenge.nonce)","createdOn":"2027-01-01T00:00:00.000Z","#
                + #""startedOn":"2027-01-01T00:00:00.000Z","expiresOn":"2027-01-01T01:00:00.000Z"}}"#)
        let claims = CompactToken(issued).claims
        #expect(CompactToken(issued).header == ["alg": "HS256", "typ": "JWT"])
        #expect(claims?["apiSpaceId"] == .string(Example.a))
        #expect(claims?["exp"] == 1_798_765_200)
        let again = try await world.answer(challenge, token, ["deviceId": "iPhone"])
        again.expect(403, Example.invalidJWT, "nonce-reused")
    }

    @Test("4: a challenge cannot be answered after its end", arguments: Depth.allCases)
    func late(_ depth: Depth) async throws {
        let world = try await World.comapi(depth)
        let challenge = try await world.challenge()
        try await world.advance("901s")
        let token = try Forged.token(claims: Forged.claims(nonce: challenge.json))
        try await world.answer(challenge, token).expect(403, Example.invalidJWT, "nonce-expired")
    }

    @Test("5: a refused answer leaves the challenge open", arguments: Depth.allCases)
    func secondTry(_ depth: Depth) async throws {
        let world = try await World.comapi(depth)
        let challenge = try await world.challenge()
        let claims = Forged.claims(nonce: challenge.json)
        try await world.answer(challenge, Forged.token(secret: "wrong", claims: claims))
            .expect(403, Example.invalidJWT, "bad-signature")
        try await world.answer(challenge, Forged.token(claims: claims)).expect(200)
    }

    /// Section 2.4 of the spec: one signing input, signed with space B's secret correctly and incorrectly.
    private static let signingInput =
        "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiJtaXJhIiwibm9uY2UiOiIzYjZmMGE1NC05YzFkLTRlNjctOGEyMC01ZDFmN2"
        + "M5ZTRiMTAiLCJhdWQiOiJodHRwczovL2FwaS5jb21hcGkuY29tIiwiaXNzIjoiaHR0cHM6Ly9hcGkuY29tYXBpLmNvbS9kZWZhdWx0YXV0aC"
        + "IsImlhdCI6MTc5ODc2MTYwMCwiZXhwIjoxNzk4ODQ4MDAwfQ"

    @Test(
        "6: the vectors of wrong encodings are explained by name", arguments: Depth.allCases,
        [
            ("JziPVDysz4tjA5NLNLewt20BHdRlhGy_owqs-r9XSOM", nil),
            ("42GR93T9fV4iv3wYSh5BNpbkwzWcyNIiwdX8rKMBkr4", "secret-hex-decoded"),
            ("6medkCx2X6jgUoWsMWzr80pxrrUUdWacrE-r8-LXIYQ", "secret-base64-decoded"),
            ("I4oO1_7IpSgpHMkEQtsmFDswuED29pc9I8ZZr3mtnlM", "secret-base64-text"),
            ("Gg_xXkPq7UN8N0AydzuZ_6UCd2dFIlZA4OJlXKPlH44", "secret-base64-text"),
        ] as [(String, String?)])
    func vectors(_ depth: Depth, _ vector: (signature: String, failure: String?)) async throws {
        let world = try await World.comapi(depth)
        for request: JSON in [["space": .string(Example.b)], [:]] {
            let order: JSON = [
                "token": .string("\(Self.signingInput).\(vector.signature)"), "vendor": "comapi", "request": request,
            ]
            let verdict = try await world.control(.post, "tokens/explain", order.text).json["verdicts"]?[0]
            #expect(verdict?["failure"] == JSON(vector.failure))
            #expect(verdict?["kind"] == "app")
            let signature = verdict?["findings"]?.array?.first { $0["check"] == "signature" }
            #expect(signature?["outcome"] == (vector.failure == nil ? "passed" : "failed"))
        }
    }

    @Test("7: an unsigned token is refused for its algorithm", arguments: Depth.allCases)
    func unsigned(_ depth: Depth) async throws {
        let world = try await World.comapi(depth)
        let challenge = try await world.challenge()
        let input = [#"{"alg":"none"}"#, Forged.claims(nonce: challenge.json)].map { Base64URL.encode(Array($0.utf8)) }
        let answer = try await world.answer(challenge, input.joined(separator: ".") + ".")
        answer.expect(403, Example.invalidJWT, "wrong-algorithm")
    }

    @Test("8: an audience with a slash too many is told so", arguments: Depth.allCases)
    func audience(_ depth: Depth) async throws {
        let world = try await World.comapi(depth)
        let answer = try await world.answer {
            Forged.claims(nonce: $0.json, audience: #""https://api.comapi.com/""#)
        }
        answer.expect(403, Example.invalidJWT, "wrong-audience")
        #expect(answer.entry?.explanation?.contains("Only the final “/” differs.") == true)
    }

    @Test("9: milliseconds are accepted with a remark, or refused by name", arguments: Depth.allCases)
    func milliseconds(_ depth: Depth) async throws {
        let world = try await World.comapi(depth)
        func answer() async throws -> ReceivedAnswer {
            try await world.answer {
                Forged.claims(nonce: $0.json, issued: "1798761600000", expires: "1798848000000")
            }
        }
        let accepted = try await answer()
        accepted.expect(200)
        #expect(accepted.isNoted("milliseconds-exp"))
        #expect(accepted.isNoted("milliseconds-iat"))
        #expect(
            accepted.findings.first { $0.check == "milliseconds-exp" }?.note
                == "exp is 1798848000000. A JWT counts seconds, and as seconds this is the year 58973; as milliseconds "
                + "it is 2027-01-02T00:00:00.000Z. Divide by 1000. Accepted: accepts-millisecond-times is on. The "
                + "vendor's current page announces 403 Invalid JWT.")
        try await world.set(profile: .observed)
        let refused = try await answer()
        refused.expect(403, Example.invalidJWT, "milliseconds-exp")
        #expect(refused.entry?.explanation?.contains("Refused: accepts-millisecond-times is off.") == true)
    }

    @Test("10: fractions of seconds are accepted in both profiles", arguments: Depth.allCases)
    func fractions(_ depth: Depth) async throws {
        let world = try await World.comapi(depth)
        for _ in 0..<2 {
            let answer = try await world.answer {
                Forged.claims(nonce: $0.json, issued: "1798761600.766123", expires: "1798848000.766123")
            }
            answer.expect(200)
            #expect(!answer.isNoted("milliseconds-exp"))
            try await world.set(profile: .observed)
        }
    }

    @Test("11: a token without times is accepted, or refused by name", arguments: Depth.allCases)
    func timeless(_ depth: Depth) async throws {
        let world = try await World.comapi(depth)
        func answer() async throws -> ReceivedAnswer {
            try await world.answer { Forged.claims(nonce: $0.json, issued: nil, expires: nil) }
        }
        try await answer().expect(200)
        try await world.set(profile: .observed)
        try await answer().expect(403, Example.invalidJWT, "missing-exp")
    }

    @Test("12: a token may be 59 seconds late, not 60", arguments: Depth.allCases)
    func leeway(_ depth: Depth) async throws {
        let world = try await World.comapi(depth)
        try await world.answer { Forged.claims(nonce: $0.json, issued: nil, expires: "1798761541") }.expect(200)
        try await world.answer { Forged.claims(nonce: $0.json, issued: nil, expires: "1798761540") }
            .expect(403, Example.invalidJWT, "expired-token")
    }

    @Test("13: a body without a token is told which member is missing", arguments: Depth.allCases)
    func missingMember(_ depth: Depth) async throws {
        let world = try await World.comapi(depth)
        try await world.call(.post, Example.path("/sessions"), [], #"{"authenticationId":"x"}"#)
            .expect(400, Example.fault("authenticationToken", "is required"), "missing-field")
    }

    @Test("14: an unknown space is not found, and a browser may read so", arguments: Depth.allCases)
    func unknownSpace(_ depth: Depth) async throws {
        let world = try await World.comapi(depth)
        let answer = try await world.call(.get, "/apispaces/none/sessions/start")
        answer.expect(404, Example.notFound, "unknown-space")
        #expect(answer["access-control-expose-headers"] == "ETag")
    }

    @Test("15: any user id makes a token that the JS SDK can decode", arguments: Depth.allCases)
    func userID(_ depth: Depth) async throws {
        let world = try await World.comapi(depth)
        let user = "~~~???>>> ü"
        let answer = try await world.answer(in: Example.c, secret: "understudy-test-shared-secret-C") {
            #"{"uid":"\#(user)","nonce":\#($0.json),"iss":"https://issuer.example/app","aud":"orders-app"}"#
        }
        answer.expect(200)
        #expect(answer.json["session"]?["profileId"]?.string == user)
        let token = try #require(answer.json["token"]?.string)
        let payload = token.split(separator: ".")[1]
        #expect(!payload.contains("-"))
        #expect(!payload.contains("_"))
        #expect(CompactToken(token).claims?["sub"]?.string == user)
    }

    @Test("16: no token, and the token of another space", arguments: Depth.allCases)
    func otherSpace(_ depth: Depth) async throws {
        let world = try await World.comapi(depth)
        let mira = try await world.session()
        let missing = try await world.call(.get, Example.path("/profiles/mira"))
        missing.expect(401, Example.unauthorized, "session-missing")
        #expect(missing["www-authenticate"] == "Bearer")
        try await world.call(.get, Example.path("/profiles/mira", in: Example.b), mira.fields)
            .expect(401, Example.unauthorized, "session-other-space")
    }

    @Test("17: the session expires, and its socket is closed", arguments: Depth.allCases)
    func expiry(_ depth: Depth) async throws {
        let world = try await World.comapi(depth)
        let mira = try await world.session()
        let socket = try await world.openSocket(Example.path("/socket?token=\(mira.token)"))
        _ = await socket.next()
        try await world.advance("3600s")
        #expect(await socket.closure?.code == .policyViolation)
        try await world.call(.get, Example.path("/profiles/mira"), mira.fields)
            .expect(401, Example.unauthorized, "session-expired")
    }

    @Test("18: the session is ended, and its socket is closed", arguments: Depth.allCases)
    func end(_ depth: Depth) async throws {
        let world = try await World.comapi(depth)
        let mira = try await world.session()
        let socket = try await world.openSocket(Example.path("/socket?token=\(mira.token)"))
        _ = await socket.next()
        let ended = try await world.call(.delete, Example.path("/sessions/\(mira.id)"), mira.fields)
        ended.expect(204, "")
        #expect(ended["content-type"] == nil)
        #expect(await socket.closure?.code == .normal)
        try await world.call(.get, Example.path("/profiles/mira"), mira.fields)
            .expect(401, Example.unauthorized, "session-ended")
    }

    @Test("19: a session outlives a new start, and not a reset", arguments: Depth.allCases)
    func restart(_ depth: Depth) async throws {
        let world = try await World.comapi(depth)
        let mira = try await world.session()
        let later = world.moved(to: try Stage(Emulator(fixtures: Repository.fixtures)))
        try await later.freeze(at: Example.moment + 60)
        let adopted = try await later.call(.get, Example.path("/profiles/mira"), mira.fields)
        adopted.expect(200)
        #expect(adopted.isNoted("session-known"))
        let fresh = try await later.session()
        #expect(try await later.control(.post, "reset").status == 204)
        try await later.freeze(at: Example.moment + 60)
        for session in [fresh, mira] {
            try await later.call(.get, Example.path("/profiles/mira"), session.fields)
                .expect(401, Example.unauthorized, "session-unknown")
        }
    }
}
