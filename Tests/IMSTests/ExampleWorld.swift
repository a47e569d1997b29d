import Expectations
import Foundation
import JSON
import Support
import Testing
import Tokens

enum Example {
    static let me = "/ims/v1/me"
    /// The `iss` of the issuer that tests onboard.
    static let newIssuer = "https://new.example.test"
    static let activation = #"{"activation_id":"ben.driver","activation_code":"48291357","email":"ben@example.test"}"#
    static let trip =
        #"{"trip_id":"t-1","started_at":"2027-01-15T07:00:00Z","ended_at":"2027-01-15T07:30:00Z","#
        + #""distance_meters":21000}"#
    static let tripAnswer =
        #"{"trip_id":"t-1","started_at":"2027-01-15T07:00:00Z","ended_at":"2027-01-15T07:30:00Z","#
        + #""distance_meters":21000,"vehicle_id":null,"point_count":0,"received_at":1800000000}"#
    static let invitation =
        #"{"kind":"account","name":"Ben","email":"ben@example.test","phone":"","account_ids":["acc-1"]}"#

    /// The security page's sample certificate.
    static func seedCertificate() throws -> String {
        let text = try Repository.fixtures.document("ims/accounts.yaml").json()
        return text["issuers"]?[1]?["keys"]?["pem"]?.string ?? ""
    }

    static func issuer(_ name: String, iss: String, _ keys: JSON, _ members: JSONObject = [:]) -> String {
        var object: JSONObject = ["name": .string(name), "issuer": .string(iss), "tenant": "demo", "keys": keys]
        for member in members { object[member.name] = member.value }
        return JSON.object(object).text
    }

    static func publicKey(_ number: Int = 1) throws -> JSON {
        ["type": "pem-public-key", "pem": .string(try Forged.pem(number))]
    }
}

extension World.Fields {
    static let operatorKey: Self = [("x-ims-operator-key", "ims-operator-test-key")]

    static var ada: Self { get throws { .bearer(try Forged().text()) } }

    static func bearer(_ token: String) -> Self { [("authorization", "Bearer " + token)] }

    func device(_ id: String) -> Self { self + [("x-ims-device-id", id)] }
}

extension World {
    func me(_ token: Forged, device: String? = nil) async throws -> ReceivedAnswer {
        try await me(try token.text(), device: device)
    }

    func me(_ token: String, device: String? = nil) async throws -> ReceivedAnswer {
        let fields = Fields.bearer(token)
        return try await call(.get, Example.me, device.map(fields.device) ?? fields)
    }

    /// Onboards the issuer `new`.
    func createIssuer(_ keys: JSON, _ members: JSONObject = [:]) async throws -> ReceivedAnswer {
        let body = Example.issuer("new", iss: Example.newIssuer, keys, members)
        return try await call(.post, "/ims/v1/issuers", .operatorKey, body)
    }

    /// Replaces issuer `uat`, adding these members to its own.
    func replaceUAT(_ members: JSONObject) async throws {
        let body = Example.issuer("uat", iss: Forged.Issuer.uat.rawValue, try Example.publicKey(), members)
        try await call(.put, "/ims/v1/issuers/uat", .operatorKey, body).expect(200)
    }

    func drill(_ issuer: String, _ drill: String) async throws {
        try await control(.post, "keys/ims/\(issuer)/\(drill)").expect(200)
    }

    func fetches(_ issuer: String = "rotating") async throws -> Int? {
        let listing = try await control(.get, "keys").json
        return listing["fetched"]?.array?.first { $0["issuer"]?.string == issuer }?["fetches"]?.int
    }
}

/// A token with freely chosen parts, made without the minting call, so that a fault in one cannot hide in the other.
struct Forged {
    /// The issuers of the example world: `iss`, the number of the key, its `kid`.
    enum Issuer: String {
        case uat = "https://auth.example.test/uat"
        case legacy = "https://auth.example.test/prod"
        case rotating = "https://login.example.test"
        case firebase = "https://securetoken.google.com/understudy-demo"
        case cognito = "https://cognito-idp.eu-west-1.amazonaws.com/eu-west-1_Test00001"
        case stranger = "https://auth.other.test"

        fileprivate var key: Int {
            switch self {
            case .uat, .legacy: 1
            case .rotating: 2
            case .firebase: 3
            case .cognito: 4
            case .stranger: 9
            }
        }

        /// Only published keys have one.
        fileprivate var keyID: String? { 2...4 ~= key ? "k\(key)" : nil }
    }

    private static let keys = (1...9).map { number in
        Result { try SigningKey.pem(String(contentsOfFile: path(number), encoding: .utf8)) }
    }

    private static func path(_ number: Int) -> String { "\(Repository.root)/Fixtures/ims/keys/k\(number).pem" }

    /// The key `K1` to `K9` of the example world.
    static func key(_ number: Int) throws -> SigningKey { try keys[number - 1].get() }

    static func pem(_ number: Int) throws -> String { try key(number).publicPEM ?? "" }

    static func jwk(_ number: Int, kid: String, _ changes: [(String, JSON?)] = []) throws -> JSON {
        var key = try key(number)
        key.id = kid
        var members = key.publicJWK()?.object ?? [:]
        for (name, value) in changes { members[name] = value }
        return .object(members)
    }

    var header: JSONObject = ["alg": "RS256", "typ": "JWT"]
    var claims: JSONObject
    var key: Int

    /// The token `T(issuer, …)` of the vendor's spec: each listed claim is set, or omitted where it is `nil`.
    init(_ issuer: Issuer = .uat, at moment: Int = World.exampleMoment, _ changes: [(String, JSON?)] = []) {
        key = issuer.key
        header["kid"] = issuer.keyID.map(JSON.string)
        claims = ["iss": .string(issuer.rawValue), "sub": "EMP-0001", "iat": JSON(moment), "exp": JSON(moment + 600)]
        for (name, value) in changes { claims[name] = value }
    }

    /// A token of the issuer `new`.
    static func new(by key: Int, kid: String? = nil) -> Forged {
        Forged(.uat, [("iss", .string(Example.newIssuer))]).signed(by: key).header("kid", kid.map(JSON.string))
    }

    func header(_ name: String, _ value: JSON?) -> Forged {
        var token = self
        token.header[name] = value
        return token
    }

    func signed(by key: Int) -> Forged {
        var token = self
        token.key = key
        return token
    }

    var input: String {
        Base64URL.encode(JSON.object(header).bytes) + "." + Base64URL.encode(JSON.object(claims).bytes)
    }

    /// The token, signed with RS256 whatever its header says.
    func text() throws -> String { try Self.signed(input, by: key) }

    static func signed(_ input: String, by key: Int) throws -> String {
        input + "." + Base64URL.encode(try Self.key(key).sign(Array(input.utf8), algorithm: .rs256))
    }
}

extension ReceivedAnswer {
    /// Expects a refusal with the content given in the vendor's spec, and the same in the journal.
    func expectRefusal(
        _ status: Int, _ failure: String, field: String? = nil, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        expect(status, Self.body(failure, field), failure, sourceLocation: sourceLocation)
        expectChallenge(failure, sourceLocation: sourceLocation)
    }

    /// A 401 names the required scheme and the error in its field; no other answer does.
    func expectChallenge(_ failure: String, sourceLocation: SourceLocation = #_sourceLocation) {
        let challenge =
            failure == "token-missing"
            ? #"Bearer realm="ims""#
            : #"Bearer realm="ims", error="invalid_token", error_description="\#(failure)""#
        #expect(self["www-authenticate"] == (status == 401 ? challenge : nil), sourceLocation: sourceLocation)
    }

    /// The content that failures.yaml has for it; a contract case has each to the letter.
    static func body(_ failure: String, _ field: String? = nil) -> String {
        let sheet = try? FailureSheet.read("ims", in: Repository.root + "/Fixtures")
        var error = sheet?.body(of: failure)["error"]?.object
        if let field { error?["field"] = .string(field) }
        return JSON.object(["error": .object(error ?? [:])]).text
    }
}
