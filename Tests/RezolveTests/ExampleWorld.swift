import JSON
import Support
import Testing
import Tokens

/// The names of the example world: partners, customers and tokens, as in the fixtures and the vendor's spec.
///
/// Every key is invented; tokens are literal texts, so that a minting fault cannot hide a reading fault.
enum Example {
    static let apiKeyN = "a1b2c3d4-e5f6-g7h8-i9j0-a1b2c3d4e5f6"
    static let apiKeyS = "00000000-0000-4000-8000-000000000003"
    static let device = "wlkCDA2Hy/CfMqVAShslBAR/0sAiuRIUm5jOg0a"
    static let secret = "understudy-test-key-not-a-secret-0123456789-abcdefghijklmnopqrstuvwxyz-ABCDEFGHIJKLMNO=="

    static let ada = customer("entity123")
    static let ben = customer("entity456")
    static let addresses = ada + "/addressbook"

    /// The path of a customer of partner N.
    static func customer(_ entity: String) -> String { "/api/v1/partner/317/customer/" + entity }

    /// A registration JWT for `user-2001`.
    static let regNew =
        "eyJhbGciOiJIUzUxMiIsInR5cCI6IkpXVCJ9.eyJyZXpvbHZlX2VudGl0eV9pZCI6IjpOT05FOiIsInBhcnRuZXJfZW50aXR5X2lkIjo"
        + "idXNlci0yMDAxIiwiZXhwIjoxODAwMDAxODAwfQ.lK0wcDetu824iUXszQ3hfUsvgFYvaMH_PTePhNIruzhm8RSPHSmXxoozevLvGq06"
        + "yAZ-aGaCm6q8_gaKwhDeEQ"
    static let jwtAda =
        "eyJhdXRoIjoidjIiLCJhbGciOiJIUzUxMiIsInR5cCI6IkpXVCJ9.eyJyZXpvbHZlX2VudGl0eV9pZCI6ImVudGl0eTEyMyIsInBhcnR"
        + "uZXJfZW50aXR5X2lkIjoidXNlci0xMDAxIiwiZXhwIjoxODAwMDAxODAwLCJkZXZpY2VfaWQiOiJ3bGtDREEySHkvQ2ZNcVZBU2hzbEJ"
        + "BUi8wc0FpdVJJVW01ak9nMGEifQ.zFuj3X0RjSH-JWz72sHSJVhdFtcKUwYV3Jk1jvNGnD-k44d7Q8Ww9snj1zi_JkaK9nTGpjY7AcWU"
        + "ttT-nIc0iQ"
    /// The same, expired at 1799999999.
    static let jwtAdaOld =
        "eyJhdXRoIjoidjIiLCJhbGciOiJIUzUxMiIsInR5cCI6IkpXVCJ9.eyJyZXpvbHZlX2VudGl0eV9pZCI6ImVudGl0eTEyMyIsInBhcnR"
        + "uZXJfZW50aXR5X2lkIjoidXNlci0xMDAxIiwiZXhwIjoxNzk5OTk5OTk5LCJkZXZpY2VfaWQiOiJ3bGtDREEySHkvQ2ZNcVZBU2hzbEJ"
        + "BUi8wc0FpdVJJVW01ak9nMGEifQ.qtpIFr9gRBadbxpFd5A6bX7JJcpyrYlbPbfurkJ3s7OfTYYLfxh0IS5_E5Opn3BvGD_grohJBtiB"
        + "fZctv5Udqw"
    /// As the vendor's sample app builds it: `v2` instead of `auth`, the partner's id instead of the user's.
    static let jwtV2Bug =
        "eyJ2MiI6InYyIiwiYWxnIjoiSFM1MTIiLCJ0eXAiOiJKV1QifQ.eyJyZXpvbHZlX2VudGl0eV9pZCI6ImVudGl0eTEyMyIsInBhcnRuZ"
        + "XJfZW50aXR5X2lkIjoiMzE3IiwiZXhwIjoxODAwMDAxODAwLCJkZXZpY2VfaWQiOiJ3bGtDREEySHkvQ2ZNcVZBU2hzbEJBUi8wc0Fpd"
        + "VJJVW01ak9nMGEifQ.TP0xJyOoMMzEidoIsXZZUkZK6rvijzvTjegVw09Uw8UiVGqF6qsVmoMgVAVQYRxA28vI5rSzuxPMsfvUehFy0A"
    /// As JWT-ADA, with a fractional `exp`.
    static let jwtFloat =
        "eyJhdXRoIjoidjIiLCJhbGciOiJIUzUxMiIsInR5cCI6IkpXVCJ9.eyJyZXpvbHZlX2VudGl0eV9pZCI6ImVudGl0eTEyMyIsInBhcnR"
        + "uZXJfZW50aXR5X2lkIjoidXNlci0xMDAxIiwiZXhwIjoxODAwMDAxNzk5LjI1LCJkZXZpY2VfaWQiOiJ3bGtDREEySHkvQ2ZNcVZBU2h"
        + "zbEJBUi8wc0FpdVJJVW01ak9nMGEifQ.jXdreSiEasB6w3A9hgncPV72bzqQa7qAE-y1qCy-YTrc86MpP9pVmbOEeJBWD-7-oUpf7aPb"
        + "yJPDX2kAKH-oIg"
    /// The sample from the vendor's page, signed with `secret`.
    static let seedJWT =
        "eyJhbGciOiJIUzUxMiIsInR5cCI6IkpXVCJ9.eyJyZXpvbHZlX2VudGl0eV9pZCI6IjpOT05FOiIsInBhcnRuZXJfZW50aXR5X2lkIjo"
        + "iMTIzIiwiZXhwIjoxNTIwODY5NDcwfQ.5y2e6QpUKcqTNLTv75nO6a6iFPVxrF8YeAH5NTg2ZO9dkub31GEs0N46Hu2IJf1bQ_vC2IOO"
        + "9Z2N7drmvA_AKg"

    static let denied = #"{"type":"Authentication","code":"1","message":"Access is denied."}"#
    static let expired =
        #"{"type":"Expired Token","code":"8","message":"Your token has expired, refresh your token and try again."}"#
    static let notFound = #"{"type":"Not Found","code":"4","message":"Requested resource not found"}"#
    static let malformed = #"{"type":"Bad Request","code":"5","message":"Incorrect or malformed parameters"}"#

    static let address1 =
        #"{"id":"address-1","short_name":"Home","full_name":"Ada L","line_1":"1 Test Street","line_2":"","#
        + #""city":"Brno","state":"JM","zip":"60200","country":"CZ","country_alpha2":null,"phone_id":"phone-1"}"#
    static let login = #"{"username":"ada@example.test","password":"not-a-secret-1","deviceId":"dev-1"}"#
    static let newCard =
        #"{"short_name":"Test","pan":"x","pan6":"420000","pan4":"0000","brand":"visa","type":"credit","#
        + #""name_on_card":"Ada L","expires_on":"1030","address_id":"address-1","valid_from":null}"#
}

extension World.Fields {
    /// The api key of partner N, S or X.
    static let keyN: Self = [("x-rezolve-partner-apikey", Example.apiKeyN)]
    static let keyS: Self = [("x-rezolve-partner-apikey", Example.apiKeyS)]
    static let keyX: Self = [("x-rezolve-partner-apikey", "00000000-0000-4000-8000-000000000404")]
    static let ada = core(Example.jwtAda)

    /// What the core wants of partner N's customers: the api key, the token, and the device of the examples.
    static func core(_ token: String) -> Self { keyN.bearer(token).device(Example.device) }

    func bearer(_ token: String) -> Self { authorization("Bearer " + token) }

    func authorization(_ value: String) -> Self { self + [("authorization", value)] }

    func device(_ id: String) -> Self { self + [("x-rezolve-device-id", id)] }
}

extension World {
    /// Reads Ada's address book.
    func addresses(_ token: String) async throws -> ReceivedAnswer {
        try await call(.get, Example.addresses, .core(token))
    }

    /// Registers the user of a registration JWT at the core.
    func register(_ token: String) async throws -> ReceivedAnswer {
        try await call(.post, "/api/v1/authentication/register", .keyN.bearer(token), #"{"email":"a@example.test"}"#)
    }
}

/// Tokens with freely chosen text, for what no minting call would make.
enum Forged {
    static let loginHeader = #"{"auth":"v2","alg":"HS512","typ":"JWT"}"#
    static let registrationHeader = #"{"alg":"HS512","typ":"JWT"}"#

    static func token(
        secret: [UInt8] = Array(Example.secret.utf8), header: String = loginHeader, claims: String
    ) throws -> String {
        let input = Base64URL.encode(header.utf8) + "." + Base64URL.encode(claims.utf8)
        let signature = try SigningKey.secret(secret).sign(Array(input.utf8), algorithm: .hs512)
        return input + "." + Base64URL.encode(signature)
    }

    /// A registration JWT of a user, whose id is JSON text.
    static func registration(_ user: String) throws -> String {
        try token(header: registrationHeader, claims: adaClaims(entity: #"":NONE:""#, user: user, device: nil))
    }

    /// Ada's claims; each parameter is JSON text, and `nil` omits the member.
    static func adaClaims(
        entity: String? = #""entity123""#, user: String? = #""user-1001""#, exp: String? = "1800001800",
        device: String? = #""wlkCDA2Hy/CfMqVAShslBAR/0sAiuRIUm5jOg0a""#
    ) -> String {
        let members = [("rezolve_entity_id", entity), ("partner_entity_id", user), ("exp", exp), ("device_id", device)]
        return "{" + members.compactMap { name, value in value.map { #""\#(name)":\#($0)"# } }.joined(separator: ",")
            + "}"
    }
}

extension ReceivedAnswer {
    /// Expects the 403 that gives no details; the journal gives the reason.
    func expectDenied(_ failure: String, sourceLocation: SourceLocation = #_sourceLocation) {
        expect(403, Example.denied, failure, sourceLocation: sourceLocation)
    }

    /// Expects the 401 that makes a client renew its token.
    func expectExpired(sourceLocation: SourceLocation = #_sourceLocation) {
        expect(401, Example.expired, "token-expired", sourceLocation: sourceLocation)
    }
}
