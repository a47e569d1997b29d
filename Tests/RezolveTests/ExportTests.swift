import Emulation
import JSON
import Support
import Testing
import Understudy

/// State exported from a sandbox as JSON and imported again.
@Suite("Rezolve's state, exported and imported")
struct ExportTests {
    @Test("put into another sandbox, the records are there, and who has no password there cannot sign in")
    func elsewhere() async throws {
        let (world, other) = (try await World(), try await World())
        try await RezolveLife.live(world)
        let state = try await world.control(.get, "state/rezolve")
        #expect(state.json["last_user_id"] == 1003)
        #expect(state.json["customers"]?.array?.map { $0["partner_entity_id"] }.prefix(2) == ["user-1001", "rua-1002"])
        let exported = state.text
        #expect(try await other.control(.put, "state/rezolve", exported).text == exported)
        #expect(try await RezolveLife.seen(other) == RezolveLife.seen(world))
        // Ada's password comes from the fixtures, so it works in every sandbox.
        try await other.call(.post, "/v2/credentials/login", .keyN, Example.login).expect(200)
        let login = Example.login.replacing("ada@", with: "new@").replacing("not-a-secret-1", with: "pass-of-new")
        let refused = try await other.call(.post, "/v2/credentials/login", .keyN, login)
        #expect(refused.failure == "rua-wrong-credentials")
        // An import may include a password.
        let withPassword = exported.replacing(
            #""username":"new@example.test""#, with: #""username":"new@example.test","password":"pass-of-new""#)
        #expect(try await other.control(.put, "state/rezolve", withPassword).text == exported)
        try await other.call(.post, "/v2/credentials/login", .keyN, login).expect(200)
        // Ids continue after those already assigned.
        #expect(try await other.call(.post, "/v2/credentials/register/guest", .keyN).json["id"] == 1004)
    }

    @Test("what was replaced by a call outlives a restart as well, an empty state too")
    func replaced() async throws {
        let first = try Stage(Emulator(fixtures: Repository.fixtures))
        let world = try await World(on: first)
        for state in [
            #"{"customers":[{"entity":"entity123","partner":"317","partner_entity_id":"user-1001","created":1800000000}],"users":[]}"#,
            #"{"customers":[],"users":[]}"#,
        ] {
            let put = try await world.control(.put, "state/rezolve", state)
            #expect(put.status == 200)
            let again = world.moved(to: try first.restarted())
            #expect(try await again.control(.get, "state/rezolve").text == put.text)
        }
    }

    @Test("an empty state is one, and reset brings the fixtures' records back")
    func empty() async throws {
        let world = try await World()
        try await world.control(.put, "state/rezolve", #"{"customers":[],"users":[]}"#)
        #expect(try await world.call(.get, Example.ada + "/profile", .ada).failure == "masked-other-user")
        try await world.control(.post, "reset")
        try await world.freeze(at: World.exampleMoment)
        try await world.call(.get, Example.ada + "/profile", .ada).expect(200)
    }

    // MARK: - After a restart

    @Test("what nobody touched follows the fixtures of the new start")
    func otherFixtures() async throws {
        let first = try Stage(Emulator(fixtures: Repository.fixtures))
        let world = try await World(on: first)
        try await world.call(.post, RezolveLife.register, .keyN, RezolveLife.newUser).expect(201)
        let text = try String(contentsOfFile: Repository.root + "/Fixtures/rezolve/accounts.yaml", encoding: .utf8)
        let folder = try TemporaryFolder(["rezolve/accounts.yaml": text.replacing("Ada L", with: "Ada Lovelace")])
        let fixtures = FixtureStore(layers: [folder.path, Repository.root + "/Fixtures"])
        let again = world.moved(to: try first.restarted(fixtures))
        try await again.freeze(at: World.exampleMoment)
        #expect(try await again.call(.get, Example.ada + "/profile", .ada).json["name"] == "Ada Lovelace")
        _ = try await RezolveLife.publicKey(ofUser: "new@example.test", password: "pass-of-new", in: again)
    }

    @Test("a pair that was made for an unchanged customer of the fixtures outlives two restarts")
    func madeForFixtures() async throws {
        let text = try String(contentsOfFile: Repository.root + "/Fixtures/rezolve/accounts.yaml", encoding: .utf8)
        let folder = try TemporaryFolder([
            "rezolve/accounts.yaml": text.replacing("    key_pair: \"keys/ada.pem\"\n", with: "")
        ])
        let fixtures = FixtureStore(layers: [folder.path, Repository.root + "/Fixtures"])
        var stage = try Stage(Emulator(fixtures: fixtures))
        let world = try await World(on: stage)
        let key = try await world.call(.get, Example.ada + "/publickey", .ada)
        key.expect(200)
        for _ in 0..<2 {
            stage = try stage.restarted(fixtures)
            let again = world.moved(to: stage)
            try await again.freeze(at: World.exampleMoment)
            #expect(try await again.call(.get, Example.ada + "/publickey", .ada).text == key.text)
        }
    }

    @Test("a customer who registered again has no pair before it is needed, after a restart either")
    func registeredAgain() async throws {
        let first = try Stage(Emulator(fixtures: Repository.fixtures))
        let world = try await World(on: first)
        try await world.control(.post, "state/rezolve/remove-customer", #"{"entity":"entity123"}"#)
        let again =
            #"{"entity":"entity123","partner":"317","partner_entity_id":"user-1001","email":"ada@example.test"}"#
        #expect(try await world.control(.post, "state/rezolve/register-customer", again).status == 200)
        let restarted = try first.restarted()
        let exported = first.emulator.exportState()
        #expect(restarted.emulator.exportState()["sandboxes"] == exported["sandboxes"])
        #expect(!exported.text.contains("PRIVATE KEY"))
        let states = try await (
            world.control(.get, "state/rezolve"), world.moved(to: restarted).control(.get, "state/rezolve")
        )
        #expect(states.0.text == states.1.text)
    }

    @Test("a seed's ids go on where they were, and none is given out twice")
    func seededIDs() async throws {
        var settings = Settings()
        settings.seed = 5
        let first = try Emulator(fixtures: Repository.fixtures, settings: settings)
        let world = try await World(on: Stage(first), at: nil)
        let guest = "/v2/credentials/register/guest"
        let one = try await world.call(.post, guest, .keyN).json["sdkEntity"]
        let saved = first.exportState()
        let two = try await world.call(.post, guest, .keyN).json["sdkEntity"]
        let second = try Emulator(fixtures: Repository.fixtures, settings: settings)
        try second.importState(FixtureNode(saved, from: "file"))
        let again = world.moved(to: try Stage(second))
        #expect(try await again.call(.post, guest, .keyN).json["sdkEntity"] == two)
        #expect(one != two)
    }

    @Test(
        "a damaged file is refused by its place",
        arguments: [
            ("{}", "file: member “understudy_state” is missing"),
            (#"{"understudy_state":3,"sandboxes":[]}"#, "file: understudy_state: the file has another form than 1"),
            (
                #"{"understudy_state":1,"sandboxes":[{"name":"A","state":{}}]}"#,
                "file: sandboxes[0]: “A” is not a sandbox name"
            ),
            (
                #"{"understudy_state":1,"sandboxes":[{"name":"a","state":{"rezolv":{}}}]}"#,
                "file: sandboxes[0].state.rezolv: no vendor is called rezolv; did you mean “rezolve”?"
            ),
            (
                #"{"understudy_state":1,"sandboxes":[{"name":"default","state":{"rezolve":{"customers":[]}}}]}"#,
                "file: sandboxes[0].state.rezolve: member “owners” is missing"
            ),
        ])
    func damaged(_ text: String, _ complaint: String) throws {
        let emulator = try Emulator(fixtures: Repository.fixtures)
        let node = FixtureNode(try JSON.parse(text.utf8), from: "file")
        #expect {
            try emulator.importState(node)
        } throws: {
            "\($0)".hasPrefix(complaint)
        }
    }
}
