import Emulation
import JSON
import Support
import Testing
import Understudy

/// State that leaves a sandbox as JSON and comes back.
@Suite("Rezolve's state, exported and imported")
struct ExportTests {
    private static let register = "/v2/credentials/register"
    private static let newUser =
        #"{"username":"new@example.test","password":"pass-of-new","email":"new@example.test","firstName":"N"}"#

    /// Something of every kind happens: new users, changed records, books, a logout, a guest.
    private func live(_ world: World) async throws {
        try await world.call(.post, Self.register, .keyN, Self.newUser).expect(201)
        try await world.call(.post, "/v2/credentials/login", .keyN, Example.login).expect(200)
        try await world.call(.post, "/v1/user/logout", .keyN.bearer(Example.jwtAda)).expect(200)
        try await world.call(.put, Example.ada + "/profile", .ada, #"{"title":"Dr","use_data_for_marketing":true}"#)
            .expect(200)
        for name in ["B", "A"] {
            try await world.call(.post, Example.ada + "/phonebook", .ada, #"{"name":"\#(name)","phone":"+1555"}"#)
                .expect(201)
        }
        try await world.call(.post, Example.addresses, .ada, #"{"city":"Brno"}"#).expect(201)
        try await world.call(.post, Example.ada + "/wallet", .ada, Example.newCard).expect(201)
        try await world.control(.post, "state/rezolve/remove-customer", #"{"entity":"entity456"}"#)
        try await world.advance("1500ms")
        try await world.call(.post, "/v2/credentials/register/guest", .keyN).expect(200)
    }

    /// Everything that a client can see of it.
    private func seen(_ world: World) async throws -> [String] {
        var texts: [String] = []
        for name in ["profile", "phonebook", "addressbook", "wallet", "publickey"] {
            texts.append(try await world.call(.get, "\(Example.ada)/\(name)", .ada).text)
        }
        for id in 1001...1003 {
            texts.append(try await world.call(.get, "/v1/credentials/confirm/000000/\(id)", .keyN).text)
        }
        let ben = try await world.mint("rezolve/login", ["customer": "entity456"])
        let fields = World.Fields.keyN.bearer(ben).device(Example.device)
        texts.append(try await world.call(.get, Example.ben + "/profile", fields).failure ?? "there")
        try await world.set("rezolve.logout-revokes-core", "yes")
        texts.append(try await world.call(.get, Example.ada + "/profile", .ada).failure ?? "open")
        try await world.set("rezolve.logout-revokes-core", "no")
        return texts
    }

    private func publicKey(ofUser name: String, _ password: String, _ world: World) async throws -> String {
        let login = try await world.call(
            .post, "/v2/credentials/login", .keyN,
            #"{"username":"\#(name)","password":"\#(password)","deviceId":"\#(Example.device)"}"#)
        login.expect(200)
        let entity = try #require(login.json["sdkEntity"]?.string)
        let token = try await world.mint("rezolve/login", ["customer": .string(entity)])
        let key = try await world.call(
            .get, "/api/v1/partner/317/customer/\(entity)/publickey", .keyN.bearer(token).device(Example.device))
        key.expect(200)
        return key.text
    }

    @Test("an export put back changes nothing, and holds no secret", arguments: Depth.allCases)
    func whole(_ depth: Depth) async throws {
        let world = try await World(depth)
        try await live(world)
        let key = try await publicKey(ofUser: "new@example.test", "pass-of-new", world)
        let before = try await seen(world)
        let exported = try await world.control(.get, "state/rezolve")
        #expect(exported.status == 200)
        for secret in ["pass-of-new", "not-a-secret", "password", "PRIVATE", "private_key", "\"pan\"", Example.secret] {
            #expect(!exported.text.contains(secret), "\(secret)")
        }
        #expect(exported.json["last_user_id"] == 1003)
        #expect(
            exported.json["customers"]?.array?.map { $0["partner_entity_id"] }.prefix(2) == ["user-1001", "rua-1002"])
        // What happens after the export is taken back.
        try await world.call(.delete, Example.ada + "/wallet/card-1", .ada).expect(204)
        let put = try await world.control(.put, "state/rezolve", exported.text)
        #expect(put.status == 200)
        #expect(put.text == exported.text)
        #expect(try await seen(world) == before)
        // Those who were there keep the passwords and keys that the export leaves out.
        #expect(try await publicKey(ofUser: "new@example.test", "pass-of-new", world) == key)
        try await world.call(.post, "/v2/credentials/login", .keyN, Example.login).expect(200)
    }

    @Test("put into another sandbox, the records are there, and who has no password there cannot sign in")
    func elsewhere() async throws {
        let (world, other) = (try await World(), try await World())
        try await live(world)
        let exported = try await world.control(.get, "state/rezolve").text
        #expect(try await other.control(.put, "state/rezolve", exported).text == exported)
        #expect(try await seen(other).dropLast() == seen(world).dropLast())
        // Ada has the password that the fixtures give her everywhere.
        try await other.call(.post, "/v2/credentials/login", .keyN, Example.login).expect(200)
        let login = Example.login.replacing("ada@", with: "new@").replacing("not-a-secret-1", with: "pass-of-new")
        let refused = try await other.call(.post, "/v2/credentials/login", .keyN, login)
        #expect(refused.failure == "rua-wrong-credentials")
        // A password may be given.
        let withPassword = exported.replacing(
            #""username":"new@example.test""#, with: #""username":"new@example.test","password":"pass-of-new""#)
        #expect(try await other.control(.put, "state/rezolve", withPassword).text == exported)
        try await other.call(.post, "/v2/credentials/login", .keyN, login).expect(200)
        // Ids count on behind those that were given out.
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
            let again = world.moved(to: try restarted(first.emulator))
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

    /// A wrong state and the complaint about it.
    private static let wrong: [(String, String)] = [
        ("{}", "member “customers” is missing"),
        (#"{"customers":{},"users":[]}"#, "customers: a mapping stands where a list is expected"),
        (#"{"customers":[],"users":[],"user":1}"#, "user: unknown member “user”; did you mean “users”?"),
        (
            #"{"customers":[{"entity":"e","partner":"317","partner_entity_id":"u","created":1},{"entity":7}],"users":[]}"#,
            "customers[1].entity: the number 7 stands where a string is expected"
        ),
        (
            #"{"customers":[{"entity":"e","partner":"318","partner_entity_id":"u","created":1}],"users":[]}"#,
            "customers[0]: customer e has the unknown partner 318"
        ),
        (
            #"{"customers":[{"entity":"e","partner":"317","partner_entity_id":"u","created":-1}],"users":[]}"#,
            "customers[0].created: the number is no Unix time from 1970 to 9999 in seconds"
        ),
        (
            #"{"customers":[{"entity":"e","partner":"317","partner_entity_id":"u","created":1,"addresses":[{"id":"a","phone_id":"p"}]}],"users":[]}"#,
            "customers[0].addresses[0]: address a has the unknown phone p"
        ),
        (
            #"{"customers":[{"entity":"e","partner":"317","partner_entity_id":"u","created":1,"private_key":"x"}],"users":[]}"#,
            "customers[0].private_key: is no private key in PEM"
        ),
        (
            #"{"customers":[],"users":[{"id":1,"customer":"entity123","username":"u"}]}"#,
            "users[0]: the customer entity123 is unknown"
        ),
        (
            #"{"customers":[{"entity":"e","partner":"317","partner_entity_id":"u","created":1,"profile":{"name":"a","name":"b"}}],"users":[]}"#,
            "customers[0].profile: the member name stands there twice"
        ),
        (
            #"{"customers":[{"entity":"e","partner":"317","partner_entity_id":"u","created":1}],"users":[{"id":1,"customer":"e","username":"a","times_logged_in":9223372036854775807}]}"#,
            "users[0].times_logged_in: 9223372036854775807 is not between"
        ),
        (
            #"{"customers":[{"entity":"e","partner":"317","partner_entity_id":"u","created":1},{"entity":"f","partner":"317","partner_entity_id":"v","created":1}],"users":[{"id":1,"customer":"e","username":"a"},{"id":2,"customer":"f","username":"a"}]}"#,
            "users[1]: another user of partner 317 signs in with “a” too"
        ),
        (
            #"{"customers":[{"entity":":NONE:","partner":"317","partner_entity_id":"u","created":1}],"users":[]}"#,
            "customers[0]: “:NONE:” can be no entity id"
        ),
        (
            #"{"customers":[{"entity":"e","partner":"317","partner_entity_id":"u","created":1,"phones":[{"id":"p","name":"a","phone":"1"},{"id":"p","name":"b","phone":"2"}]}],"users":[]}"#,
            "customers[0]: two records of customer e have the same id"
        ),
        (#"{"customers":[],"users":[],"last_user_id":-1}"#, "last_user_id: user id -1 is not between"),
    ]

    @Test("a wrong state is refused by its place, and nothing changes", arguments: wrong)
    func refused(_ body: String, _ message: String) async throws {
        let world = try await World()
        let before = try await world.control(.get, "state/rezolve").text
        let answer = try await world.control(.put, "state/rezolve", body)
        #expect(answer.status == 400)
        #expect(answer.json["error"]?["message"]?.string?.contains(message) == true, "\(answer.text)")
        #expect(try await world.control(.get, "state/rezolve").text == before)
    }

    // MARK: - Over a restart

    private func restarted(_ emulator: Emulator, fixtures: FixtureStore = Repository.fixtures) throws -> Stage {
        // By its text, as a file would hold it.
        let saved = try JSON.parse(emulator.exportState().prettyText.utf8)
        let fresh = try Emulator(fixtures: fixtures)
        try fresh.importState(FixtureNode(saved, from: "file"))
        return try Stage(fresh)
    }

    @Test("after a restart everything is there: users, passwords, keys, books, logouts, in every sandbox")
    func restart() async throws {
        let first = try Stage(Emulator(fixtures: Repository.fixtures))
        let (world, untouched) = (try await World(on: first), try await World(on: first))
        try await live(world)
        let key = try await publicKey(ofUser: "new@example.test", "pass-of-new", world)
        try await untouched.call(.get, Example.ada + "/profile", .ada).expect(200)
        let before = try await seen(world)
        let second = try restarted(first.emulator)
        #expect(second.emulator.sandboxes.existing(untouched.name) == nil, "nothing of it was to be kept")
        let again = world.moved(to: second)
        try await again.freeze(at: World.exampleMoment)
        #expect(try await seen(again) == before)
        #expect(try await publicKey(ofUser: "new@example.test", "pass-of-new", again) == key)
        #expect(try await again.call(.post, "/v2/credentials/register/guest", .keyN).json["id"] == 1004)
        // And once more, from what was imported.
        let third = world.moved(to: try restarted(second.emulator))
        try await third.freeze(at: World.exampleMoment)
        #expect(try await publicKey(ofUser: "new@example.test", "pass-of-new", third) == key)
    }

    @Test("what nobody touched follows the fixtures of the new start")
    func otherFixtures() async throws {
        let first = try Stage(Emulator(fixtures: Repository.fixtures))
        let world = try await World(on: first)
        try await world.call(.post, Self.register, .keyN, Self.newUser).expect(201)
        let text = try String(contentsOfFile: Repository.root + "/Fixtures/rezolve/accounts.yaml", encoding: .utf8)
        let folder = try TemporaryFolder(["rezolve/accounts.yaml": text.replacing("Ada L", with: "Ada Lovelace")])
        let fixtures = FixtureStore(layers: [folder.path, Repository.root + "/Fixtures"])
        let again = world.moved(to: try restarted(first.emulator, fixtures: fixtures))
        try await again.freeze(at: World.exampleMoment)
        #expect(try await again.call(.get, Example.ada + "/profile", .ada).json["name"] == "Ada Lovelace")
        _ = try await publicKey(ofUser: "new@example.test", "pass-of-new", again)
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
            stage = try restarted(stage.emulator, fixtures: fixtures)
            let again = world.moved(to: stage)
            try await again.freeze(at: World.exampleMoment)
            #expect(try await again.call(.get, Example.ada + "/publickey", .ada).text == key.text)
        }
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
                "file: sandboxes[0]: “A” is no name of a sandbox"
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
