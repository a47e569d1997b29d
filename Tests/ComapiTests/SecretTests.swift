import JSON
import Support
import Testing
import Tokens
import Understudy

/// Secrets used as something other than the UTF-8 bytes of their text (section 2.4 of the vendor's spec).
@Suite("Comapi's wrong secrets")
struct SecretTests {
    @Test("a secret with letters beyond ASCII shows when it was taken as Latin-1", arguments: Depth.allCases)
    func latin1(_ depth: Depth) async throws {
        let fixtures = try OwnFixtures()
        try fixtures.put("comapi/accounts.yaml", [(Example.secretA, "geheim-ü")])
        let world = try await World.comapi(depth, on: Stage(fixtures.emulator(of: "comapi")))
        let challenge = try await world.challenge()
        let token = try await world.mint(
            "comapi/app", ["nonce": .string(challenge.nonce), "defect": "secret-latin-1"])
        let answer = try await world.answer(challenge, token)
        answer.expect(403, Example.invalidJWT, "secret-latin-1")
        #expect(answer.entry?.explanation?.contains("Use its UTF-8 bytes.") == true)
        let right = try await world.mint("comapi/app", ["nonce": .string(challenge.nonce)])
        try await world.answer(challenge, right).expect(200)
    }

    @Test(
        "white space that was added at the edge of a secret shows",
        arguments: [Example.secretA + " ", Example.secretA + "\n", Example.secretA + "\r\n"])
    func extended(_ secret: String) async throws {
        let world = try await World.comapi()
        let answer = try await world.answer(secret: secret) { Forged.claims(nonce: $0.json) }
        answer.expect(403, Example.invalidJWT, "secret-trimmed")
        #expect(answer.entry?.explanation?.contains("is added") == true)
    }

    @Test("white space that was dropped from a secret shows")
    func trimmed() async throws {
        let fixtures = try OwnFixtures()
        try fixtures.put("comapi/accounts.yaml", [("\"\(Example.secretA)\"", "\" \(Example.secretA) \"")])
        let world = try await World.comapi(on: Stage(fixtures.emulator(of: "comapi")))
        let answer = try await world.answer { Forged.claims(nonce: $0.json) }
        answer.expect(403, Example.invalidJWT, "secret-trimmed")
        #expect(answer.entry?.explanation?.contains("is removed") == true)
    }

    @Test("the secret of another space shows whose it is")
    func another() async throws {
        let world = try await World.comapi()
        let answer = try await world.answer(secret: "understudy-test-shared-secret-C") { Forged.claims(nonce: $0.json) }
        answer.expect(403, Example.invalidJWT, "secret-of-another-space")
        #expect(answer.entry?.explanation?.contains(Example.c) == true)
    }

    @Test("no secret and no signature is in the journal, nor the token of a socket's address")
    func journal() async throws {
        let world = try await World.comapi()
        let (mira, _) = try await world.trip()
        _ = try? await world.openSocket(Example.path("/socket?token=\(mira.token)"))
        let journal = try await world.control(.get, "journal").text
        #expect(!journal.contains(mira.token))
        #expect(!journal.contains(String(mira.token.split(separator: ".")[2])))
        for secret in ["understudy-test-shared-secret", "understudy-test-session-secret"] {
            #expect(!journal.contains(secret))
        }
    }
}
