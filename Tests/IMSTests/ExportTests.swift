import Emulation
import Foundation
import JSON
import Support
import Testing
import Understudy

/// State that leaves a sandbox as JSON and comes back, over a restart and over other fixtures.
@Suite("IMS's state, exported and imported")
struct ExportTests {
    private static let newIssuer = "https://new.example.test"

    private static func fields(_ subject: String = "EMP-0001") throws -> World.Fields {
        .bearer(try Forged(.uat, [("sub", .string(subject))]).text())
    }

    /// Something of every kind happens.
    private func live(_ world: World) async throws {
        let issuer = Example.issuer("new", iss: Self.newIssuer, try Example.publicKey(6), ["replay": "single-use"])
        try await world.call(.post, "/ims/v1/issuers", .operatorKey, issuer).expect(201)
        try await world.call(.delete, "/ims/v1/issuers/stranger", .operatorKey).expect(204)
        try await world.call(
            .post, "/ims/v1/users", .operatorKey,
            #"{"tenant":"demo","email":"dora@example.test","enterprise_id":"EMP-5","activation_id":"dora"}"#
        ).expect(201)
        try await world.call(.post, "/ims/v1/activation", try Self.fields("EMP-0002"), Example.activation).expect(200)
        try await world.call(.patch, Example.me, try Self.fields(), #"{"phone":"+1555","locale":"cs"}"#).expect(200)
        let point = #"{"at":"2027-01-15T07:00:00Z","lat":49.2,"lon":16.6}"#
        let trip = String(Example.trip.dropLast()) + #","vehicle_id":"v","points":[\#(point)]}"#
        try await world.call(.post, "/ims/v1/trips", try Self.fields(), trip).expect(201)
        try await world.call(.post, "/ims/v1/invitations", try Self.fields(), Example.invitation).expect(201)
        try await world.me(Self.once).expect(200)
        try await world.drill("rotating", "overlap")
        try await world.drill("cognito", "break")
    }

    private static let once = Forged(.uat, [("iss", .string(newIssuer)), ("jti", "j")]).signed(by: 6)

    /// Everything that a client can see of it.
    private func seen(_ world: World) async throws -> [String] {
        var texts: [String] = []
        for path in ["me", "trips", "trips/t-1", "driving-summary", "invitations"] {
            texts.append(try await world.call(.get, "/ims/v1/" + path, try Self.fields()).text)
        }
        texts.append(try await world.call(.get, Example.me, try Self.fields("EMP-0002")).text)
        texts.append(try await world.me(Self.once).failure ?? "used once more")
        texts.append(try await world.me(Forged(.stranger)).failure ?? "there")
        texts.append(try await world.call(.get, "/ims/dev-issuers/rotating/jwks.json").text)
        texts.append(String(try await world.call(.get, "/ims/dev-issuers/cognito/jwks.json").status))
        let issuer = try await world.call(.get, "/ims/v1/issuers/new", .operatorKey)
        texts.append(issuer.text)
        return texts
    }

    @Test("an export put back changes nothing, and holds no secret", arguments: Depth.allCases)
    func whole(_ depth: Depth) async throws {
        let world = try await World(depth)
        try await live(world)
        let before = try await seen(world)
        let exported = try await world.control(.get, "state/ims")
        #expect(exported.status == 200)
        for secret in ["PRIVATE", "private_key", "11223344", "activation_code", "operator-test-key"] {
            #expect(!exported.text.contains(secret), "\(secret)")
        }
        let code = try await world.call(.get, "/ims/v1/users/usr-4", .operatorKey).json["activation_code"]
        try await world.call(.post, "/ims/v1/users/usr-1/deactivate", .operatorKey).expect(200)
        let put = try await world.control(.put, "state/ims", exported.text)
        #expect(put.status == 200, "\(put.text)")
        #expect(try await seen(world) == before)
        #expect(
            try await world.call(.get, "/ims/v1/users/usr-4", .operatorKey).json["activation_code"] == code,
            "who was there keeps the code that the export leaves out")
    }

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

    private static let user = #""tenant":"demo","email":"a@b.test","created_at":1"#

    /// A wrong state and the complaint about it.
    private static let wrong: [(String, String)] = [
        ("{}", "member “issuers” is missing"), (#"{"issuers":[]}"#, "member “users” is missing"),
        (#"{"issuers":[],"users":[],"user":1}"#, "user: unknown member “user”; did you mean “users”?"),
        (
            #"{"issuers":[],"users":[{"id":"x",\#(user),"state":"enrolled"}]}"#,
            "users[0].id: is no id of the form usr-1"
        ),
        (#"{"issuers":[],"users":[{"id":"usr-1",\#(user),"state":"lost"}]}"#, "users[0].state: “lost” is none of"),
        (
            #"{"issuers":[],"users":[{"id":"usr-1",\#(user),"state":"active"}]}"#,
            "users[0]: user usr-1 is active without"
        ),
        (
            #"{"issuers":[],"users":[{"id":"usr-1",\#(user),"state":"enrolled"},{"id":"usr-2",\#(user),"state":"enrolled"}]}"#,
            "users[1]: another user of tenant demo has the same activation_id"
        ),
        (
            #"{"issuers":[{"name":"a","issuer":"i","tenant":"t","created_at":1,"keys":{"type":"jwks","jwks":{"keys":[]}}}],"users":[]}"#,
            "issuers[0].keys: there is no RSA key"
        ),
        (
            #"{"issuers":[{"name":"A","issuer":"i","tenant":"t","created_at":1,"keys":{"type":"jwks-url","url":"https://x.test/"}}],"users":[]}"#,
            "issuers[0]: name is not made of"
        ),
        (
            #"{"issuers":[],"users":[],"trips":[{"trip_id":"t","user":"usr-1","received_at":1}]}"#,
            "trips[0]: started_at was not sent"
        ),
        (
            #"{"issuers":[],"users":[],"dev_keys":[{"issuer":"rotatin","keys":[]}]}"#,
            "dev_keys[0].issuer: no dev issuer is called rotatin"
        ),
        (#"{"issuers":[],"users":[],"last_user":-1}"#, "last_user: -1 is not between"),
        (#"{"issuers":[],"users":[],"removed_users":[]}"#, "unknown member “removed_users”"),
    ]

    @Test("a wrong state is refused by its place, and nothing changes", arguments: wrong)
    func refused(_ body: String, _ message: String) async throws {
        let world = try await World()
        let before = try await world.control(.get, "state/ims").text
        let answer = try await world.control(.put, "state/ims", body)
        #expect(answer.status == 400)
        #expect(answer.json["error"]?["message"]?.string?.contains(message) == true, "\(answer.text)")
        #expect(try await world.control(.get, "state/ims").text == before)
    }

    // MARK: - Over a restart

    private func restarted(_ emulator: Emulator, fixtures: FixtureStore = Repository.fixtures) throws -> Stage {
        // By its text, as a file would hold it.
        let saved = try JSON.parse(emulator.exportState().prettyText.utf8)
        let fresh = try Emulator(fixtures: fixtures)
        try fresh.importState(FixtureNode(saved, from: "file"))
        return try Stage(fresh)
    }

    @Test("after a restart everything is there: issuers, users, trips, invitations, uses, keys")
    func restart() async throws {
        let first = try Stage(Emulator(fixtures: Repository.fixtures))
        let (world, untouched) = (try await World(on: first), try await World(on: first))
        try await live(world)
        try await untouched.me(Forged()).expect(200)
        let before = try await seen(world)
        let code = try await world.call(.get, "/ims/v1/users/usr-5", .operatorKey).json["activation_code"]
        let second = try restarted(first.emulator)
        #expect(second.emulator.sandboxes.existing(untouched.name) == nil, "nothing of it was to be kept")
        let again = world.moved(to: second)
        try await again.freeze(at: World.exampleMoment)
        #expect(try await seen(again) == before)
        #expect(try await again.call(.get, "/ims/v1/users/usr-5", .operatorKey).json["activation_code"] == code)
        let next = try await again.call(.post, "/ims/v1/users", .operatorKey, #"{"tenant":"demo","email":"a@b.test"}"#)
        #expect(next.json["id"] == "usr-6")
        // And once more, from what was imported.
        let third = world.moved(to: try restarted(second.emulator))
        try await third.freeze(at: World.exampleMoment)
        #expect(try await seen(third) == before)
    }

    // MARK: - Over other fixtures

    @Test("replaced fixtures: what nobody touched follows them, what was made or changed stays, fetched keys too")
    func reload() async throws {
        let fixtures = try OwnFixtures()
        let emulator = try Emulator(fixtures: fixtures.store)
        let stage = try Stage(emulator)
        let (touched, untouched) = (try await World(on: stage), try await World(on: stage))
        try await touched.call(.patch, Example.me, try Self.fields(), #"{"phone":"+1555"}"#).expect(200)
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

    /// A change of the accounts that makes them wrong, and the complaint.
    private static let wrongAccounts: [(String, String, String)] = [
        ("operator_key: \"ims-operator-test-key\"", "operator_key: \"\"", "the key is empty"),
        ("tenant: \"other\"", "tenant: \"Other\"", "tenant is not made of 1 to 40"),
        (
            "\"https://auth.other.test\"", "\"https://auth.example.test/uat\"",
            "another issuer has the name stranger or its iss"
        ),
        ("preset: cognito", "preset: congito", "preset is none of"),
        (
            "type: jwks-url, url: \"{self}/ims/dev-issuers/rotating/jwks.json\"", "type: jwks-url, url: \"nowhere\"",
            "is no URL"
        ),
        ("keys/k8.pem", "keys/k88.pem", "no such file"), ("keys/k8.pem", "failures.yaml", "is no private key in PEM"),
        ("id: \"usr-4\"", "id: \"usr-1\"", "another user has the id usr-1"),
        ("state: deactivated", "state: gone", "“gone” is none of enrolled, active, deactivated"),
        ("name: \"rotating\"\n    key:", "name: \"uat\"\n    key:", "another dev issuer is called uat"),
        ("dev_issuers:", "dev_isuers:", "did you mean “dev_issuers”?"),
    ]

    @Test("wrong accounts stop the start, and the message says what would be right", arguments: wrongAccounts)
    func wrongFixtures(_ old: String, _ new: String, _ complaint: String) throws {
        let fixtures = try OwnFixtures()
        try fixtures.put("ims/accounts.yaml", [(old, new)])
        #expect {
            try Emulator(fixtures: fixtures.store)
        } throws: {
            "\($0)".contains(complaint) && "\($0)".contains("ims/")
        }
    }

    @Test("a broken key file is told to who mints with it, and its issuer is not published")
    func brokenKey() async throws {
        let fixtures = try OwnFixtures()
        try fixtures.write("-----BEGIN PRIVATE KEY-----\nAA==\n-----END PRIVATE KEY-----\n", to: "ims/keys/k2.pem")
        let world = try await World(on: Stage(Emulator(fixtures: fixtures.store)))
        let minted = try await world.control(.post, "tokens/ims/user", #"{"issuer":"rotating"}"#)
        #expect(minted.status == 400)
        #expect(minted.text.contains("k2.pem is no private key in PEM"))
        try await world.call(.get, "/ims/dev-issuers/rotating/jwks.json").expectRefusal(503, "service-unavailable")
        try await world.me(Forged()).expect(200)
    }
}
