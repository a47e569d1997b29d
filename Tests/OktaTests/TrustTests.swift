import JSON
import Support
import Testing
import Understudy

/// A backend that trusts the emulated issuer: it fetches the issuer's keys inside the process.
@Suite("A backend that trusts Okta's tokens")
struct TrustTests {
    private static let me = "/ims/v1/me"

    /// Enrolls the user of the issuer, which the fixtures onboard wherever this server is.
    private static func trust(
        in world: World, under prefix: String = "", _ fields: World.Fields = []
    ) async throws {
        let json = ("content-type", "application/json")
        let user: JSON = [
            "email": "ada@example.test", "tenant": "sso", "enterprise_id": "ada@example.test", "activate": true,
        ]
        let enrolled = try await world.bare(
            .post, prefix + "/_understudy/state/ims/enroll-user", fields + [json], user.text)
        #expect(enrolled.status == 200, "\(enrolled.text)")
    }

    @Test("signs a user in with keys that it fetches from the issuer", arguments: Depth.allCases)
    func named(_ depth: Depth) async throws {
        let world = try await World(depth)
        try await Self.trust(in: world, under: "/~\(world.name)")
        let token = try await AppClient.native(world).tokens().member("access_token")
        let answer = try await world.call(.get, Self.me, [("authorization", "Bearer \(token)")])
        answer.expect(200)
        #expect(answer.json["enterprise_id"] == "ada@example.test", "\(answer.text)")
        let fetched = world.sandbox.journal.entries().filter { $0.record.route == "keys.list" }
        #expect(fetched.map(\.request.target) == ["/oauth2/default/v1/keys"])
        // The fetched keys serve the next call.
        try await world.call(.get, Self.me, [("authorization", "Bearer \(token)")]).expect(200)
        #expect(world.sandbox.journal.entries().count { $0.record.route == "keys.list" } == 1)
    }

    @Test("does so in the default sandbox, and in one that is named by path or host")
    func forms() async throws {
        let world = try await World(on: Stage(Emulator(fixtures: Repository.fixtures)))
        for (prefix, host) in [("", nil), ("/~\(world.name)", nil), ("", "\(world.name)-b.localhost")]
            as [(String, String?)]
        {
            let fields = host.map { [("host", $0)] } ?? []
            try await Self.trust(in: world, under: prefix, fields)
            let minted = try await world.bare(.post, prefix + "/_understudy/tokens/okta/access", fields)
            let token = try #require(minted.json["token"]?.string, "\(minted.text)")
            let answer = try await world.bare(.get, prefix + Self.me, fields + [("authorization", "Bearer \(token)")])
            #expect(answer.status == 200, "\(answer.text) \(minted.text)")
        }
    }

    @Test("refuses tokens of a key that has left, of another server and of another sandbox's issuer")
    func refused() async throws {
        let world = try await World()
        try await Self.trust(in: world, under: "/~\(world.name)")
        func me(_ order: JSONObject) async throws -> ReceivedAnswer {
            let token = try await world.mint("okta/access", order)
            return try await world.call(.get, Self.me, [("authorization", "Bearer \(token)")])
        }
        try await me([:]).expect(200)
        #expect(try await me(["server": "org", "header": ["typ": "JWT"]]).failure == "issuer-unknown")
        #expect(try await me(["defect": "unknown-kid"]).failure == "kid-unknown")
        let elsewhere = try await me([
            "claims": ["iss": "http://127.0.0.1:8080/oauth2/default"], "header": ["typ": "JWT"],
        ])
        #expect(elsewhere.failure == "issuer-unknown")
        #expect(
            elsewhere.findings.contains { $0.note?.contains("--public-base says which address that is") == true },
            "\(elsewhere.findings)")
        let literal = try await me(["claims": ["iss": "{base}/oauth2/default"], "header": ["typ": "JWT"]])
        #expect(literal.failure == "issuer-unknown")
    }

    @Test("enrolls the user at the first call, in the scenario for that", arguments: Depth.allCases)
    func scenario(_ depth: Depth) async throws {
        let world = try await World(depth)
        try await world.control(.put, "scenarios", #"{"scenario":"ims-user-of-another-issuer"}"#).expect(200)
        let app = AppClient.native(world)
        let token = try await app.tokens().member("access_token")
        for _ in 1...2 {
            let answer = try await world.call(.get, Self.me, [("authorization", "Bearer \(token)")])
            answer.expect(200)
            #expect(answer.json["enterprise_id"] == "ada@example.test", "\(answer.text)")
        }
        let stranger = try await world.mint("ims/user")
        try await world.call(.get, Self.me, [("authorization", "Bearer \(stranger)")]).expect(200)
    }

    @Test("notices a rotation when the cool-down is over")
    func rotation() async throws {
        let world = try await World()
        try await Self.trust(in: world, under: "/~\(world.name)")
        func me() async throws -> ReceivedAnswer {
            let token = try await world.mint("okta/access")
            return try await world.call(.get, Self.me, [("authorization", "Bearer \(token)")])
        }
        try await me().expect(200)
        try await world.control(.post, "keys/okta/default/replace")
        try await me().expect(200)
        try await world.control(.post, "keys/okta/default/replace")
        #expect(try await me().failure == "kid-unknown")
        try await world.advance("30s")
        try await me().expect(200)
    }
}
