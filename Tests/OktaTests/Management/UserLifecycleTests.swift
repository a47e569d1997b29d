import Emulation
import JSON
import Support
import Testing
import Understudy

@testable import Okta

@Suite("The steps of Okta's users")
struct UserLifecycleTests {
    private func status(of user: String, _ world: World) async throws -> String? {
        try await world.manage(.get, "/api/v1/users/\(user)").json["status"]?.string
    }

    /// Each step with a status that allows it, one that does not, and the status after it.
    static let steps: [(OktaLifecycleStep, OktaUser.Status, OktaUser.Status?, String)] = [
        (.activate, .staged, .active, "ACTIVE"), (.activate, .deprovisioned, .suspended, "ACTIVE"),
        (.deactivate, .suspended, .deprovisioned, "DEPROVISIONED"), (.suspend, .active, .suspended, "SUSPENDED"),
        (.unsuspend, .suspended, .active, "ACTIVE"), (.unlock, .lockedOut, .active, "ACTIVE"),
        (.resetFactors, .active, .deprovisioned, "ACTIVE"),
        (.expirePassword, .active, .staged, "PASSWORD_EXPIRED"), (.resetPassword, .lockedOut, .suspended, "RECOVERY"),
    ]

    @Test("10.2: each step leads from its statuses alone", arguments: Depth.allCases, steps)
    func step(
        _ depth: Depth, _ example: (OktaLifecycleStep, OktaUser.Status, OktaUser.Status?, String)
    ) async throws {
        let (step, from, other, to) = example
        let world = try await World(depth)
        let path = "/api/v1/users/\(Example.ada)/lifecycle/\(step.rawValue)"
        try await world.act("set-status", ["user": "ada@example.test", "status": .string(from.rawValue)])
        let answer = try await world.manage(.post, path)
        answer.expect(200, step == .expirePassword ? nil : "{}")
        #expect(try await status(of: Example.ada, world) == to)
        if let other {
            try await world.act("set-status", ["user": "ada@example.test", "status": .string(other.rawValue)])
            let refused = try await world.manage(.post, path)
            refused.refuses(400, "E0000001", "Api validation failed: status", "user-status")
            #expect(refused.entry?.explanation?.contains("is \(other.rawValue)") == true)
            #expect(try await status(of: Example.ada, world) == other.rawValue)
        }
    }

    @Test(
        "10.2: an expired password gives the user, a reset the address to choose one at", arguments: Depth.allCases)
    func passwords(_ depth: Depth) async throws {
        let world = try await World(depth)
        let path = "/api/v1/users/\(Example.cleo)/lifecycle/"
        let expired = try await world.manage(.post, path + "expire_password")
        #expect(expired.json["id"]?.string == Example.cleo)
        #expect(expired.json["status"] == "PASSWORD_EXPIRED")
        let reset = try await world.manage(.post, path + "reset_password?sendEmail=false")
        reset.expect(200)
        let url = try #require(reset.json["resetPasswordUrl"]?.string)
        #expect(url.hasPrefix(Example.base + "/reset_password/"))
        #expect(!world.shown(reset.entry).contains(url.suffix(20)))
        try await world.act("set-password", ["user": "cleo@example.test", "password": "not-a-secret-9"])
        #expect(try await status(of: Example.cleo, world) == "ACTIVE")
    }

    @Test("10.2: a reset takes all factors; there are no other steps")
    func factors() async throws {
        let world = try await World()
        try await world.manage(.post, "/api/v1/users/\(Example.ada)/lifecycle/reset_factors").expect(200, "{}")
        try await world.manage(.get, "/api/v1/users/\(Example.ada)/factors").expect(200, "[]")
        let answer = try await world.manage(.post, "/api/v1/users/\(Example.ada)/lifecycle/suspends")
        answer.refuses(404, "E0000008", "The requested path was not found", "path-not-found")
        #expect(answer.entry?.explanation?.contains("suspend") == true)
    }

    @Test("sessions end, and tokens only when that is wanted; so does everything of a deactivated user")
    func sessions() async throws {
        let world = try await World()
        let sessions: JSON = [["id": "s1", "user": .string(Example.ada), "authenticated": 1_800_000_000]]
        func load() async throws {
            try await world.restore([
                "sessions": sessions,
                "grants": [
                    [
                        "number": 1, "began": 1_800_000_000,
                        "authorization": [
                            "client": .string(Example.native), "server": "default", "user": .string(Example.ada),
                            "scopes": ["openid"],
                        ],
                    ]
                ],
            ])
        }
        func left() -> (sessions: Int, revoked: Bool) {
            let state = world.changes
            return (state["sessions"]?.array?.count ?? 0, state["grants"]?[0]?["revoked"] == true)
        }
        try await load()
        #expect(left() == (1, false))
        let path = "/api/v1/users/\(Example.ada)/sessions"
        let answer = try await world.manage(.delete, path)
        answer.expect(204, "")
        #expect(left() == (0, false))
        try await load()
        try await world.manage(.delete, path + "?oauthTokens=true").expect(204, "")
        #expect(left() == (0, true))
        try await load()
        try await world.manage(.post, "/api/v1/users/\(Example.ada)/lifecycle/deactivate").expect(200, "{}")
        #expect(left() == (0, true))
        try await load()
        try await world.act("end-sessions", ["user": "ada@example.test"])
        #expect(left() == (0, false))
        try await load()
        try await world.act("end-sessions", ["user": "ada@example.test", "tokens": true])
        #expect(left() == (0, true))
    }
}

extension World {
    /// What Okta's state has besides the fixtures, with secrets.
    var changes: JSON {
        sandbox.vendor(okta).export(.changes) ?? [:]
    }

    private var okta: Int { emulator.vendors.firstIndex { $0.identity.id == "okta" } ?? 0 }

    /// Overlays a fresh state with members of an export.
    func restore(_ members: JSONObject) async throws {
        try await control(.post, "reset")
        try await freeze(at: Self.exampleMoment)
        var changes: JSONObject = [
            "users": [], "factors": [], "trusted_origins": [], "removed_users": [], "removed_factors": [],
            "removed_origins": [], "keys": [],
        ]
        for member in members { changes[member.name] = member.value }
        try sandbox.vendor(okta).read(FixtureNode(.object(changes), from: "test"), .changes)()
    }
}
