import Emulation
import JSON
import Support
import Testing
import Tokens
import Understudy

@Suite("Global token revocation and Universal Logout")
struct GlobalLogoutTests {
    private static let path = "/oauth2/v1/global-token-revocation"

    /// A session and a grant of Ada.
    private static let signedIn: JSONObject = [
        "sessions": [["id": "s1", "user": .string(Example.ada), "authenticated": 1_800_000_000]],
        "grants": [grant(1, of: Example.web), grant(2, of: Example.native)],
    ]

    private static func grant(_ number: Int, of client: String) -> JSON {
        [
            "number": JSON(number), "began": 1_800_000_000,
            "authorization": [
                "client": .string(client), "server": "default", "user": .string(Example.ada), "scopes": ["openid"],
            ],
        ]
    }

    /// The numbers of revoked grants.
    private func revoked(_ world: World) -> [Int] {
        (world.changes["grants"]?.array ?? []).filter { $0["revoked"] == true }.compactMap { $0["number"]?.int }
    }

    @Test(
        "9.1: a subject loses sessions and tokens", arguments: Depth.allCases,
        [
            #"{"sub_id":{"format":"opaque","id":"00uunderstudyada0001"}}"#,
            #"{"sub_id":{"format":"iss_sub","iss":"http://localhost:8080","sub":"00uunderstudyada0001"}}"#,
        ])
    func revoke(_ depth: Depth, _ body: String) async throws {
        let world = try await World(depth)
        try await world.restore(Self.signedIn)
        let answer = try await world.manage(.post, Self.path, try JSON.parse(body.utf8))
        answer.expect(204, "")
        #expect(revoked(world) == [1, 2])
        #expect(world.changes["sessions"]?.array?.isEmpty != false)
        try await world.call(.post, Self.path, [("content-type", "application/json")], body).refuses(
            401, "E0000011", "Invalid token provided", "api-token-invalid")
    }

    @Test(
        "9.1: other subjects are refused without a body", arguments: Depth.allCases,
        [
            (#"{"sub_id":{"format":"x"}}"#, "expected opaque or iss_sub"),
            (#"{"sub_id":{"format":"opaque"}}"#, "it has no id"),
            (#"{"sub_id":{"format":"opaque","id":"00unone"}}"#, "names nobody"),
            (
                #"{"sub_id":{"format":"iss_sub","iss":"http://a.test","sub":"ada@example.test"}}"#,
                "http://localhost:8080"
            ),
        ])
    func subjects(_ depth: Depth, _ example: (body: String, reason: String)) async throws {
        let (body, reason) = example
        let world = try await World(depth)
        try await world.restore(Self.signedIn)
        let answer = try await world.manage(.post, Self.path, try JSON.parse(body.utf8))
        answer.expect(400, "", "sub-id-invalid")
        #expect(answer.entry?.explanation?.contains(reason) == true, "\(answer.entry?.explanation ?? "")")
        #expect(revoked(world).isEmpty)
        try await world.manage(.post, Self.path, [:]).refuses(
            400, "E0000001", "Api validation failed: sub_id", "body-invalid")
    }

    /// An emulator whose client `web` listens at that URL.
    private static func stage(calling url: String) throws -> Stage {
        let fixtures = try OwnFixtures()
        try fixtures.put(
            "okta/accounts.yaml", [(old: "http://127.0.0.1:3000/global-token-revocation", new: url)])
        return try Stage(fixtures.emulator(of: "okta"))
    }

    private static let order: JSONObject = ["user": "ada@example.test", "client": .string(Example.web)]

    /// An application that answers as that, and the world that calls it.
    private func application(
        _ status: Int, _ depth: Depth = .pipeline, _ query: String = "?x=1#y"
    ) async throws -> (app: World, World) {
        let app = try await World()
        let body: JSON = ["route": "global.revoke", "respond": ["status": JSON(status)]]
        try await app.control(.put, "faults", body.text).expectStatus(200)
        let url = "http://127.0.0.1:\(app.stage.port)/~\(app.name)\(Self.path)\(query)"
        let world = try await World(depth, on: try Self.stage(calling: url))
        try await world.restore(Self.signedIn)
        return (app, world)
    }

    @Test("9.2: the application gets a token, and the user's tokens of the client end", arguments: Depth.allCases)
    func call(_ depth: Depth) async throws {
        let (app, world) = try await application(204, depth)
        let result = try await world.act("universal-logout", .object(Self.order))
        let entry = try #require(app.sandbox.journal.entries().last)
        #expect(entry.request.body == Array(#"{"sub_id":{"format":"email","email":"ada@example.test"}}"#.utf8))
        #expect(entry.request.fields[.contentType] == "application/json")
        let token = CompactToken(String(try #require(entry.request.fields[.authorization]).dropFirst(7)))
        let header = try #require(token.header)
        let claims = try #require(token.claims)
        #expect(header.map(\.name) == ["typ", "kid", "alg"])
        #expect(header["typ"] == "global-token-revocation+jwt")
        let now = World.exampleMoment
        #expect(claims.map(\.name) == ["jti", "iss", "sub", "aud", "exp", "nbf", "iat"])
        #expect(claims["iss"] == "http://localhost:\(world.stage.port)" || claims["iss"]?.string == Example.base)
        #expect(claims["sub"]?.string == Example.web)
        #expect(claims["aud"]?.string == "http://127.0.0.1:\(app.stage.port)/~\(app.name)\(Self.path)")
        #expect(claims["exp"] == JSON(now + 300))
        #expect(claims["nbf"] == JSON(now - 300))
        #expect(claims["iat"] == JSON(now))
        let keys = try await world.call(.get, "/oauth2/v1/keys")
        let key = try #require(keys.json["keys"]?.array?.first { $0["kid"] == header["kid"] })
        #expect(token.signature(by: try VerificationKey.jwk(key), algorithm: .rs256).outcome == .passed)

        #expect(result["status"] == 204)
        #expect(result["request"]?["claims"] == .object(claims))
        #expect(revoked(world) == [1])
        #expect(world.changes["last_logout"] == result)
    }

    @Test("9.2: the journal shows the call as outgoing, and verify counts it only when asked")
    func journal() async throws {
        let (app, world) = try await application(404)
        let result = try await world.act("universal-logout", .object(Self.order))
        #expect(result["status"] == 404)
        let shown = try await world.control(.get, "journal?kind=outgoing")
        let entries = try #require(shown.json["entries"]?.array)
        #expect(entries.count == 1)
        #expect(entries[0]["kind"] == "outgoing")
        #expect(entries[0]["vendor"] == "okta")
        #expect(entries[0]["status"] == 404)
        #expect(entries[0]["url"]?.string?.hasPrefix("http://127.0.0.1:\(app.stage.port)/~\(app.name)/") == true)
        #expect(entries[0]["nearest_routes"] == nil)
        let sent = try #require(app.sandbox.journal.entries().last?.request.fields[.authorization])
        let signature = try #require(sent.split(separator: ".").last)
        #expect(!shown.text.contains(signature) && !result.text.contains(signature))
        let brief = try await world.control(.get, "journal?format=brief")
        #expect(brief.json["entries"]?[0]?["kind"] == "outgoing")
        let none: JSON = ["exactly": 0, "where": ["vendor": "okta"]]
        try await world.control(.post, "journal/verify", none.text).expectStatus(200)
        let one: JSON = ["exactly": 1, "where": ["kind": "outgoing", "status": 404]]
        try await world.control(.post, "journal/verify", one.text).expectStatus(200)
        let hurl = try await world.control(.get, "journal?format=hurl")
        #expect(!hurl.text.contains("global-token-revocation"))
        let har = try await world.control(.get, "journal?format=har")
        #expect(har.json["log"]?["entries"]?[0]?["request"]?["url"] == entries[0]["url"])
    }

    @Test(
        "9.3: defects spoil the token", arguments: Depth.allCases,
        [
            ("expired", "exp", JSON(World.exampleMoment - 3600)),
            ("wrong-audience", "aud", "understudy-wrong-audience"),
            ("missing-jti", "jti", .null),
        ] as [(String, String, JSON)])
    func defects(_ depth: Depth, _ example: (defect: String, claim: String, value: JSON)) async throws {
        let (defect, claim, value) = example
        let (app, world) = try await application(401, depth)
        var order = Self.order
        order["defect"] = .string(defect)
        let result = try await world.act("universal-logout", .object(order))
        #expect(result["status"] == 401)
        let entry = try #require(app.sandbox.journal.entries().last)
        let token = CompactToken(String(try #require(entry.request.fields[.authorization]).dropFirst(7)))
        #expect(token.claims?[claim] ?? .null == value)
        #expect(world.changes["last_logout"]?["status"] == 401)
        order["defect"] = "expire"
        #expect(try await world.refusal(of: "universal-logout", .object(order)).message.contains("expire"))
    }

    @Test("the subject has the form that the switch or the action wants")
    func subject() async throws {
        let (app, world) = try await application(204)
        try await world.set("okta.universal-logout-subject", "iss_sub")
        try await world.act("universal-logout", .object(Self.order))
        let body = try #require(app.sandbox.journal.entries().last).request.body
        let subject = try JSON.parse(body)["sub_id"]
        #expect(subject?["format"] == "iss_sub")
        #expect(subject?["sub"]?.string == Example.ada)
        var order = Self.order
        order["format"] = "email"
        let body2 = try await world.act("universal-logout", .object(order))["request"]?["body"]
        #expect(body2?.text == #"{"sub_id":{"format":"email","email":"ada@example.test"}}"#)
    }

    @Test("9.3: nobody listens", arguments: Depth.allCases)
    func silence(_ depth: Depth) async throws {
        // Port 1 needs privileges that no listener of a test machine has.
        let world = try await World(depth, on: try Self.stage(calling: "http://127.0.0.1:1/x"))
        let result = try await world.act("universal-logout", .object(Self.order))
        #expect(result.text == #"{"status":null,"reason":"refused"}"#)
        let entry = try #require(world.sandbox.journal.entries().last)
        #expect(entry.isOutgoing)
        #expect(entry.response.status.code == 502)
        #expect(entry.explanation?.contains("127.0.0.1:1 cannot be reached") == true)
    }

    @Test("9.3: other hosts are called only when the switch names them", arguments: Depth.allCases)
    func hosts(_ depth: Depth) async throws {
        let world = try await World(depth, on: try Self.stage(calling: "https://app.example.invalid/x"))
        try await world.restore(Self.signedIn)
        let refusal = try await world.refusal(of: "universal-logout", .object(Self.order))
        #expect(refusal.code == "logout-target-refused")
        #expect(refusal.message.contains("app.example.invalid"))
        #expect(revoked(world).isEmpty)
        #expect(world.sandbox.journal.entries().isEmpty)
        let none = try await world.refusal(
            of: "universal-logout", ["user": "ada@example.test", "client": .string(Example.native)])
        #expect(none.code == "logout-target-refused")
        let nobody = try await world.refusal(of: "universal-logout", ["user": "x", "client": .string(Example.web)])
        #expect(nobody.code == "invalid")
        // A name below .invalid has no address (RFC 6761), so nothing leaves this machine.
        try await world.set("okta.logout-allow", "app.example.invalid")
        let result = try await world.act("universal-logout", .object(Self.order))
        #expect(result.text == #"{"status":null,"reason":"unknown-host"}"#)
    }

    @Test("a fault performs it while a request waits for its answer")
    func fault() async throws {
        let (app, world) = try await application(204)
        let fault: JSON = [
            "route": "keys.list",
            "do": ["universal-logout": ["user": "ada@example.test", "client": .string(Example.web)]],
        ]
        try await world.control(.put, "faults", fault.text).expectStatus(200)
        try await world.call(.get, "/oauth2/v1/keys").expect(200)
        #expect(app.sandbox.journal.entries().last?.record.route == "global.revoke")
        #expect(revoked(world) == [1])
        let entries = world.sandbox.journal.entries()
        #expect(entries.map(\.isOutgoing) == [true, false])
        #expect(entries.last?.record.intervention?.contains("do universal-logout") == true)
        let refused: JSON = [
            "route": "keys.list",
            "do": ["universal-logout": ["user": "ada@example.test", "client": .string(Example.native)]],
        ]
        try await world.control(.put, "faults", refused.text).expectStatus(200)
        try await world.call(.get, "/oauth2/v1/keys").expect(200)
        #expect(
            world.sandbox.journal.entries().last?.record.intervention?.contains("universal-logout was not done") == true
        )
    }
}

extension ReceivedAnswer {
    func expectStatus(_ status: Int, sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(self.status == status, "\(text)", sourceLocation: sourceLocation)
    }
}
