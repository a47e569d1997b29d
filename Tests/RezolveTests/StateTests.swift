import JSON
import Support
import Testing
import Tokens

/// What requests change (section 6 of the vendor's spec), and what they do not change.
@Suite("Rezolve's state")
struct StateTests {
    private let register = "/api/v1/authentication/register"

    @Test("a registered customer has an id, a profile and a key pair of its own")
    func registration() async throws {
        let world = try await World()
        let answer = try await world.call(
            .post, register, .keyN.bearer(Example.regNew), #"{"email":"new@example.test","name":"ignored"}"#)
        let entity = try #require(answer.json["entity_id"]?.string)
        let path = "/api/v1/partner/317/customer/\(entity)"
        try await world.call(.get, path + "/profile", .keyN.bearer(Example.regNew)).expect(
            200,
            #"{"id":"\#(entity)","entity_id":"\#(entity)","title":"","name":"","first_name":"","last_name":"","#
                + #""email":"new@example.test","phone":null,"country_code":null,"metadata":null,"timezone":"GMT","#
                + #""use_data_for_marketing":false,"devices":[],"date_created":1800000000,"date_updated":1800000000}"#)
        let key = try await world.call(.get, path + "/publickey", .keyN.bearer(Example.regNew))
        let pem = try #require(key.json["public_key"]?.string)
        key.expect(200, JSON.object(["public_key": .string(pem)]).text)
        #expect(try VerificationKey.pem(pem).first?.kind == .rsa(bits: 2048))
        try await world.call(.get, path + "/publickey", .keyN.bearer(Example.regNew)).expect(200, key.text)
        let ada = try await world.call(.get, Example.ada + "/publickey", .ada)
        #expect(ada.json["public_key"] != key.json["public_key"])
    }

    @Test("a login JWT of the new customer opens core")
    func loginAfterRegistration() async throws {
        let world = try await World()
        let answer = try await world.call(
            .post, register, .keyN.bearer(Example.regNew), #"{"email":"new@example.test"}"#)
        let entity = try #require(answer.json["entity_id"]?.string)
        let token = try await world.mint("rezolve/login", ["customer": .string(entity)])
        try await world.call(
            .get, "/api/v1/partner/317/customer/\(entity)/wallet", .keyN.bearer(token).device(Example.device)
        ).expect(200, "[]")
    }

    @Test("the same partner_entity_id is another user at another partner")
    func uniquePerPartner() async throws {
        let world = try await World()
        let token = try await world.mint("rezolve/registration", ["partner": "3", "partner_entity_id": "user-1001"])
        let answer = try await world.call(.post, register, .keyS.bearer(token), #"{"email":"a@example.test"}"#)
        answer.expect(200)
        #expect(answer.json["partner_id"] == "3")
        let path = "/api/v1/partner/3/customer/entity123/addressbook"
        try await world.call(.get, path, .keyS.bearer(token)).expectDenied("masked-other-user")
    }

    @Test("a guest is a customer of its own, whose ids count on")
    func guests() async throws {
        let world = try await World()
        let first = try await world.call(.post, "/api/v2/authentication/register/guest", .keyN, "{}")
        let second = try await world.call(.post, "/v2/credentials/register/guest", .keyN)
        let entity = try #require(first.json["sdkEntity"]?.string)
        first.expect(
            200,
            #"{"id":1002,"username":"\#(entity)","title":null,"firstName":null,"lastName":null,"email":"","phone":"","#
                + #""language":"en","sdkEntity":"\#(entity)","sdkPartner":"317","#
                + #""createdAt":"2027-01-15T08:00:00.000","updatedAt":"2027-01-15T08:00:00.000","enabled":true,"#
                + #""partnerId":"317","applicationId":null,"timesLoggedIn":null,"roles":[{"role":"ROLE_USER"}],"#
                + #""socialProviders":null,"guest":true,"accountNonExpired":true,"accountNonLocked":true,"#
                + #""credentialsNonExpired":true,"timezone":"GMT"}"#)
        #expect(second.json["id"] == 1003)
        #expect(second.json["sdkEntity"] != first.json["sdkEntity"])
        let token = try Forged.token(
            claims: Forged.adaClaims(entity: #""\#(entity)""#, user: #""\#(entity)""#))
        try await world.call(
            .get, "/api/v1/partner/317/customer/\(entity)/profile", .keyN.bearer(token).device(Example.device)
        ).expect(200)
    }

    @Test("lists keep the order of insertion")
    func order() async throws {
        let world = try await World()
        for name in ["B", "A", "C"] {
            try await world.call(.post, Example.ada + "/phonebook", .ada, #"{"name":"\#(name)","phone":"+1555"}"#)
                .expect(201)
        }
        let list = try await world.call(.get, Example.ada + "/phonebook", .ada)
        #expect(list.json["phones"]?.array?.map { $0["name"]?.string } == ["Home", "B", "A", "C"])
    }

    @Test(
        "a failing request changes nothing",
        arguments: [
            ("PUT", "/profile", #"{"name":"Other","email":1}"#), ("POST", "/phonebook", #"{"name":"x","phone":"1"}"#),
            ("PUT", "/phonebook/phone-1", #"{"name":"x"}"#),
            ("PUT", "/phonebook/none", #"{"name":"x","phone":"1234"}"#),
            ("DELETE", "/phonebook/phone-1", ""), ("POST", "/addressbook", #"{"phone_id":"none"}"#),
            ("PUT", "/addressbook/address-1", #"{"city":"Other","phone_id":"none"}"#),
            ("DELETE", "/addressbook/address-1", ""), ("DELETE", "/wallet/none", ""),
            ("POST", "/wallet", Example.newCard.replacing("address-1", with: "none")),
            ("PUT", "/wallet/card-1", #"{"short_name":"x","name_on_card":"y","address_id":"none"}"#),
        ])
    func failureChangesNothing(_ method: String, _ path: String, _ body: String) async throws {
        let world = try await World()
        let before = try await everything(world)
        try await world.advance("5s")
        let answer = try await world.call(try #require(.init(method)), Example.ada + path, .ada, body)
        #expect(answer.failure != nil)
        #expect(try await everything(world) == before)
    }

    private func everything(_ world: World) async throws -> [String] {
        var texts: [String] = []
        for name in ["profile", "phonebook", "addressbook", "wallet"] {
            texts.append(try await world.call(.get, "\(Example.ada)/\(name)", .ada).text)
        }
        return texts
    }

    @Test("an update keeps what it does not name in a profile and a card, and clears it in an address")
    func updates() async throws {
        let world = try await World()
        try await world.advance("1m")
        let profile = try await world.call(
            .put, Example.ada + "/profile", .ada, #"{"title":"Dr","id":"x","devices":[1]}"#)
        #expect(profile.json["title"] == "Dr")
        #expect(profile.json["id"] == "entity123")
        #expect(profile.json["devices"] == [])
        #expect(profile.json["name"] == "Ada L")
        #expect(profile.json["date_created"] == 1_800_000_000)
        #expect(profile.json["date_updated"] == 1_800_000_060)
        let card = try await world.call(
            .put, Example.ada + "/wallet/card-1", .ada,
            #"{"short_name":"N","name_on_card":"A","address_id":"address-1","valid_from":null,"expires_on":"12/31"}"#)
        card.expect(200)
        #expect(card.json["valid_from"] == .null)
        #expect(card.json["expires_on"] == "12/31")
        #expect(card.json["brand"] == "visa")
        let address = try await world.call(.put, Example.addresses + "/address-1", .ada, #"{"phone_id":null}"#)
        address.expect(200)
        #expect(address.json["city"] == "")
        #expect(address.json["phone_id"] == "")
        try await world.call(.delete, Example.ada + "/phonebook/phone-1", .ada).expect(204)
    }

    @Test("a customer's records are its own: another's id is unknown")
    func othersRecords() async throws {
        let world = try await World()
        let token = try await world.mint("rezolve/login", ["customer": "entity456"])
        let ben = World.Fields.keyN.bearer(token).device(Example.device)
        try await world.call(.get, Example.ben + "/addressbook", ben).expect(200, "[]")
        try await world.call(.get, Example.ben + "/addressbook/address-1", ben)
            .expect(404, Example.notFound, "address-not-found")
        try await world.call(.post, Example.ben + "/addressbook", ben, #"{"phone_id":"phone-1"}"#)
            .expect(404, Example.notFound, "phone-not-found")
    }
}
