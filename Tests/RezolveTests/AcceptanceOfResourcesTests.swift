import JSON
import Support
import Testing
import Tokens

/// The spec's acceptance examples for a customer's resources, with the spec's numbers.
@Suite("Rezolve's acceptance examples: books, wallet, profile")
struct AcceptanceOfResourcesTests {
    @Test("15: Ada's address book", arguments: Depth.allCases)
    func addressBook(_ depth: Depth) async throws {
        let world = try await World(depth)
        try await world.call(.get, Example.addresses, .ada).expect(200, "[\(Example.address1)]")
    }

    @Test("16: an address is created, read, deleted and gone", arguments: Depth.allCases)
    func addressLife(_ depth: Depth) async throws {
        let world = try await World(depth)
        let created = try await world.call(
            .post, Example.addresses, .ada,
            #"{"short_name":"Work","line_1":"2 Test Street","city":"Brno","state":"JM","zip":"60200","country":"CZ","#
                + #""country_alpha2":"","phone_id":"phone-1"}"#)
        let id = try #require(created.json["id"]?.string)
        created.expect(
            201,
            #"{"id":"\#(id)","short_name":"Work","full_name":"","line_1":"2 Test Street","line_2":"","city":"Brno","#
                + #""state":"JM","zip":"60200","country":"CZ","country_alpha2":null,"phone_id":"phone-1"}"#)
        let path = "\(Example.addresses)/\(id)"
        try await world.call(.get, path, .ada).expect(200, created.text)
        let deleted = try await world.call(.delete, path, .ada)
        deleted.expect(204, "")
        #expect(deleted["content-type"] == nil)
        try await world.call(.get, path, .ada).expect(404, Example.notFound, "address-not-found")
    }

    @Test("17: an address must not name an unknown phone", arguments: Depth.allCases)
    func unknownPhone(_ depth: Depth) async throws {
        let world = try await World(depth)
        let body = #"{"phone_id":"none"}"#
        try await world.call(.post, Example.addresses, .ada, body).expect(404, Example.notFound, "phone-not-found")
        try await world.set(profile: .observed)
        try await world.call(.post, Example.addresses, .ada, body).expect(
            404, #"{"errors":[{"type":"Not Found","code":"4","message":"Phone not found"}]}"#, "phone-not-found")
    }

    @Test("18: what is in use stays; repeated slashes do not matter", arguments: Depth.allCases)
    func inUse(_ depth: Depth) async throws {
        let world = try await World(depth)
        let address = Example.addresses + "/address-1"
        try await world.call(.delete, address, .ada).expect(
            400, #"{"type":"Bad Request","code":"6","message":"Address is in use by a credit card"}"#,
            "address-in-use")
        try await world.call(.delete, Example.ada + "/wallet/card-1", .ada).expect(204, "")
        try await world.call(.delete, address, .ada).expect(204, "")
        try await world.call(.delete, Example.ada + "/phonebook//phone-1", .ada).expect(204, "")
    }

    @Test("19: Ada's phone book, and what a phone needs", arguments: Depth.allCases)
    func phoneBook(_ depth: Depth) async throws {
        let world = try await World(depth)
        let path = Example.ada + "/phonebook"
        try await world.call(.get, path, .ada).expect(200, #"{"phones":[\#(Example.phone1)]}"#)
        let created = try await world.call(.post, path, .ada, #"{"name":"Work","phone":"+15550102"}"#)
        let id = try #require(created.json["id"]?.string)
        created.expect(201, #"{"id":"\#(id)","name":"Work","phone":"+15550102"}"#)
        try await world.call(.post, path, .ada, "{}").expect(
            400,
            #"{"type":"Bad Request","code":"3","message":"Missing required parameters in request body. "#
                + #"Required: name, phone"}"#, "body-missing-fields")
        let empty = #"{"name":"","phone":""}"#
        try await world.call(.post, path, .ada, empty).expect(400, Example.malformed, "body-too-short")
        try await world.set(profile: .observed)
        try await world.call(.post, path, .ada, "{}").expect(
            400,
            #"{"errors":[{"type":"Bad Request","code":"3","message":"Validation error: "#
                + #"[Required properties name, phone were not present. - #]"}]}"#, "body-missing-fields")
        try await world.call(.post, path, .ada, empty).expect(
            400,
            #"{"errors":[{"type":"Bad Request","code":"3","message":"Validation error: "#
                + #"[Expected value to have a minimum length of 1 but was 0. - #/name, "#
                + #"Expected value to have a minimum length of 4 but was 0. - #/phone]"}]}"#, "body-too-short")
    }

    @Test("20: a card number comes encrypted under the customer's key", arguments: Depth.allCases)
    func encryptedCard(_ depth: Depth) async throws {
        let world = try await World(depth)
        let answer = try await world.call(.get, Example.ada + "/publickey", .ada)
        answer.expect(200)
        let pem = try #require(answer.json["public_key"]?.string)
        let key = try #require(try VerificationKey.pem(pem).first)
        #expect(key.kind == .rsa(bits: 2048))
        let cipher = try #require(key.encryptOAEP(Array("4200000000000000".utf8)))
        let pan = Base64Text.encode(cipher)
        try await world.set("rezolve.pan-check", "decrypt")
        func card(pan4: String) -> String {
            Example.newCard.replacing(#""pan":"x""#, with: #""pan":"\#(pan)""#)
                .replacing(#""pan4":"0000""#, with: #""pan4":"\#(pan4)""#)
        }
        let created = try await world.call(.post, Example.ada + "/wallet", .ada, card(pan4: "0000"))
        created.expect(201)
        #expect(created.json["pan"] == nil)
        #expect(created.json["pan4"] == "0000")
        try await world.call(.post, Example.ada + "/wallet", .ada, card(pan4: "9999"))
            .expect(400, Example.malformed, "body-wrong-type")

        let benToken = try await world.mint("rezolve/login", ["customer": "entity456"])
        let ben = try await world.call(.get, Example.ben + "/publickey", .keyN.bearer(benToken).device(Example.device))
        ben.expect(200)
        #expect(ben.json["public_key"] != answer.json["public_key"])
    }

    @Test("21: a profile changes in what is sent", arguments: Depth.allCases)
    func profile(_ depth: Depth) async throws {
        let world = try await World(depth)
        let path = Example.ada + "/profile"
        try await world.call(.put, path, .ada, #"{"use_data_for_marketing":true,"name":"Ada B"}"#).expect(
            200,
            #"{"id":"entity123","entity_id":"entity123","title":"","name":"Ada B","first_name":"Ada","#
                + #""last_name":"L","email":"ada@example.test","phone":null,"country_code":null,"metadata":null,"#
                + #""timezone":"GMT","use_data_for_marketing":true,"devices":[],"date_created":1800000000,"#
                + #""date_updated":1800000000}"#)
        try await world.call(.put, path, .ada, #"{"use_data_for_marketing":null}"#)
            .expect(400, Example.malformed, "body-wrong-type")
    }
}
