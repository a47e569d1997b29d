import Emulation
import Expectations
import JSON
import Support
import Testing
import Understudy

@testable import Rezolve

@Suite("Rezolve's bounds") struct BoundsTests {
    @Test("a card that is refused draws no id: with a seed, the next one is the same as without the refusal")
    func refusedCard() async throws {
        let card =
            #"{"short_name":"s","pan":"x","pan6":"420000","pan4":"0000","brand":"visa","type":"credit","#
            + #""name_on_card":"n","expires_on":"1030","valid_from":null,"address_id":"#
        var ids: [JSON?] = []
        for refusesFirst in [false, true] {
            let world = try await World()
            try await world.set(seed: 7)
            if refusesFirst {
                let refused = try await world.call(.post, Example.ada + "/wallet", .ada, card + #""none"}"#)
                expect(refused.failure, is: "address-not-found")
            }
            let made = try await world.call(.post, Example.ada + "/wallet", .ada, card + #""address-1"}"#)
            expect(made.status, is: 201)
            ids.append(made.json["id"])
        }
        expect(ids[0], is: ids[1])
    }

    @Test("a seed that is set again never gives a new customer the id of another") func repeatedSeed() async throws {
        let world = try await World()
        var entities: Set<String> = []
        for seed in [7, 8, 7] {
            try await world.set(seed: seed)
            let guest = try await world.call(.post, "/api/v2/authentication/register/guest", .keyN, "{}")
            entities.insert(try #require(guest.json["sdkEntity"]?.string))
        }
        expect(entities.count, is: 3)
    }

    @Test("a password in a body that was sent to another route is masked too") func neighbouringRoute() async throws {
        let world = try await World()
        let body = #"{"username":"u","password":"not-a-secret-9","email":"x@example.test"}"#
        let answer = try await world.call(.post, "/v1/credentials/forget", .keyN, body)
        expect(answer.failure, is: "rua-user-not-found")
        let journal = try await world.control(.get, "journal")
        #expect(!journal.text.contains("not-a-secret-9"))
        #expect(journal.text.contains("x@example.test"))
    }
}

@Suite("Rezolve's accounts") struct AccountsTests {
    private static let partners = """
        device_id: "d"
        partners:
          - { id: "317", api_key: "k", auth_key: "secret" }
        """

    private static let customer = """
        customers:
          - entity: "e"
            partner: "317"
            partner_entity_id: "u"
            created: 1800000000
        """

    private func emulator(_ accounts: String) throws -> Emulator {
        let fixtures = try OwnFixtures()
        try fixtures.write(accounts, to: "rezolve/accounts.yaml")
        return try fixtures.emulator(of: "rezolve")
    }

    @Test("while there is one partner, guests and RUA do without an api key, and core does not")
    func onePartner() async throws {
        let text = [Self.partners, Self.customer, "users: []"].joined(separator: "\n")
        let world = try await World(on: Stage(try emulator(text)))
        try await world.call(.post, "/api/v2/authentication/register/guest").expect(200)
        try await world.call(.post, "/v2/credentials/register/guest").expect(200)
        try await world.call(.post, "/v2/credentials/register", [], #"{"username":"u","password":"p"}"#).expect(201)
        expect(
            try await world.call(.post, "/v2/credentials/register/guest", [("x-rezolve-partner-apikey", "x")]).failure,
            is: "rua-api-key-wrong")
        try await world.call(.post, "/api/v2/authentication/register/guest", [("x-rezolve-partner-apikey", "x")])
            .expectDenied("masked-api-key")
        let token = try await world.mint("rezolve/registration")
        try await world.call(.post, "/api/v1/authentication/register", World.Fields().bearer(token), "{}")
            .expectDenied("masked-api-key")
    }

    private static let wrong: [(String, String)] = [
        ("partners: []", "1:1: member “device_id” is missing"),
        ("device_id: 7", "1:12: found the number 7; expected a string; write it in quotes"),
        (
            partners.replacing(#""317""#, with: "317"),
            "3:11: found the number 317; expected a string; write it in quotes"
        ),
        (partners.replacing("auth_key", with: "auth_kay"), "3:32: unknown member “auth_kay”; did you mean “auth_key”?"),
        (partners.replacing("secret", with: ""), "3:5: the auth key cannot be used"),
        (partners + "\n" + customer.replacing("317", with: "318"), "5:5: customer e has the unknown partner 318"),
        (
            partners + "\n" + customer.replacing("1800000000", with: "now"),
            "8:14: found the string “now”; expected a number"
        ),
        (
            partners + "\n" + customer + "\n    addresses:\n      - { id: a, phone_id: p }",
            "10:9: address a has the unknown phone p"
        ),
        (partners + "\n" + customer + "\n    key_pair: keys/none.pem", "no such file; looked in"),
        (
            partners + "\n" + customer + "\nusers:\n  - { id: 1, customer: x, username: u, password: p }",
            "10:5: the customer x is unknown"
        ),
    ]

    @Test("wrong accounts are refused by file, line and column", arguments: wrong)
    func refused(_ accounts: String, _ complaint: String) throws {
        let text = accounts.contains("\nusers:") ? accounts : accounts + "\nusers: []"
        #expect { try emulator(text) } throws: { error in
            "\(error)".contains(complaint)
                && "\(error)".contains(complaint.hasPrefix("no such") ? "none.pem" : "accounts.yaml:")
        }
    }

    @Test(
        "a key pair that is none, or a broken one, is named by its file",
        arguments: [
            ("-----BEGIN", "nothing"), ("MIIEvgIBADANBg", "AAAAAAAAAAAAAA"), ("MIIEvg", "MIIEvw"), ("-----END", ""),
        ])
    func brokenKey(_ sound: String, _ broken: String) throws {
        let fixtures = try OwnFixtures()
        try fixtures.put("rezolve/keys/ada.pem", [(sound, broken)])
        #expect {
            try fixtures.emulator(of: "rezolve")
        } throws: {
            "\($0)".contains("rezolve/keys/ada.pem: is not a private key in PEM")
        }
    }

    @Test("what calls add counts as long as it is there: customers, users, and the entries of books")
    func size() throws {
        let vendor = try Rezolve(fixtures: VendorFixtures(store: Repository.fixtures, folder: "rezolve"))
        var state = vendor.initialState
        expect(vendor.size(of: state), is: StateSize())
        var customer = RezolveCustomer(
            entityID: "e", partnerID: "317", partnerEntityID: "u", created: Moment(unixSeconds: 0))
        state.store(customer)
        state.users.store(RUAUser(id: 5000, customer: customer, created: Moment(unixSeconds: 0)))
        let before = vendor.size(of: state)
        expect(before.records, is: 2)
        customer.addresses.append(RezolveAddress(id: "a", line1: String(repeating: "x", count: 5000)))
        state.store(customer)
        #expect((5000...6000).contains(vendor.size(of: state).bytes - before.bytes))
        state.remove(entity: "e")
        expect(vendor.size(of: state), is: StateSize())
    }
}

@Suite("Rezolve compares names by code points") struct ExactNameTests {
    private static let composed = "zo\u{E9}"
    private static let decomposed = "zoe\u{301}"

    private func register(_ user: String, _ world: World) async throws -> ReceivedAnswer {
        let token = try await world.mint("rezolve/registration", ["partner_entity_id": .string(user)])
        return try await world.register(token)
    }

    @Test("two users of core are two customers, and the token of one does not open the other")
    func customers() async throws {
        let world = try await World()
        var entities: [String] = []
        for user in [Self.composed, Self.decomposed] {
            let answer = try await register(user, world)
            answer.expect(200)
            entities.append(answer.json["entity_id"]?.string ?? "")
        }
        #expect(entities[0] != entities[1])
        expect(try await register(Self.composed, world).failure, is: "registration-duplicate")
        let token = try await world.mint(
            "rezolve/login", ["customer": .string(entities[0]), "partner_entity_id": .string(Self.decomposed)])
        let answer = try await world.call(.get, Example.customer(entities[0]) + "/profile", .core(token))
        answer.expectDenied("masked-other-user")
        let reason = answer.entry?.explanation ?? ""
        #expect(reason.contains("zo\\u00e9"), "\(reason)")
        #expect(reason.contains("zoe\\u0301"), "\(reason)")
    }

    @Test("an entity id in another normalization is nobody's") func entities() async throws {
        let world = try await World()
        for (entity, user) in [(Self.composed, "user-8"), (Self.decomposed, "user-9")] {
            try await world.control(
                .post, "state/rezolve/register-customer",
                JSON.object(["entity": .string(entity), "partner_entity_id": .string(user)]).text
            ).expect(200)
        }
        let token = try await world.mint("rezolve/login", ["customer": .string(Self.composed)])
        try await world.call(.get, Example.customer("zo%C3%A9/addressbook"), .core(token)).expect(200, "[]")
        try await world.call(.get, Example.customer("zoe%CC%81/addressbook"), .core(token))
            .expectDenied("masked-other-user")
    }

    @Test("two users of RUA have two names and two passwords") func users() async throws {
        let world = try await World()
        for name in [Self.composed, Self.decomposed] {
            try await world.call(
                .post, "/v2/credentials/register", .keyN,
                #"{"username":"\#(name)","password":"pw-\#(name.utf8.count)"}"#
            ).expect(201)
        }
        func logIn(_ name: String, _ password: String) async throws -> Int {
            try await world.call(
                .post, "/v2/credentials/login", .keyN,
                #"{"username":"\#(name)","password":"\#(password)","deviceId":"d"}"#
            ).status
        }
        expect(try await logIn(Self.composed, "pw-4"), is: 200)
        expect(try await logIn(Self.decomposed, "pw-5"), is: 200)
        expect(try await logIn(Self.composed, "pw-5"), is: 401)
        expect(try await logIn(Self.decomposed, "pw-4"), is: 401)
    }

    @Test("a change of nothing but the normalization is a change, and is exported") func exported() async throws {
        let world = try await World()
        for name in [Self.composed, Self.decomposed] {
            try await world.call(.put, Example.ada + "/profile", .ada, #"{"name":"\#(name)"}"#).expect(200)
        }
        let state = try await world.control(.get, "state/rezolve")
        expect(state.text.utf8.count(where: { $0 == 0xCC }), is: 1, "\(state.text)")
    }
}

@Suite("Rezolve under a seed") struct SeedTests {
    @Test("what OpenSSL draws by itself is excepted: a key pair that is made has no seed")
    func keyPairs() async throws {
        var (entities, keys): (Set<String>, Set<String>) = ([], [])
        for _ in 0..<2 {
            let world = try await World(at: nil)
            try await world.set(seed: 42)
            let guest = try await world.call(.post, "/v2/credentials/register/guest", .keyN)
            let entity = try #require(guest.json["sdkEntity"]?.string)
            let token = try await world.mint("rezolve/login", ["customer": .string(entity)])
            let key = try await world.call(.get, Example.customer(entity) + "/publickey", .core(token))
            key.expect(200)
            entities.insert(entity)
            keys.insert(key.text)
        }
        expect(entities.count, is: 1)
        expect(keys.count, is: 2)
    }
}
