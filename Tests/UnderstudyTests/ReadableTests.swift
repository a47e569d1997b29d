import Emulation
import Expectations
import JSON
import Support
import Testing
import Understudy

/// Masks must not hide what the journal is for.
@Suite("What stays readable beside what is hidden") struct ReadableTests {
    @Test("header and claims of a token, ids, public keys and the reason stay") func stays() async throws {
        let world = try await World()
        let token = try await world.mint("rezolve/login")
        let parts = token.split(separator: ".")
        let apiKey = "a1b2c3d4-e5f6-g7h8-i9j0-a1b2c3d4e5f6"
        let answer = try await world.call(
            .get, "/api/v1/partner/317/customer/entity456/addressbook?note=\(token)&next=1",
            [
                ("x-rezolve-partner-apikey", apiKey), ("Authorization", "Bearer \(token)"),
                ("Referer", "https://a.test/b"),
            ])
        expect(answer.status, is: 403)
        let entry = world.shown(answer.entry)
        #expect(entry.contains("\(parts[0]).\(parts[1]).***"))
        #expect(entry.contains("note=\(parts[0]).\(parts[1]).***&next=1"))
        #expect(entry.contains(apiKey))
        #expect(entry.contains("https://a.test/b"))
        expect(answer.entry?.explanation?.contains("entity456"), is: true)
        #expect(entry.contains("entity456"))
        #expect(!entry.contains(parts[2]))
    }

    @Test("the token of a handshake is not shown at all, whatever becomes of the handshake", arguments: [true, false])
    func handshake(_ isGood: Bool) async throws {
        let world = try await World()
        let token = try await world.mint(isGood ? "comapi/session" : "rezolve/login")
        let space = "b1f0c3d2-5a47-4c1e-9d88-0e6a7f2b4c15"
        do {
            _ = try await world.openSocket("/apispaces/\(space)/socket?token=\(token)")
            #expect(isGood)
        } catch is SocketRefused {
            #expect(!isGood)
        }
        let entry = try #require(world.sandbox.journal.entries().last)
        let shown = world.shown(entry)
        #expect(shown.contains("/socket?token=***"))
        for part in token.split(separator: ".") { #expect(!shown.contains(part)) }
    }

    @Test("a secret that is a word is hidden where it is the whole value") func word() async throws {
        let world = try await World()
        let answer = try await world.call(
            .post, "/nobody/secret/secrets?a=secret&b=my%20secret", [("x-api-key", "secret"), ("x-note", "no secret")],
            #"{"secret_santa":false,"kind":"secret","about":"a secret place"}"#)
        let entry = world.shown(answer.entry)
        for shown in [
            "/nobody/***/secrets?a=***&b=my%20secret", #"["x-api-key","***"]"#, #"["x-note","no secret"]"#,
            #"{"secret_santa":false,"kind":"***","about":"a secret place"}"#,
        ] { #expect(entry.contains(shown), "\(entry)") }
    }

    @Test("what the control API shows of a state can be told from what it hides") func state() async throws {
        let world = try await World()
        let body = #"{"customer_ids":{"registered":"eva"},"properties":{"a":"ims-operator-test-key","b":"plain"}}"#
        let answer = try await world.call(
            .post, "/track/v2/projects/demo-project-1/customers", [("Authorization", "Token pubkey-demo-1")], body)
        expect(answer.status, is: 200)
        let state = try await world.control(.get, "state/bloomreach").text
        #expect(state.contains(#""a":"***","b":"plain""#), "\(state)")
    }

    @Test("a password is secret from the moment on at which somebody has it, also after it was replaced")
    func learned() async throws {
        let world = try await World()
        let apiKey = ("x-rezolve-partner-apikey", "a1b2c3d4-e5f6-g7h8-i9j0-a1b2c3d4e5f6")
        let note = { try await world.call(.get, "/nobody?q=fresh-password-1") }
        #expect(world.shown(try await note().entry).contains("fresh-password-1"))
        _ = try await world.call(
            .post, "/v2/credentials/register", [apiKey], #"{"username":"eve","password":"fresh-password-1"}"#)
        #expect(!world.shown(try await note().entry).contains("fresh-password-1"))
        let removed = try await world.control(.put, "state/rezolve", #"{"customers":[],"users":[]}"#)
        expect(removed.status, is: 200, "\(removed.text)")
        #expect(!world.shown(try await note().entry).contains("fresh-password-1"))
    }
}

/// Clients may send a name twice without being refused; the file that a restart reads must accept it too.
@Suite("Repeated members survive a restart") struct RepeatedMemberTests {
    private static let track = "/track/v2/projects/demo-project-1"
    private static let space = "/apispaces/b1f0c3d2-5a47-4c1e-9d88-0e6a7f2b4c15"
    private static let token = [("authorization", "Token pubkey-demo-1")]

    @Test(
        "of Bloomreach's customers, events and clicks",
        arguments: [
            ("/customers", #"{"customer_ids":{"cookie":"c"},"properties":{"o":{"a":1,"a":2}}}"#),
            ("/customers", #"{"customer_ids":{"cookie":"c"},"properties":{"a":1,"a":2}}"#),
            ("/customers/events", #"{"customer_ids":{"cookie":"c"},"event_type":"x","properties":{"a":1,"a":2}}"#),
            (
                "/campaigns/clicks",
                #"{"url":"https://a.example.test/?xnpe_cmp=1","timestamp":1,"properties":{"a":1,"a":2}}"#
            ),
        ])
    func tracked(_ path: String, _ body: String) async throws {
        let world = try await World(on: Stage(Emulator(fixtures: Repository.fixtures)))
        expect(try await world.call(.post, Self.track + path, Self.token, body).status, is: 200)
        try await expectRestart(of: world)
    }

    @Test("of Comapi's profiles and messages") func comapi() async throws {
        let world = try await World(on: Stage(Emulator(fixtures: Repository.fixtures)))
        let fields = [("authorization", "Bearer " + (try await world.mint("comapi/session")))]
        _ = try await world.call(.get, Self.space + "/profiles/mira", fields)
        let profile = try await world.call(
            .patch, Self.space + "/profiles/mira", fields, #"{"o":{"a":1,"a":2},"p":1,"p":2}"#)
        expect(profile.status, is: 200)
        _ = try await world.call(.post, Self.space + "/conversations", fields, #"{"id":"talk","name":"Talk"}"#)
        let message = try await world.call(
            .post, Self.space + "/conversations/talk/messages", fields,
            #"{"metadata":{"a":1,"a":2},"parts":[{"name":"t","type":"text/plain","data":"hi","x":1,"x":2}],"alert":{"platforms":{"fcm":{"a":1,"a":2}}}}"#
        )
        expect(message.status, is: 200, "\(message.text)")
        try await expectRestart(of: world)
    }

    @Test("and so do codes that end after the year 9999") func lateCode() async throws {
        let world = try await World(on: Stage(Emulator(fixtures: Repository.fixtures)), at: 253_402_295_400)
        let answer = try await world.call(
            .post, "/ims/v1/users", [("x-ims-operator-key", "ims-operator-test-key")],
            #"{"tenant":"demo","email":"late@example.test"}"#)
        expect(answer.status, is: 201)
        try await expectRestart(of: world)
    }

    private func expectRestart(of world: World) async throws {
        let text = world.emulator.exportState().prettyText
        let exported = try JSON.parse(Array(text.utf8), maximumDepth: Emulator.documentDepth)
        let other = try Stage(Emulator(fixtures: Repository.fixtures))
        let restored = try other.emulator.restoreState(exported, from: "file")
        expect(restored.setAside.map(\.description), is: [])
        expect(restored.sandboxes, is: 1)
        expect(other.emulator.exportState()["sandboxes"], is: exported["sandboxes"])
        for vendor in ["bloomreach", "comapi", "ims"] {
            let state = try await world.control(.get, "state/" + vendor).text
            expect(try await world.control(.put, "state/" + vendor, state).text, is: state)
        }
    }
}
