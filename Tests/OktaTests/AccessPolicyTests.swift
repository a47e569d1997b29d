import Emulation
import Expectations
import JSON
import Support
import Testing
import Understudy

@testable import Okta

@Suite("Assignments and access policies of Okta") struct AccessPolicyTests {
    private static let mobile: JSON = [
        "name": "Mobile", "clients": [.string(Example.native)], "scopes": ["openid", "profile", "offline_access"],
        "access_token_lifetime": 600, "refresh_token_lifetime": 7200, "refresh_token_window": 600,
    ]

    @Test("who joins an assigned group may use the client, and so may all once nobody is named")
    func assigned() async throws {
        let world = try await World()
        try await world.perform("assign-client", ["client": .string(Example.native), "groups": ["Pilots"]]).expect(200)
        expect(try await world.authorize().failure, is: "user-not-assigned")
        try await world.perform("set-groups", ["user": .string(Example.ada), "groups": ["Pilots"]]).expect(200)
        _ = try await world.code()
        try await world.perform("assign-client", ["client": .string(Example.native)]).expect(200)
        try await world.perform("set-groups", ["user": .string(Example.ada), "groups": []]).expect(200)
        _ = try await world.code()
    }

    @Test("an action that assigns a client names a user or group that is unknown") func strangers() async throws {
        let world = try await World()
        let user = try await world.perform(
            "assign-client", ["client": .string(Example.web), "users": ["ada@example.tets"]])
        #expect(user.status == 400 && user.text.contains("did you mean “ada@example.test”?"), "\(user.text)")
        let group = try await world.perform("assign-client", ["client": .string(Example.web), "groups": ["pilots"]])
        #expect(
            group.status == 400 && group.text.contains("did you mean “Pilots”? Only capitals differ"), "\(group.text)")
    }

    @Test("a group that an action adds is assigned, and in tokens") func addedGroup() async throws {
        let world = try await World.restartable()
        let added = try await world.perform("add-group", ["name": "Crew"])
        #expect(added.status == 200 && added.json["id"]?.string?.hasPrefix("00g") == true, "\(added.text)")
        let again = try await world.perform("add-group", ["name": "Crew"])
        #expect(again.status == 400 && again.text.contains("Crew, already"), "\(again.text)")
        try await world.perform("set-groups", ["user": .string(Example.ada), "groups": ["Crew"]]).expect(200)
        try await world.perform("assign-client", ["client": .string(Example.native), "groups": ["Crew"]]).expect(200)
        let later = try world.restarted()
        let token = try await AppClient.native(later).tokens("openid groups").read("id_token")
        expect(token.claims?["groups"], is: ["Everyone", "Crew"])
    }

    @Test("a device's grant knows assignments; a service needs none") func grants() async throws {
        let world = try await World()
        for client in [Example.tv, Example.service] {
            try await world.perform("assign-client", ["client": .string(client), "users": ["cleo@example.test"]])
                .expect(200)
        }
        let device = try await world.startDevice()
        try await world.perform("approve-device", ["user_code": .string(device.user)]).expect(200)
        let polled = try await world.poll(device.device)
        #expect(polled.status == 400 && polled.failure == "user-not-assigned", "\(polled.text)")
        try await AppClient.service(world).post("token", .service()).expect(200)
    }

    @Test("the first policy that allows a request sets lifetimes; none refuses all, and no list allows all")
    func policies() async throws {
        let world = try await World()
        let app = AppClient.native(world)
        try await world.perform("set-policies", ["policies": [Self.mobile]]).expect(200)
        let tokens = try await app.tokens()
        expect(tokens.json["expires_in"], is: 600)
        try await world.advance("599s")
        let refreshed = try await app.refresh(tokens.member("refresh_token"))
        #expect(refreshed.status == 200 && refreshed.json["expires_in"] == 600)
        try await world.advance("601s")
        let late = try await app.refresh(tokens.member("refresh_token"))
        #expect(
            late.failure == "refresh-token-invalid" && late.reason?.hasSuffix("600 s, as a policy says") == true,
            "\(late.reason ?? "")")
        try await world.perform("set-policies", ["policies": []]).expect(200)
        let none = try await AppClient.service(world).post("token", .service())
        expect(
            none.reason?.contains("Write policies: [{ name: \"All\" }] of the server"), is: true, "\(none.reason ?? "")"
        )
        try await world.perform("set-policies", [:]).expect(200)
        try await AppClient.service(world).post("token", .service()).expect(200)
        let org = try await world.perform("set-policies", ["server": "org", "policies": []])
        #expect(org.status == 400 && org.text.contains("has no access policies"), "\(org.text)")
    }

    @Test("fixtures assign clients, have policies and default scopes, and name what they cannot have")
    func fixtures() async throws {
        let fixtures = try OwnFixtures()
        let changes = [
            ("name: \"trips.read\", display", "name: \"trips.read\", default: true, display"),
            (
                "audience: \"api://default\"",
                "audience: \"api://default\"\n    policies: [{ name: \"Services\", grants: [client_credentials] }]"
            ),
            (
                "    grants: [authorization_code, refresh_token, password]",
                "    grants: [authorization_code, refresh_token, password]\n"
                    + "    assigned: { users: [\"cleo@example.test\"] }"
            ),
        ].map { (old: $0.0, new: $0.1) }
        try fixtures.put("okta/accounts.yaml", changes)
        let world = try await World(on: Stage(fixtures.emulator(of: "okta")))
        let service = try await AppClient.service(world).post("token", [("grant_type", "client_credentials")])
        #expect(service.status == 200 && service.json["scope"] == "trips.read", "\(service.text)")
        expect(try await AppClient.web(world).post("token", .password).failure, is: "user-not-assigned")
        expect(try await world.authorize().failure, is: "policy-not-matched")
        for (right, wrong, complaint) in [
            ("users: [\"cleo@example.test\"]", "groups: [\"Crew\"]", "no group has the id or name Crew"),
            ("{ users: [\"cleo@example.test\"] }", "all", "found all; expected everyone, or a mapping"),
            ("[client_credentials] }", "[magic] }", "grants has magic; expected some of authorization_code"),
        ] {
            try fixtures.put("okta/accounts.yaml", changes + [(old: right, new: wrong)])
            let problem = try #require(throws: FixtureProblem.self) { _ = try fixtures.emulator(of: "okta") }
            #expect(problem.description.contains(complaint), "\(problem)")
        }
    }
}
