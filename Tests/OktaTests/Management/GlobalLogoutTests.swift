import Emulation
import JSON
import Support
import Testing

@Suite("Global token revocation")
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
}
