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
        let answer = try await world.call(
            .get, "/api/v1/partner/317/customer/entity456/addressbook?note=\(token)&next=1",
            [World.apiKey, ("Authorization", "Bearer \(token)"), ("Referer", "https://a.test/b")])
        expect(answer.status, is: 403)
        let (entry, masked) = (world.shown(answer.entry), "\(parts[0]).\(parts[1]).***")
        for shown in ["Bearer \(masked)", "note=\(masked)&next=1", World.apiKey.1, "https://a.test/b", "entity456"] {
            #expect(entry.contains(shown), "\(entry)")
        }
        expect(answer.entry?.explanation?.contains("entity456"), is: true)
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
        let shown = world.shown(world.sandbox.journal.last)
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
        try await world.call(
            .post, "/track/v2/projects/demo-project-1/customers", [("Authorization", "Token pubkey-demo-1")], body
        ).expect(200)
        let state = try await world.control(.get, "state/bloomreach").text
        #expect(state.contains(#""a":"***","b":"plain""#), "\(state)")
    }

    @Test("a password is secret from the moment on at which somebody has it, also after it was replaced")
    func learned() async throws {
        let world = try await World()
        let note = { try await world.call(.get, "/nobody?q=fresh-password-1") }
        #expect(world.shown(try await note().entry).contains("fresh-password-1"))
        _ = try await world.call(
            .post, "/v2/credentials/register", [World.apiKey], #"{"username":"eve","password":"fresh-password-1"}"#)
        #expect(!world.shown(try await note().entry).contains("fresh-password-1"))
        try await world.control(.put, "state/rezolve", #"{"customers":[],"users":[]}"#).expect(200)
        #expect(!world.shown(try await note().entry).contains("fresh-password-1"))
    }
}
