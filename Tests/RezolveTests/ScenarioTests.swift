import Expectations
import Foundation
import JSON
import Support
import Testing
import Tokens

@Suite("Rezolve's scenarios and actions") struct ScenarioTests {
    private func world(_ scenario: String) async throws -> World {
        let world = try await World()
        try await world.control(.put, "scenarios", #"{"scenario":"rezolve-\#(scenario)"}"#).expect(200)
        return world
    }

    @Test("the journal says which call of a session was refused, and what it takes to go on")
    func expiry() async throws {
        let world = try await world("token-expires-mid-session")
        let token = try await world.mint("rezolve/login")
        for _ in 1...2 { try await world.addresses(token).expect(200) }
        let refused = try await world.addresses(token)
        refused.expectExpired()
        expect(
            refused.entry?.explanation,
            is: "scenario rezolve-token-expires-mid-session in fresh at call 3, to expired: fail token-expired; waits "
                + "for a call of publickey.get, profile.*, phonebook.*, addressbook.*, wallet.* with a newer token")
    }

    @Test("a renewal that would repeat the refused token lives no longer than the vendor advises")
    func renewalInTime() async throws {
        let world = try await world("token-expires-mid-session")
        let token = try await world.mint("rezolve/login", ["expires_in": 1800])
        for _ in 1...2 { try await world.addresses(token).expect(200) }
        try await world.addresses(token).expectExpired()
        let renewed = try await world.mint("rezolve/login", ["expires_in": 1800])
        #expect(renewed != token)
        expect(CompactToken(renewed).date("exp").seconds(), is: 1_800_001_799)
        let answer = try await world.addresses(renewed)
        answer.expect(200)
        expect(world.masked(try #require(answer.entry))["note"], is: nil)
    }

    @Test("whose user is logged out elsewhere gets a renewed token that is over") func loggedOut() async throws {
        let world = try await world("logged-out-elsewhere")
        let token = try await world.mint("rezolve/login")
        let renewal = try await world.call(.get, "/v2/credentials/ping", World.Fields().bearer(token))
        let renewed = CompactToken(String((renewal.json["accessToken"]?.string ?? "").dropFirst("Bearer ".count)))
        #expect((renewed.date("exp").seconds() ?? .infinity) < 1_800_000_000, "\(renewal.text)")
    }

    @Test("a busy backend refuses every third change, slows reads, and cuts every fifth profile short")
    func busy() async throws {
        let world = try await world("busy-backend")
        let token = try await world.mint("rezolve/login")
        var statuses: [Int] = []
        for number in 1...3 {
            let body = #"{"name":"n","phone":"+1555010\#(number)"}"#
            statuses.append(try await world.call(.post, Example.ada + "/phonebook", .core(token), body).status)
        }
        expect(statuses, is: [201, 201, 503])
        for _ in 1...5 { _ = try await world.call(.get, Example.ada + "/profile", .core(token)) }
        let reads = world.sandbox.journal.entries().suffix(5).map(\.response.transmission)
        #expect(reads.prefix(4).allSatisfy { (.milliseconds(200)...(.milliseconds(800))).contains($0.delay) })
        expect(reads.last?.fault, is: .truncated(bytes: 40))
    }

    @Test("a customer can be registered and removed without a request of the app") func customers() async throws {
        let world = try await World()
        let made = try await world.control(
            .post, "state/rezolve/register-customer", #"{"partner_entity_id":"user-9","entity":"entity-9"}"#)
        expect(made.text, is: #"{"entity_id":"entity-9","partner_id":"317"}"#)
        let token = try await world.mint("rezolve/login", ["customer": "entity-9"])
        let path = Example.customer("entity-9/addressbook")
        try await world.call(.get, path, .core(token)).expect(200, "[]")
        try await world.control(.post, "state/rezolve/remove-customer", #"{"entity":"entity-9"}"#)
        try await world.call(.get, path, .core(token)).expectDenied("masked-other-user")
    }

    @Test("a session can be ended from outside") func logOut() async throws {
        let world = try await World()
        let token = try await world.mint("rezolve/login")
        let answer = try await world.control(.post, "state/rezolve/log-out", #"{"entity":"entity123"}"#)
        expect(answer.text, is: #"{"id":1001,"username":"ada@example.test"}"#)
        let ping = try await world.call(.get, "/v2/credentials/ping", [("authorization", "Bearer \(token)")])
        expect(ping.status, is: 200)
        #expect(ping.json["accessToken"] != nil, "a logged-out session gets a token that is over")
    }
}

extension ScenarioPlay {
    private static func logIn(_ world: World, _: String) async throws -> ReceivedAnswer {
        try await world.call(
            .post, "/v2/credentials/login", .keyN,
            #"{"username":"ada@example.test","password":"not-a-secret-1","deviceId":"\#(Example.device)"}"#)
    }

    private static func signIn(_ world: World) async throws -> String {
        try await logIn(world, "")["authorization"] ?? ""
    }

    private static func list(_ world: World, _ token: String) async throws -> ReceivedAnswer {
        try await world.call(.get, Example.addresses, .keyN.authorization(token).device(Example.device))
    }

    static let all = [
        ScenarioPlay("rezolve-busy-backend", calls: 6, signIn: signIn) {
            try await $0.call(.post, Example.addresses, .keyN.authorization($1).device(Example.device), "{}")
        },
        ScenarioPlay("rezolve-customer-removed", ending: "masked-other-user", signIn: signIn, call: list),
        ScenarioPlay("rezolve-logged-out-elsewhere", ending: "token-expired", signIn: signIn, call: list),
        ScenarioPlay("rezolve-sign-in-fails-once", call: logIn),
        ScenarioPlay("rezolve-token-expires-mid-session", calls: 8, signIn: signIn, call: list),
    ]
}

@Suite("Rezolve's switches") struct SwitchTests {
    @Test("the renewal of the JWT page's sample opens core with its token") func sampleRenewalWorks() async throws {
        let world = try await World()
        try await world.set("rezolve.ios-sample-renewal", "on")
        let answer = try await SwitchCase.sampleRenewal(world)
        let token = try #require(answer.json["access_token"]?.string)
        let key = try #require(answer.json["public_key"]?.string)
        answer.expect(200, JSON.object(["access_token": .string(token), "public_key": .string(key)]).text)
        try await world.call(.get, Example.addresses, .keyN.bearer(token).device("dev-1")).expect(200)
        let entry = world.shown(answer.entry)
        let signature = try #require(token.split(separator: ".").last)
        #expect(!entry.contains(signature), "the journal shows no signature")
    }

    @Test(
        "what is not a renewal of the JWT page's sample still needs its api key",
        arguments: [
            "", "{", "[]", "{}", #"{"device_id":"d","entityId":"entity123","partnerId":"3"}"#,
            #"{"device_id":"d","entityId":"nobody","partnerId":"317"}"#, #"{"entityId":"entity123","partnerId":"317"}"#,
        ])
    func otherRenewals(_ body: String) async throws {
        let world = try await World()
        try await world.set("rezolve.ios-sample-renewal", "on")
        try await world.call(.post, "/api/v1/authentication/register", [], body).expectDenied("masked-api-key")
    }

    @Test("an adopted customer stays, takes nobody's id, and has a key pair of its own") func adopted() async throws {
        let world = try await World()
        try await world.set("rezolve.unknown-entity", "adopt")
        try await SwitchCase.unknownEntity(world).expect(200, "[]")
        try await world.set("rezolve.unknown-entity", "refuse")
        try await SwitchCase.unknownEntity(world).expect(200, "[]")
        try await world.set("rezolve.unknown-entity", "adopt")
        let other = try Forged.token(claims: Forged.adaClaims(entity: #""entity-other""#))
        for entity in ["entity-other", "entity-third"] {
            try await world.call(.get, Example.customer(entity) + "/addressbook", .core(other))
                .expectDenied("masked-other-user")
        }
        let own = try Forged.token(claims: Forged.adaClaims(entity: #""entity-new""#, user: #""user-9""#))
        let key = try await world.call(.get, Example.customer("entity-new/publickey"), .core(own))
        key.expect(200)
        try await world.call(.get, Example.customer("entity-new/publickey"), .core(own)).expect(200, key.text)
    }

    @Test(
        "an encrypted card number must agree with what the card says of it",
        arguments: [
            ("4200000000000000", "420000", "0000", true), ("4200000000000000", "420001", "0000", false),
            ("42000000000", "420000", "0000", false), ("420000000000", "420000", "0000", true),
            ("4200000000000000000", "420000", "0000", true), ("42000000000000000000", "420000", "0000", false),
            ("4200000000x00000", "420000", "0000", false), ("4200000000000000", "4200", "0000", false),
            ("4200000000000000", "420000", "", false),
        ])
    func pan(_ number: String, _ pan6: String, _ pan4: String, _ isAccepted: Bool) async throws {
        let world = try await World()
        try await world.set("rezolve.pan-check", "decrypt")
        let pem = try await world.call(.get, Example.ada + "/publickey", .ada).json["public_key"]?.string ?? ""
        let key = try #require(try VerificationKey.pem(pem).first)
        let pan = Data(try #require(key.encryptOAEP(Array(number.utf8)))).base64EncodedString()
        let body: JSON = [
            "short_name": "Test card", "name_on_card": "Ada L", "address_id": "address-1", "pan": .string(pan),
            "pan6": .string(pan6), "pan4": .string(pan4),
        ]
        let answer = try await world.call(.put, Example.ada + "/wallet/card-1", .ada, body.text)
        if isAccepted { answer.expect(200) } else { answer.expect(400, Example.malformed, "body-wrong-type") }
        #expect(!world.shown(answer.entry).contains(pan))
    }

    @Test("a vendor's profile beats the profile of all, and a switch beats both") func precedence() async throws {
        let world = try await World()
        let request = { try await world.call(.get, Example.addresses, .keyN.bearer(Example.jwtAda)) }
        try await world.control(.put, "settings", #"{"profile":{"rezolve":"observed"}}"#)
        try await request().expect(200)
        try await world.set("rezolve.device-check", "enforce")
        expect(try await request().failure, is: "masked-device-mismatch")
        try await world.control(.put, "settings", #"{"switches":{"rezolve.device-check":null}}"#)
        try await request().expect(200)
        try await world.control(.put, "settings", #"{"profile":{"rezolve":null}}"#)
        expect(try await request().failure, is: "masked-device-mismatch")
    }
}
