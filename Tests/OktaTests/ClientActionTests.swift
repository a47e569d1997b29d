import Emulation
import Expectations
import JSON
import Support
import Testing
import Understudy

@testable import Okta

@Suite("Clients of one's own at Okta") struct ClientActionTests {
    private static let home = "http://localhost:5173/callback"

    @Test("a client that an action adds signs users in, keeps its secret and goes with a reset")
    func add() async throws {
        let world = try await World()
        let added = try await world.perform(
            "add-client",
            [
                "id": "mine", "secret": "a-secret-of-mine", "redirect_uris": [.string(Self.home)],
                "application_type": "web",
            ])
        added.expect(200)
        expect(added.json["methods"], is: ["client_secret_basic", "client_secret_post"])
        #expect(!added.text.contains("a-secret-of-mine"))
        let code = try await world.code(.authorizing("mine", Self.home, scope: "openid"))
        let form = Parameters.redeem(code).with("redirect_uri", Self.home).with("client_id", nil)
        func redeem(_ secret: String) async throws -> ReceivedAnswer {
            try await world.token(form + [("client_id", "mine"), ("client_secret", secret)])
        }
        let wrong = try await redeem("another")
        #expect(wrong.status == 401 && wrong.failure == "client-secret-wrong", "\(wrong.failure ?? "")")
        try await redeem("a-secret-of-mine").expect(200)
        #expect(!(try await world.control(.get, "journal").text.contains("a-secret-of-mine")))
        let again = try await world.perform("add-client", ["id": "mine"])
        #expect(again.status == 400 && again.text.contains("another client has the id mine"))
        try await world.control(.post, "reset")
        expect(try await world.authorize(.authorizing("mine", Self.home)).failure, is: "client-unknown")
    }

    @Test("a public client needs PKCE unless it is added without it") func pkce() async throws {
        let world = try await World()
        for id in ["strict", "lax"] {
            var order: JSONObject = ["id": .string(id), "redirect_uris": [.string(Self.home)]]
            if id == "lax" { order["pkce_required"] = false }
            expect(try await world.perform("add-client", order).json["pkce_required"], is: .bool(id == "strict"))
            let plain = Parameters.authorizing(id, Self.home).with("code_challenge", nil)
            let answer = try await world.authorize(plain.with("code_challenge_method", nil))
            expect(answer.failure, is: id == "strict" ? "pkce-challenge-missing" : nil)
        }
    }

    @Test("a redirect URI that is nearly registered says what differs, and an action registers it")
    func redirectURI() async throws {
        let world = try await World()
        let asked = Parameters.authorizing(Example.spa, "http://localhost:5173/spa")
        let refused = try await world.authorize(asked)
        expect(refused.failure, is: "redirect-uri-illegal")
        expect(
            refused.reason,
            is: "redirect-uri: found http://localhost:5173/spa; expected http://localhost:3000/spa. Only the port "
                + "differs. Register it in redirect_uris of client \(Example.spa) in okta/accounts.yaml, or by the action "
                + "add-redirect-uri")
        let added = try await world.perform(
            "add-redirect-uri", ["client": .string(Example.spa), "uri": "http://localhost:5173/spa"])
        expect(added.json["redirect_uris"], is: ["http://localhost:3000/spa", "http://localhost:5173/spa"])
        expect(try await world.authorize(asked).status, is: 302)
    }

    @Test("the switch that accepts any redirect URI at localhost leaves a remark") func anyLocalhost() async throws {
        let world = try await World()
        try await world.set("okta.redirect-uris", "any-localhost")
        let answer = try await world.authorize(.authorizing(Example.spa, "http://localhost:5173/x"))
        #expect(answer.status == 302 && answer.outcome(of: "redirect-uri") == .noted)
        let elsewhere = try await world.authorize(.authorizing(Example.spa, "http://localhost.evil.test/x"))
        expect(elsewhere.failure, is: "redirect-uri-illegal")
    }

    @Test("files beside accounts.yaml add records, which must not clash with others") func files() async throws {
        let fixtures = try OwnFixtures()
        try fixtures.write(
            """
            clients:
              - id: "mine"
                application_type: browser
                methods: [none]
                redirect_uris: ["\(Self.home)"]
                grants: [authorization_code]
            users:
              - { id: "00umine", login: "dora@example.test", created: 1 }
            trusted_origins: ["http://localhost:5173"]
            """, to: "okta/accounts/mine.yaml")
        let world = try await World(on: Stage(fixtures.emulator(of: "okta")))
        expect(try await world.authorize(.authorizing("mine", Self.home)).status, is: 302)
        expect(try await world.call(.get, "/api/v1/users/dora@example.test", .apiToken).status, is: 200)
        try fixtures.write(
            "clients:\n  - { id: \"\(Example.spa)\", application_type: browser, methods: [none], grants: [] }\n",
            to: "okta/accounts/b.yaml")
        let problem = try #require(throws: FixtureProblem.self) { _ = try fixtures.emulator(of: "okta") }
        #expect(
            problem.description.contains("okta/accounts/b.yaml:2") && problem.description.contains("another client has")
        )
        try fixtures.write("servers: []\n", to: "okta/accounts/b.yaml")
        let unknown = try #require(throws: FixtureProblem.self) { _ = try fixtures.emulator(of: "okta") }
        #expect(unknown.description.contains("unknown member “servers”"), "\(unknown)")
    }
}
