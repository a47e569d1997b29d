import Support
import Testing

/// What the journal must not show from Rezolve's bodies.
@Suite("Rezolve's secrets")
struct SecretTests {
    @Test(
        "passwords and card numbers stay out of the journal",
        arguments: [
            ("POST", Example.ada + "/wallet", Example.newCard.replacing(#""pan":"x""#, with: #""pan":"do-not-show""#)),
            (
                "PUT", Example.ada + "/wallet/card-1",
                #"{"short_name":"x","name_on_card":"y","address_id":"address-1","pan":"do-not-show"}"#
            ),
            ("POST", "/v2/credentials/register", #"{"username":"u","password":"do-not-show"}"#),
            ("POST", "/v2/credentials/login", #"{"username":"u","password":"do-not-show","deviceId":"d"}"#),
            ("POST", "/v1/user/password", #"{"currentPassword":"do-not-show","newPassword":"do-not-show"}"#),
        ])
    func requests(_ method: String, _ path: String, _ body: String) async throws {
        let world = try await World()
        let answer = try await world.call(try #require(.init(method)), path, .ada, body)
        let entry = world.shown(answer.entry)
        #expect(entry.contains(#":"***""#))
        #expect(!entry.contains("do-not-show"))
        #expect(!answer.text.contains("do-not-show"))
    }

    @Test("no token in an answer can be used by who reads the journal")
    func answers() async throws {
        let world = try await World()
        let answer = try await world.call(.get, "/v2/credentials/ping", .keyN.bearer(Example.jwtAda))
        let token = try #require(answer.json["accessToken"]?.string)
        let entry = world.shown(answer.entry)
        for signature in [token, "Bearer " + Example.jwtAda].compactMap({ $0.split(separator: ".").last }) {
            #expect(!entry.contains(signature))
        }
        let signed = token.split(separator: ".").dropLast().joined(separator: ".")
        #expect(entry.contains(signed), "header and claims are there to be read")
    }
}
