import Expectations
import HTTPTypes
import JSON
import Support
import Testing

/// Of two faults, the one checked first is answered (section 2.3 of the vendor's spec).
@Suite("Rezolve's order of checks") struct CheckOrderTests {
    /// Possible faults of one request by their failures, in the order of the checks; each is a change to a valid call.
    enum Fault: String, CaseIterable, Sendable {
        case apiKey = "masked-api-key"
        case token = "masked-token-missing"
        case signature = "masked-signature"
        case members = "masked-missing-fields"
        case lifetime = "token-lifetime-too-long"
        case expiry = "token-expired"
        case owner = "masked-other-user"
        case device = "masked-device-mismatch"
        case malformedBody = "body-malformed"
        case missingField = "body-missing-fields"
        case unknownRecord = "phone-not-found"
    }

    /// Pairs that can occur in one request; a token cannot be both absent and forged.
    private static let pairs: [(Fault, Fault)] = Fault.allCases.enumerated().flatMap { index, first in
        Fault.allCases.dropFirst(index + 1).map { (first, $0) }
    }.filter { first, second in
        let absent = first == .token && [.signature, .members, .lifetime, .expiry].contains(second)
        let times = first == .lifetime && second == .expiry
        let bodies = first == .malformedBody && [.missingField, .unknownRecord].contains(second)
        return !absent && !times && !bodies
    }

    @Test("of two faults the first row's is answered", arguments: pairs)
    func order(_ first: Fault, _ second: Fault) async throws {
        let world = try await World()
        if [first, second].contains(.lifetime) { try await world.set("rezolve.max-lifetime-seconds", "1700") }
        let answer = try await request(world, [first, second])
        expect(answer.failure, is: first.rawValue)
        expect(answer.status, is: (first == .expiry ? 401 : first.rawValue.hasPrefix("body-") ? 400 : 403))
    }

    @Test("the perfect call that the faults are made of succeeds")
    func perfect() async throws { try await request(try await World(), []).expect(201) }

    /// Creates an address with all members; `shop` is what makes any of them required.
    private func request(_ world: World, _ faults: [Fault]) async throws -> ReceivedAnswer {
        try await world.set("rezolve.address-required-fields", "shop")
        let exp = faults.contains(.expiry) ? "1800000000" : faults.contains(.lifetime) ? "1800001701" : "1800001700"
        let claims = Forged.adaClaims(user: faults.contains(.members) ? nil : #""user-1001""#, exp: exp)
        let secret = faults.contains(.signature) ? "wrong" : Example.secret
        let token = try Forged.token(secret: Array(secret.utf8), claims: claims)
        var fields: World.Fields = [
            ("x-rezolve-partner-apikey", faults.contains(.apiKey) ? "123jlklk" : Example.apiKeyN)
        ]
        if !faults.contains(.token) { fields = fields.bearer(token) }
        if !faults.contains(.device) { fields = fields.device(Example.device) }
        let path = (faults.contains(.owner) ? Example.ben : Example.ada) + "/addressbook"
        return try await world.call(.post, path, fields, body(faults))
    }

    private func body(_ faults: [Fault]) -> String {
        if faults.contains(.malformedBody) { return "{" }
        let line = faults.contains(.missingField) ? "" : #""line_1":"2 Test Street","#
        let phone = faults.contains(.unknownRecord) ? "none" : "phone-1"
        return #"{\#(line)"city":"Brno","state":"JM","zip":"60200","country":"CZ","phone_id":"\#(phone)"}"#
    }

    @Test(
        "of several wrong members the absent one is answered first, then the wrong type, then the short one",
        arguments: [
            (#"{"name":1}"#, "body-missing-fields"), (#"{"name":""}"#, "body-missing-fields"),
            (#"{"name":1,"phone":""}"#, "body-wrong-type"), (#"{"name":"","phone":1}"#, "body-wrong-type"),
            (#"{"name":"x","phone":"555"}"#, "body-too-short"), ("", "body-malformed"), ("null", "body-malformed"),
            (#""text""#, "body-malformed"), (#"{"name":"x""#, "body-malformed"),
        ])
    func memberOrder(_ body: String, _ failure: String) async throws {
        let answer = try await World().call(.post, Example.ada + "/phonebook", .ada, body)
        expect(answer.status, is: 400)
        expect(answer.failure, is: failure)
    }

    @Test("a partner without key is answered before anything about the token") func noAuthKeyFirst() async throws {
        let world = try await World()
        try await world.call(.get, Example.addresses, .keyX).expectDenied("masked-no-auth-key")
        try await world.call(.get, Example.addresses, .keyX.bearer("broken")).expectDenied("masked-no-auth-key")
    }

    @Test("on register the token comes before the content, and the content before the duplicate")
    func registration() async throws {
        let world = try await World()
        let (login, known) = (Example.jwtAda, try Forged.registration(#""user-1001""#))
        for (token, body, failure) in [
            (login, "{", "masked-missing-fields"), (known, "{", "body-malformed"), (known, "{}", "body-missing-fields"),
            (known, #"{"email":1}"#, "body-wrong-type"), (known, #"{"email":""}"#, "body-too-short"),
            (known, #"{"email":"x"}"#, "registration-duplicate"),
        ] {
            let answer = try await world.call(.post, "/api/v1/authentication/register", .keyN.bearer(token), body)
            expect(answer.failure, is: failure, body)
        }
    }

    @Test("every finding stands in the journal, also those behind the answer") func allFindings() async throws {
        let token = try Forged.token(secret: Array("wrong".utf8), claims: Forged.adaClaims(user: nil, exp: "1"))
        let answer = try await World().call(.get, Example.ben + "/addressbook", .keyN.bearer(token))
        answer.expectDenied("masked-signature")
        for check in ["signature", "claim-partner_entity_id-present", "expiry", "path-entity", "device"] {
            expect(answer.outcome(of: check), is: .failed, "\(check)")
        }
        for check in ["api-key", "auth-key", "token-present", "parts", "algorithm"] {
            expect(answer.outcome(of: check), is: .passed, "\(check)")
        }
    }
}

@Suite("Rezolve's failures") struct FailureTests {
    @Test("what the staging servers say of wrong bodies", arguments: validations) func validation(
        _ method: String, _ path: String, _ body: String, _ code: String, _ items: String, _ failure: String
    ) async throws {
        let world = try await World()
        try await world.set("rezolve.message-style", "staging")
        let answer = try await world.call(try #require(.init(method)), Example.ada + path, .ada, body)
        answer.expect(
            400, #"{"type":"Bad Request","code":"\#(code)","message":"Validation error: [\#(items)]"}"#, failure)
    }

    private static let missing = "body-missing-fields"
    private static let wrongType = "body-wrong-type"
    private static let nullName = "Type mismatch. Expected String but got Null. - #/name"
    private static let emptyName = "Expected value to have a minimum length of 1 but was 0. - #/name"

    /// An invalid body by route, with the code and message that the staging servers answer.
    private static let validations = [
        ("POST", "/phonebook", #"{"name":"x"}"#, "3", "Required property phone was not present. - #", missing),
        ("PUT", "/phonebook/phone-1", "{}", "6", "Required properties name, phone were not present. - #", missing),
        (
            "POST", "/phonebook", #"{"phone":true,"name":null}"#, "3",
            nullName + ", Type mismatch. Expected String but got Boolean. - #/phone", wrongType
        ),
        (
            "PUT", "/phonebook/phone-1", #"{"name":null,"phone":[]}"#, "6",
            nullName + ", Type mismatch. Expected String but got Array. - #/phone", wrongType
        ),
        ("PUT", "/phonebook/phone-1", #"{"name":"","phone":"+1555"}"#, "6", emptyName, "body-too-short"),
        (
            "POST", "/phonebook", #"{"name":""}"#, "3", "Required property phone was not present. - #, " + emptyName,
            missing
        ),
        (
            "POST", "/addressbook", #"{"city":1,"zip":{}}"#, "5",
            "Type mismatch. Expected String but got Number. - #/city, "
                + "Type mismatch. Expected String but got Object. - #/zip",
            wrongType
        ),
        (
            "PUT", "/profile", #"{"use_data_for_marketing":"yes","name":null}"#, "5",
            nullName + ", Type mismatch. Expected Boolean but got String. - #/use_data_for_marketing", wrongType
        ),
        (
            "POST", "/wallet", "{}", "3",
            "Required properties short_name, pan, pan6, pan4, brand, type, name_on_card, expires_on, "
                + "address_id, valid_from were not present. - #",
            missing
        ),
        (
            "PUT", "/wallet/card-1", #"{"short_name":"x"}"#, "3",
            "Required properties name_on_card, address_id were not present. - #", missing
        ),
        (
            "PUT", "/wallet/card-1", #"{"short_name":null,"name_on_card":"x","address_id":"address-1"}"#, "3",
            "Type mismatch. Expected String but got Null. - #/short_name", wrongType
        ),
    ]
}

@Suite("Rezolve's routes") struct RouteTests {
    @Test(
        "a path is found through repeated slashes, a slash at the end and escapes",
        arguments: [
            "/api//v1/partner/317//customer/entity123/addressbook",
            "/api/v1/partner/317/customer/entity123/addressbook/",
            "/api/v1/partner/317/customer/entity%3123/addressbook",
            "//api/v1/partner/317/customer/entity123/addressbook",
            "/api/v1/partner/317/customer/entity123/addressbook?page=1",
        ])
    func spellings(_ path: String) async throws {
        try await World().call(.get, path, .ada).expect(200, "[\(Example.address1)]")
    }

    private static let commerce =
        " belongs to the commerce part of Rezolve, which is not emulated; expected a path that “understudy routes” lists"

    @Test(
        "the commerce part says that it is not offered, whatever the method",
        arguments: [
            "/api/v2/partner/317/customer/entity123/cart", "/api/v3/partner", "/api/v4/partner/317/orders",
            "/api/v1/device", "/admin/inventory/x", "/api/v1/search", "/api/v1/search/products?q=x",
            "/api/v3/external/callback", "//api/v1//device/",
        ])
    func notOffered(_ path: String) async throws {
        let world = try await World()
        for method in [HTTPRequest.Method.get, .post] {
            let answer = try await world.call(method, path, .ada)
            answer.expect(404, Example.notFound, "route-not-offered")
            let reason = answer.entry?.explanation ?? ""
            #expect(reason.hasSuffix(Self.commerce), "\(reason)")
        }
    }
}
