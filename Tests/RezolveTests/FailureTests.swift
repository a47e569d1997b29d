import Support
import Testing

@Suite("Rezolve's failures")
struct FailureTests {
    @Test("every failure comes in the array of the staging servers when the switch says so", arguments: FailureCase.all)
    func envelope(_ example: FailureCase) async throws {
        let world = try await World()
        try await world.set("rezolve.error-envelope", "errors-array")
        try await example.provoke(world).expect(example.status, #"{"errors":[\#(example.body)]}"#, example.name)
    }

    @Test("the masked reasons answer alike on the wire and apart in the journal")
    func masked() async throws {
        var answers: Set<[UInt8]> = []
        var statuses: Set<Int> = []
        var fields: Set<[String]> = []
        var reasons: Set<String> = []
        for example in FailureCase.masked {
            let world = try await World()
            let answer = try await example.provoke(world)
            answers.insert(answer.body)
            statuses.insert(answer.status)
            fields.insert(answer.fields.map { "\($0.name): \($0.value)" })
            reasons.insert(try #require(answer.entry?.explanation))
            #expect(answer.failure == example.name)
        }
        #expect(answers == [Array(Example.denied.utf8)])
        #expect(statuses == [403])
        #expect(fields == [["Content-Type: application/json; charset=utf-8"]])
        #expect(reasons.count == FailureCase.masked.count)
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
        let example = try #require(FailureCase.all.first { $0.name == name })
        try await example.provoke(world).expect(example.status, body, name)
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
