import JSON
import Support
import Testing

/// Two runs under one seed, everything compared byte for byte.
@Suite("A seed repeats ids and times")
struct SeedTests {
    /// What a run answered, and what the journal says of it.
    private struct Recording: Equatable {
        var answers: [String] = []
        var journal = ""
    }

    /// A long sequence of calls of every kind, begun in a fresh sandbox.
    ///
    /// Customers get key pairs that OpenSSL draws by itself, so only the one of the fixtures is asked for.
    private func record(_ world: World) async throws -> Recording {
        try await world.set(seed: 42)
        var recording = Recording()
        func note(_ answer: ReceivedAnswer) {
            recording.answers.append("\(answer.status) \(answer["authorization"] ?? "-") \(answer.text)")
        }
        let registration = try await world.mint("rezolve/registration", ["partner_entity_id": "user-2001"])
        let register = "/api/v1/authentication/register"
        let registered = try await world.call(
            .post, register, .keyN.bearer(registration), #"{"email":"n@example.test"}"#)
        note(registered)
        let entity = try #require(registered.json["entity_id"]?.string)
        let token = try await world.mint("rezolve/login", ["customer": .string(entity)])
        let own = World.Fields.keyN.bearer(token).device(Example.device)
        let home = "/api/v1/partner/317/customer/\(entity)"
        note(try await world.call(.put, home + "/profile", own, #"{"name":"New"}"#))
        let phone = try await world.call(.post, home + "/phonebook", own, #"{"name":"Home","phone":"+1555"}"#)
        note(phone)
        try await world.advance("90s")
        let phoneID = try #require(phone.json["id"]?.string)
        let address = try await world.call(.post, home + "/addressbook", own, #"{"phone_id":"\#(phoneID)"}"#)
        note(address)
        let addressID = try #require(address.json["id"]?.string)
        let card = Example.newCard.replacing("address-1", with: addressID)
        note(try await world.call(.post, home + "/wallet", own, card))
        note(try await world.call(.delete, home + "/phonebook/" + phoneID, own))
        note(try await world.call(.get, Example.ada + "/publickey", .ada))
        note(try await world.call(.get, Example.ada + "/wallet", own))
        note(try await world.call(.get, home + "/wallet", .keyX.bearer(token)))
        note(try await world.call(.post, home + "/addressbook", own, "{"))
        note(try await world.call(.get, "/api/v1/partner/nothing"))
        note(try await world.call(.get, "/nowhere"))
        note(try await world.call(.post, "/v2/credentials/login", .keyN, Example.login))
        note(try await world.call(.post, "/v2/credentials/login", .keyN, Example.login.replacing("secret", with: "x")))
        note(try await world.call(.post, "/v2/credentials/register/guest", .keyN))
        note(try await world.call(.post, "/api/v2/authentication/register/guest", .keyN, "{}"))
        try await world.arm("service-unavailable", at: "phonebook.list")
        note(try await world.call(.get, home + "/phonebook", own))
        try await world.advance("31m")
        note(try await world.call(.get, home + "/phonebook", own))
        note(try await world.call(.get, "/v2/credentials/ping", .keyN.bearer(token)))
        recording.journal = try await world.control(.get, "journal").text
        return recording
    }

    @Test("two runs in a sandbox that was deleted between give the same bytes", arguments: Depth.allCases)
    func twice(_ depth: Depth) async throws {
        let world = try await World(depth, at: nil)
        let first = try await record(world)
        try await world.control(.delete, "sandboxes/" + world.name)
        let second = try await record(world)
        #expect(first.answers.count == 19)
        #expect(
            Set(first.answers).count == 18, "the calls have answers of their own, but for one refusal that is had twice"
        )
        #expect(first.answers == second.answers)
        #expect(first.journal == second.journal)
        #expect(first.journal.contains("2027-01-15T08:32:30.000Z"), "times come from the clock that the seed stopped")
    }

    @Test("another seed gives other ids")
    func otherSeed() async throws {
        var ids: Set<String> = []
        for seed in [42, 43] {
            let world = try await World(at: nil)
            try await world.set(seed: seed)
            ids.insert(try await world.call(.post, "/v2/credentials/register/guest", .keyN).text)
        }
        #expect(ids.count == 2)
    }

    @Test("what OpenSSL draws by itself is excepted: a key pair that is made has no seed")
    func keyPairs() async throws {
        var (entities, keys): (Set<String>, Set<String>) = ([], [])
        for _ in 0..<2 {
            let world = try await World(at: nil)
            try await world.set(seed: 42)
            let guest = try await world.call(.post, "/v2/credentials/register/guest", .keyN)
            let entity = try #require(guest.json["sdkEntity"]?.string)
            let token = try await world.mint("rezolve/login", ["customer": .string(entity)])
            let fields = World.Fields.keyN.bearer(token).device(Example.device)
            let key = try await world.call(.get, "/api/v1/partner/317/customer/\(entity)/publickey", fields)
            key.expect(200)
            entities.insert(entity)
            keys.insert(key.text)
        }
        #expect(entities.count == 1)
        #expect(keys.count == 2)
    }
}
