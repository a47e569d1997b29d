import Emulation
import Foundation
import JSON
import Support
import Testing
import Understudy

/// State exported from a sandbox as JSON and imported again, after a restart and with other fixtures.
@Suite("IMS's state, exported and imported")
struct ExportTests {
    @Test("an empty state is one, and reset brings the fixtures' records back")
    func empty() async throws {
        let world = try await World()
        let put = try await world.control(.put, "state/ims", #"{"issuers":[],"users":[]}"#)
        #expect(put.status == 200, "\(put.text)")
        try await world.me(Forged()).expectRefusal(401, "issuer-unknown")
        try await world.call(.get, "/ims/v1/users", .operatorKey).expect(200, #"{"users":[]}"#)
        let user = try await world.call(.post, "/ims/v1/users", .operatorKey, #"{"tenant":"demo","email":"a@b.test"}"#)
        #expect(user.json["id"] == "usr-5", "an id of the fixtures is not given out again")
        try await world.control(.post, "reset")
        try await world.freeze(at: World.exampleMoment)
        try await world.me(Forged()).expect(200)
    }

    // MARK: - With other fixtures

    @Test("replaced fixtures: what nobody touched follows them, what was made or changed stays, fetched keys too")
    func reload() async throws {
        let fixtures = try OwnFixtures()
        let emulator = try fixtures.emulator(of: "ims")
        let stage = try Stage(emulator)
        let (touched, untouched) = (try await World(on: stage), try await World(on: stage))
        try await touched.call(.patch, Example.me, try IMSLife.fields(), #"{"phone":"+1555"}"#).expect(200)
        try await touched.me(Forged(.rotating)).expect(200)
        try await touched.replaceUAT(["max_lifetime_seconds": 700])
        try fixtures.put(
            "ims/accounts.yaml",
            [
                ("first_name: \"Ada\"", "first_name: \"Augusta\""), ("EMP-0003", "EMP-0033"),
                ("preset: firebase\n", "preset: firebase\n    require_kid: false\n"),
            ])
        try emulator.reload(fixtures.store)
        #expect(try await touched.me(Forged()).json["first_name"] == "Ada", "the record was changed, so it is its own")
        #expect(try await untouched.me(Forged()).json["first_name"] == "Augusta")
        for world in [touched, untouched] {
            try await world.me(Forged(.uat, [("sub", "EMP-0033")])).expectRefusal(403, "user-deactivated")
            let firebase = Forged(.firebase, [("aud", "understudy-demo")]).header("kid", nil)
            try await world.me(firebase).expect(200)
        }
        try await touched.me(Forged(.uat, [("exp", 1_800_000_701)])).expectRefusal(401, "lifetime-too-long")
        try await untouched.me(Forged(.uat, [("exp", 1_800_000_701)])).expect(200)
        try await touched.me(Forged(.rotating)).expect(200)
        #expect(try await touched.fetches() == 1, "the fetched keys were kept")
    }

    @Test("a broken key file is told to who mints with it, and its issuer is not published")
    func brokenKey() async throws {
        let fixtures = try OwnFixtures()
        try fixtures.write("-----BEGIN PRIVATE KEY-----\nAA==\n-----END PRIVATE KEY-----\n", to: "ims/keys/k2.pem")
        let world = try await World(on: Stage(fixtures.emulator(of: "ims")))
        let minted = try await world.control(.post, "tokens/ims/user", #"{"issuer":"rotating"}"#)
        #expect(minted.status == 400)
        #expect(minted.text.contains("k2.pem is not a private key in PEM"))
        try await world.call(.get, "/ims/dev-issuers/rotating/jwks.json").expectRefusal(503, "service-unavailable")
        try await world.me(Forged()).expect(200)
    }
}
