import Support
import Testing

@Suite("Rezolve's failures")
struct FailureTests {
    /// The six reasons that the vendor masks, and the device check.
    private static let masked: [(failure: String, fields: World.Fields, path: String)] = [
        ("masked-api-key", World.Fields().bearer(Example.jwtAda), Example.addresses),
        ("masked-no-auth-key", .keyX.bearer(Example.jwtAda), Example.addresses),
        ("masked-token-missing", .keyN, Example.addresses),
        ("masked-signature", .keyN.bearer("not.a.token"), Example.addresses),
        (
            "masked-missing-fields",
            .keyN.bearer((try? Forged.token(claims: Forged.adaClaims(user: nil))) ?? "").device(Example.device),
            Example.addresses
        ),
        ("masked-other-user", .ada, Example.ben + "/addressbook"),
        ("masked-device-mismatch", .keyN.bearer(Example.jwtAda).device("another"), Example.addresses),
    ]

    @Test("the masked reasons answer alike on the wire and apart in the journal")
    func masked() async throws {
        var reasons: Set<String> = []
        for (failure, fields, path) in Self.masked {
            let answer = try await World().call(.get, path, fields)
            answer.expect(403, Example.denied, failure)
            #expect(
                answer.fields.map { "\($0.name): \($0.value)" } == ["Content-Type: application/json; charset=utf-8"])
            reasons.insert(try #require(answer.entry?.explanation))
        }
        #expect(reasons.count == Self.masked.count)
    }

    @Test(
        "the staging servers' messages",
        arguments: [
            ("phone-not-found", #"{"type":"Not Found","code":"4","message":"Phone not found"}"#),
            ("address-not-found", #"{"type":"Not Found","code":"4","message":"Address not found"}"#),
            ("card-not-found", #"{"type":"Not Found","code":"4","message":"Card not found"}"#),
            ("route-not-found", Example.notFound), ("body-malformed", Example.malformed),
        ])
    func stagingMessage(_ name: String, _ body: String) async throws {
        let world = try await World()
        try await world.set("rezolve.message-style", "staging")
        try await world.arm(name, at: "addressbook.list")
        let answer = try await world.call(.get, Example.addresses, .ada)
        answer.expect(answer.status, body, name)
    }

    /// An invalid body by route, with the code and message that the staging servers answer.
    struct Validation: Sendable, CustomStringConvertible {
        let method: String
        let path: String
        let body: String
        let code: String
        let items: String
        let failure: String

        var description: String { "\(method) \(path) \(body)" }
    }

    @Test("what the staging servers say of wrong bodies", arguments: validations)
    func validation(_ example: Validation) async throws {
        let world = try await World()
        try await world.set("rezolve.message-style", "staging")
        let answer = try await world.call(
            try #require(.init(example.method)), Example.ada + example.path, .ada, example.body)
        answer.expect(
            400,
            #"{"type":"Bad Request","code":"\#(example.code)","message":"Validation error: [\#(example.items)]"}"#,
            example.failure)
    }

    private static let missing = "body-missing-fields"
    private static let wrongType = "body-wrong-type"
    private static let nullName = "Type mismatch. Expected String but got Null. - #/name"
    private static let emptyName = "Expected value to have a minimum length of 1 but was 0. - #/name"

    private static let validations: [Validation] = [
        Validation(
            method: "POST", path: "/phonebook", body: #"{"name":"x"}"#, code: "3",
            items: "Required property phone was not present. - #", failure: missing),
        Validation(
            method: "PUT", path: "/phonebook/phone-1", body: "{}", code: "6",
            items: "Required properties name, phone were not present. - #", failure: missing),
        Validation(
            method: "POST", path: "/phonebook", body: #"{"phone":true,"name":null}"#, code: "3",
            items: nullName + ", Type mismatch. Expected String but got Boolean. - #/phone", failure: wrongType),
        Validation(
            method: "PUT", path: "/phonebook/phone-1", body: #"{"name":null,"phone":[]}"#, code: "6",
            items: nullName + ", Type mismatch. Expected String but got Array. - #/phone", failure: wrongType),
        Validation(
            method: "PUT", path: "/phonebook/phone-1", body: #"{"name":"","phone":"+1555"}"#, code: "6",
            items: emptyName, failure: "body-too-short"),
        Validation(
            method: "POST", path: "/phonebook", body: #"{"name":""}"#, code: "3",
            items: "Required property phone was not present. - #, " + emptyName, failure: missing),
        Validation(
            method: "POST", path: "/addressbook", body: #"{"city":1,"zip":{}}"#, code: "5",
            items: "Type mismatch. Expected String but got Number. - #/city, "
                + "Type mismatch. Expected String but got Object. - #/zip",
            failure: wrongType),
        Validation(
            method: "PUT", path: "/profile", body: #"{"use_data_for_marketing":"yes","name":null}"#, code: "5",
            items: nullName + ", Type mismatch. Expected Boolean but got String. - #/use_data_for_marketing",
            failure: wrongType),
        Validation(
            method: "POST", path: "/wallet", body: "{}", code: "3",
            items: "Required properties short_name, pan, pan6, pan4, brand, type, name_on_card, expires_on, "
                + "address_id, valid_from were not present. - #",
            failure: missing),
        Validation(
            method: "PUT", path: "/wallet/card-1", body: #"{"short_name":"x"}"#, code: "3",
            items: "Required properties name_on_card, address_id were not present. - #", failure: missing),
        Validation(
            method: "PUT", path: "/wallet/card-1",
            body: #"{"short_name":null,"name_on_card":"x","address_id":"address-1"}"#, code: "3",
            items: "Type mismatch. Expected String but got Null. - #/short_name", failure: wrongType),
    ]
}
