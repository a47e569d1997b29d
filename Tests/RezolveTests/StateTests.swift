import Emulation
import Expectations
import JSON
import Support
import Testing
import Tokens
import Understudy

/// What requests change (section 6 of the vendor's spec), and what they do not change.
@Suite("Rezolve's state") struct StateTests {
    private let register = "/api/v1/authentication/register"

    @Test("a registered customer has an id, a profile and a key pair of its own") func registration() async throws {
        let world = try await World()
        let answer = try await world.call(
            .post, register, .keyN.bearer(Example.regNew), #"{"email":"new@example.test","name":"ignored"}"#)
        let entity = try #require(answer.json["entity_id"]?.string)
        let path = Example.customer(entity)
        try await world.call(.get, path + "/profile", .keyN.bearer(Example.regNew)).expect(
            200,
            #"{"id":"\#(entity)","entity_id":"\#(entity)","title":"","name":"","first_name":"","last_name":"","#
                + #""email":"new@example.test","phone":null,"country_code":null,"metadata":null,"timezone":"GMT","#
                + #""use_data_for_marketing":false,"devices":[],"date_created":1800000000,"date_updated":1800000000}"#)
        let key = try await world.call(.get, path + "/publickey", .keyN.bearer(Example.regNew))
        let pem = try #require(key.json["public_key"]?.string)
        key.expect(200, JSON.object(["public_key": .string(pem)]).text)
        expect(try VerificationKey.pem(pem).first?.kind, is: .rsa(bits: 2048))
        try await world.call(.get, path + "/publickey", .keyN.bearer(Example.regNew)).expect(200, key.text)
        let ada = try await world.call(.get, Example.ada + "/publickey", .ada)
        #expect(ada.json["public_key"] != key.json["public_key"])
    }

    @Test("the same partner_entity_id is another user at another partner") func uniquePerPartner() async throws {
        let world = try await World()
        let token = try await world.mint("rezolve/registration", ["partner": "3", "partner_entity_id": "user-1001"])
        let answer = try await world.call(.post, register, .keyS.bearer(token), #"{"email":"a@example.test"}"#)
        answer.expect(200)
        expect(answer.json["partner_id"], is: "3")
        let path = "/api/v1/partner/3/customer/entity123/addressbook"
        try await world.call(.get, path, .keyS.bearer(token)).expectDenied("masked-other-user")
    }

    @Test("a customer's records are its own: another's id is unknown") func othersRecords() async throws {
        let world = try await World()
        let ben = World.Fields.core(try await world.mint("rezolve/login", ["customer": "entity456"]))
        try await world.call(.get, Example.ben + "/addressbook", ben).expect(200, "[]")
        try await world.call(.get, Example.ben + "/addressbook/address-1", ben)
            .expect(404, Example.notFound, "address-not-found")
        try await world.call(.post, Example.ben + "/addressbook", ben, #"{"phone_id":"phone-1"}"#)
            .expect(404, Example.notFound, "phone-not-found")
    }
}

@Suite("Rezolve's state, exported and imported") struct ExportTests {
    /// Rezolve alone, since the other vendors take most of the time of a start.
    private static let loaders = Catalog.vendors.filter { $0.identity.id == "rezolve" }

    private func start(_ fixtures: FixtureStore = Repository.fixtures) throws -> Stage {
        try Stage(Emulator(fixtures: fixtures, loaders: Self.loaders))
    }

    @Test("put into another sandbox, the records are there, and who has no password there cannot sign in")
    func elsewhere() async throws {
        let (world, other) = (try await World(), try await World())
        try await RezolveLife.live(world)
        let state = try await world.control(.get, "state/rezolve")
        expect(state.json["last_user_id"], is: 1003)
        expect(
            state.json["customers"]?.array?.map { $0["partner_entity_id"] }.prefix(2), is: ["user-1001", "rua-1002"])
        let exported = state.text
        expect(try await other.control(.put, "state/rezolve", exported).text, is: exported)
        // Ada's password comes from the fixtures, so it works in every sandbox.
        try await other.call(.post, "/v2/credentials/login", .keyN, Example.login).expect(200)
        let login = Example.login.replacing("ada@", with: "new@").replacing("not-a-secret-1", with: "pass-of-new")
        expect(try await other.call(.post, "/v2/credentials/login", .keyN, login).failure, is: "rua-wrong-credentials")
        // An import may include a password.
        let withPassword = exported.replacing(
            #""username":"new@example.test""#, with: #""username":"new@example.test","password":"pass-of-new""#)
        expect(try await other.control(.put, "state/rezolve", withPassword).text, is: exported)
        try await other.call(.post, "/v2/credentials/login", .keyN, login).expect(200)
        // Ids continue after those already assigned.
        expect(try await other.call(.post, "/v2/credentials/register/guest", .keyN).json["id"], is: 1004)
    }

    @Test("what was replaced by a call outlives a restart as well, an empty state too") func replaced() async throws {
        let first = try start()
        let world = try await World(on: first)
        for state in [
            #"{"customers":[{"entity":"entity123","partner":"317","partner_entity_id":"user-1001","created":1800000000}],"users":[]}"#,
            #"{"customers":[],"users":[]}"#,
        ] {
            let put = try await world.control(.put, "state/rezolve", state)
            expect(put.status, is: 200)
            let again = world.moved(to: try first.restarted(Repository.fixtures, Self.loaders))
            expect(try await again.control(.get, "state/rezolve").text, is: put.text)
        }
    }

    // MARK: - After a restart

    @Test("what nobody touched follows the fixtures of the new start") func otherFixtures() async throws {
        let first = try start()
        let world = try await World(on: first)
        try await world.call(.post, RezolveLife.register, .keyN, RezolveLife.newUser).expect(201)
        let fixtures = try OwnFixtures()
        try fixtures.put("rezolve/accounts.yaml", [("Ada L", "Ada Lovelace")])
        let again = world.moved(to: try first.restarted(fixtures.store, Self.loaders))
        try await again.freeze(at: World.exampleMoment)
        expect(try await again.call(.get, Example.ada + "/profile", .ada).json["name"], is: "Ada Lovelace")
        _ = try await RezolveLife.publicKey(ofUser: "new@example.test", password: "pass-of-new", in: again)
    }

    @Test("a pair that was made for an unchanged customer of the fixtures outlives two restarts")
    func madeForFixtures() async throws {
        let fixtures = try OwnFixtures()
        try fixtures.put("rezolve/accounts.yaml", [("    key_pair: \"keys/ada.pem\"\n", "")])
        var stage = try start(fixtures.store)
        let world = try await World(on: stage)
        let key = try await world.call(.get, Example.ada + "/publickey", .ada)
        key.expect(200)
        for _ in 0..<2 {
            stage = try stage.restarted(fixtures.store, Self.loaders)
            let again = world.moved(to: stage)
            try await again.freeze(at: World.exampleMoment)
            expect(try await again.call(.get, Example.ada + "/publickey", .ada).text, is: key.text)
        }
    }

    @Test("a customer who registered again has no pair before it is needed, after a restart either")
    func registeredAgain() async throws {
        let first = try start()
        let world = try await World(on: first)
        try await world.control(.post, "state/rezolve/remove-customer", #"{"entity":"entity123"}"#)
        let again =
            #"{"entity":"entity123","partner":"317","partner_entity_id":"user-1001","email":"ada@example.test"}"#
        expect(try await world.control(.post, "state/rezolve/register-customer", again).status, is: 200)
        let restarted = try first.restarted(Repository.fixtures, Self.loaders)
        let exported = first.emulator.exportState()
        expect(restarted.emulator.exportState()["sandboxes"], is: exported["sandboxes"])
        #expect(!exported.text.contains("PRIVATE KEY"))
        let states = try await (
            world.control(.get, "state/rezolve"), world.moved(to: restarted).control(.get, "state/rezolve")
        )
        expect(states.0.text, is: states.1.text)
    }

    @Test("a seed's ids go on where they were, and none is given out twice") func seededIDs() async throws {
        var settings = Settings()
        settings.seed = 5
        let first = try Emulator(fixtures: Repository.fixtures, loaders: Self.loaders, settings: settings)
        let world = try await World(on: Stage(first), at: nil)
        let guest = "/v2/credentials/register/guest"
        let one = try await world.call(.post, guest, .keyN).json["sdkEntity"]
        let saved = first.exportState()
        let two = try await world.call(.post, guest, .keyN).json["sdkEntity"]
        let second = try Emulator(fixtures: Repository.fixtures, loaders: Self.loaders, settings: settings)
        try second.importState(FixtureNode(saved, from: "file"))
        let again = world.moved(to: try Stage(second))
        expect(try await again.call(.post, guest, .keyN).json["sdkEntity"], is: two)
        #expect(one != two)
    }
}
