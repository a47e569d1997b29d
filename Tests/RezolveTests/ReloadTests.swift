import Emulation
import Expectations
import JSON
import Support
import Synchronization
import Testing
import Understudy

@Suite("Fixtures replaced while the server runs") struct ReloadTests {
    private static let accounts = "rezolve/accounts.yaml"
    private static let failures = "rezolve/failures.yaml"

    // MARK: - Under load

    /// Fixtures whose api key, profile and refusal all show their version.
    private static func version(_ name: String) throws -> OwnFixtures {
        let fixtures = try OwnFixtures()
        try fixtures.put(accounts, [(Example.apiKeyN, "key-" + name), ("Ada L", "Ada " + name)])
        try fixtures.put(failures, [("Access is denied.", "Denied by \(name).")])
        return fixtures
    }

    private static let versions = ["A", "B"]
    private static func fields(_ version: String) -> World.Fields {
        [("x-rezolve-partner-apikey", "key-" + version)].bearer(Example.jwtAda).device(Example.device)
    }

    /// Reads a profile repeatedly; every answer must come entirely from one version.
    private func read(_ world: World, until isDone: borrowing Atomic<Bool>) async throws -> Int {
        var count = 0
        while !isDone.load(ordering: .relaxed) {
            let mine = Self.versions[count % 2]
            let other = Self.versions[(count + 1) % 2]
            let answer = try await world.call(.get, Example.ada + "/profile", Self.fields(mine))
            count += 1
            let isMine = answer.status == 200 && answer.json["name"] == .string("Ada " + mine)
            let isOther = answer.status == 403 && answer.json["message"] == .string("Denied by \(other).")
            #expect(isMine || isOther, "\(answer.status) \(answer.text)")
            await Task.yield()
        }
        return count
    }

    /// Adds phones; every one answered with 201 must exist at the end.
    private func write(_ world: World, until isDone: borrowing Atomic<Bool>) async throws -> (sent: Int, created: Int) {
        var (sent, created) = (0, 0)
        while !isDone.load(ordering: .relaxed), created < 900 {
            let version = Self.versions[sent % 2]
            let answer = try await world.call(
                .post, Example.ada + "/phonebook", Self.fields(version), #"{"name":"n","phone":"+1555"}"#)
            sent += 1
            if answer.status == 201 { created += 1 }
            #expect(answer.status == 201 || answer.status == 403, "\(answer.status) \(answer.text)")
            await Task.yield()
        }
        return (sent, created)
    }

    private final class Flag: Sendable {
        let isSet = Atomic(false)
    }

    @Test(
        "twenty times under load: no request is lost, none sees a mixture, no change is lost", .timeLimit(.minutes(15)))
    func underLoad() async throws {
        let fixtures = try Self.versions.map(Self.version)
        let reader = try await World(on: Stage(fixtures[0].emulator(of: "rezolve")))
        let writer = try await World(on: reader.stage)
        let done = Flag()
        async let reads = [
            read(reader, until: done.isSet), read(reader, until: done.isSet), read(reader, until: done.isSet),
        ]
        async let writes = write(writer, until: done.isSet)
        for number in 1...20 {
            try reader.emulator.reload(fixtures[number % 2].store)
            // Requests arrive between the changes as well as during them.
            let enough = reader.sandbox.exchanges + 10
            while reader.sandbox.exchanges < enough {
                try Task.checkCancellation()
                await Task.yield()
            }
        }
        done.isSet.store(true, ordering: .relaxed)
        let answered = try await reads.reduce(0, +)
        expect(answered, is: reader.sandbox.exchanges)
        #expect(answered >= 200)
        let (sent, created) = try await writes
        expect(sent, is: writer.sandbox.exchanges)
        #expect(created > 0)
        let list = try await writer.call(.get, Example.ada + "/phonebook", Self.fields("A"))
        expect(list.json["phones"]?.array?.count, is: created + 1)
        expect(try await reader.control(.get, "health").json["reload"]?["count"], is: 20)
    }

    // MARK: - State after a reload

    @Test("changed accounts: what requests made or changed stays, the rest follows the file")
    func accountsChange() async throws {
        let fixtures = try OwnFixtures()
        let touched = try await World(on: Stage(fixtures.emulator(of: "rezolve")))
        let untouched = try await World(on: touched.stage)
        try await touched.call(.put, Example.ada + "/profile", .ada, #"{"title":"Dr"}"#).expect(200)
        try await touched.call(.post, "/v2/credentials/register/guest", .keyN).expect(200)
        try fixtures.put(
            Self.accounts,
            [
                ("Ada L", "Ada Lovelace"), ("user-1002", "user-1003"),
                (
                    "users:\n",
                    "  - { entity: \"entity789\", partner: \"3\", partner_entity_id: \"u\", created: 1 }\nusers:\n"
                ),
            ])
        try touched.emulator.reload(fixtures.store)
        let kept = try await touched.call(.get, Example.ada + "/profile", .ada)
        expect(kept.json["title"], is: "Dr")
        expect(kept.json["name"], is: "Ada L", "the record was changed, so it is the sandbox's own now")
        let followed = try await untouched.call(.get, Example.ada + "/profile", .ada)
        expect(followed.json["name"], is: "Ada Lovelace")
        for world in [touched, untouched] {
            let customers = try await world.control(.get, "state/rezolve").json["customers"]?.array ?? []
            let names = customers.map { $0["partner_entity_id"]?.string ?? "" }
            expect(names.prefix(3), is: ["user-1001", "user-1003", "u"])
            expect(names.count, is: (world.name == touched.name ? 4 : 3))
        }
        expect(try await touched.call(.post, "/v2/credentials/register/guest", .keyN).json["id"], is: 1003, "ids go on")
        try await touched.control(.post, "reset")
        try await touched.freeze(at: World.exampleMoment)
        expect(try await touched.call(.get, Example.ada + "/profile", .ada).json["name"], is: "Ada Lovelace")
    }

    @Test("a record that left the file goes, unless its user or it was changed by requests")
    func accountsGo() async throws {
        let fixtures = try OwnFixtures()
        let signedIn = try await World(on: Stage(fixtures.emulator(of: "rezolve")))
        let untouched = try await World(on: signedIn.stage)
        try await signedIn.call(.post, "/v2/credentials/login", .keyN, Example.login).expect(200)
        try fixtures.write(
            """
            device_id: "d"
            partners: [{ id: "317", api_key: "\(Example.apiKeyN)", auth_key: "\(Example.secret)" }]
            customers: []
            users: []
            """, to: Self.accounts)
        try signedIn.emulator.reload(fixtures.store)
        let again = try await signedIn.call(.post, "/v2/credentials/login", .keyN, Example.login)
        again.expect(200)
        expect(again.json["timesLoggedIn"], is: 2)
        expect(try await signedIn.call(.get, Example.ada + "/wallet", .ada).json[0]?["id"], is: "card-1")
        expect(
            try await untouched.call(.post, "/v2/credentials/login", .keyN, Example.login).failure,
            is: "rua-wrong-credentials")
        try await untouched.call(.get, Example.ada + "/wallet", .ada).expectDenied("masked-other-user")
    }

    @Test("where file and sandbox want the same id, the sandbox keeps what its clients know")
    func collision() async throws {
        let fixtures = try OwnFixtures()
        let world = try await World(on: Stage(fixtures.emulator(of: "rezolve")))
        let user = #"{"username":"new@example.test","password":"p"}"#
        expect(try await world.call(.post, "/v2/credentials/register", .keyN, user).json["id"], is: 1002)
        try fixtures.put(
            Self.accounts,
            [("users:\n", "users:\n  - { id: 1002, customer: \"entity456\", username: \"ben\", password: \"b\" }\n")])
        try world.emulator.reload(fixtures.store)
        let login = #"{"username":"new@example.test","password":"p","deviceId":"d"}"#
        expect(try await world.call(.post, "/v2/credentials/login", .keyN, login).json["id"], is: 1002)
        let ben = #"{"username":"ben","password":"b","deviceId":"d"}"#
        expect(try await world.call(.post, "/v2/credentials/login", .keyN, ben).failure, is: "rua-wrong-credentials")
        let other = try await World(on: world.stage)
        try await other.call(.post, "/v2/credentials/login", .keyN, ben).expect(200)
    }

    @Test("changed failures touch no state, and an active scenario stands where it stood")
    func failuresChange() async throws {
        let fixtures = try OwnFixtures()
        try fixtures.write(
            """
            scenario: own
            about: For a test.
            vendor: rezolve
            states:
              first: [{ on: profile.get, go: second }]
              second: [{ on: phonebook.list, fail: service-unavailable }]
            """, to: "rezolve/scenarios/own.yaml")
        let world = try await World(on: Stage(fixtures.emulator(of: "rezolve")))
        try await world.control(.put, "scenarios", #"{"scenario":"own"}"#)
        _ = try await world.call(.get, Example.ada + "/profile", .ada)
        let before = try await world.control(.get, "state/rezolve").text
        let active = try await world.control(.get, "scenarios").json["active"]
        expect(active?[0]?["state"], is: "second")
        try fixtures.put(Self.failures, [("Access is denied.", "No.")])
        try world.emulator.reload(fixtures.store)
        expect(try await world.control(.get, "state/rezolve").text, is: before)
        expect(try await world.control(.get, "scenarios").json["active"], is: active)
        expect(try await world.call(.get, Example.ada + "/phonebook", .ada).failure, is: "service-unavailable")
        expect(try await world.call(.get, Example.ada + "/wallet", .keyN).json["message"], is: "No.")
        try fixtures.remove("rezolve/scenarios/own.yaml")
        try world.emulator.reload(fixtures.store)
        expect(try await world.control(.get, "scenarios").json["active"], is: [])
    }

    @Test("a call that waits over a change is judged and answered by the new fixtures alone")
    func waiting() async throws {
        let fixtures = try OwnFixtures()
        let world = try await World(on: Stage(fixtures.emulator(of: "rezolve")))
        let entity = try #require(try await world.register(Example.regNew).json["entity_id"]?.string)
        let token = try await world.mint("rezolve/login", ["customer": .string(entity)])
        // Generating the pair takes a while; the request is sent before the partner's key changes.
        async let waiting = world.call(.get, Example.customer(entity) + "/publickey", .core(token))
        while world.sandbox.exchanges < 2 { await Task.yield() }
        try fixtures.put(Self.accounts, [(Example.apiKeyN, "another")])
        try fixtures.put(Self.failures, [("Access is denied.", "No.")])
        try world.emulator.reload(fixtures.store)
        let answer = try await waiting
        let isOld = answer.status == 200 && answer.text.contains("BEGIN PUBLIC KEY")
        let isNew = answer.status == 403 && answer.json["message"] == "No."
        #expect(isOld || isNew, "\(answer.text)")
    }
}
