import JSON
import Support

/// Paths, bodies and answers of the example world.
enum Example {
    static let me = "/ims/v1/me"
    static let ada =
        #"{"id":"usr-1","enterprise_id":"EMP-0001","email":"ada@example.test","first_name":"Ada","last_name":"L","#
        + #""phone":"","locale":"en","state":"active","activated_at":1800000000}"#
    static let activation =
        #"{"activation_id":"ben.driver","activation_code":"48291357","email":"ben@example.test"}"#
    static let cleo =
        #"{"activation_id":"cleo.driver","activation_code":"11223344","email":"cleo@example.test"}"#
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

    /// A request that creates an issuer.
    static func issuer(
        _ name: String, iss: String, _ keys: JSON, _ members: JSONObject = [:], tenant: String = "demo"
    ) -> String {
        var object: JSONObject = [
            "name": .string(name), "issuer": .string(iss), "tenant": .string(tenant), "keys": keys,
        ]
        for member in members { object[member.name] = member.value }
        return JSON.object(object).text
    }

    /// K1's public key as a key source.
    static func publicKey(_ number: Int = 1) throws -> JSON {
        ["type": "pem-public-key", "pem": .string(try Forged.pem(number))]
    }
}

extension World.Fields {
    /// The operator's key.
    static let operatorKey: Self = [("x-ims-operator-key", "ims-operator-test-key")]

    /// Ada's token.
    static var ada: Self { get throws { .bearer(try Forged().text()) } }

    /// `Authorization: Bearer TOKEN`.
    static func bearer(_ token: String) -> Self { [("authorization", "Bearer " + token)] }

    /// With the device header.
    func device(_ id: String) -> Self { self + [("x-ims-device-id", id)] }
}

extension World {
    /// ME with a token.
    func me(_ token: Forged, device: String? = nil) async throws -> ReceivedAnswer {
        try await me(try token.text(), device: device)
    }

    /// ME with a token given as text.
    func me(_ token: String, device: String? = nil) async throws -> ReceivedAnswer {
        let fields = Fields.bearer(token)
        return try await call(.get, Example.me, device.map(fields.device) ?? fields)
    }

    /// Replaces issuer `uat`, adding these members to its own.
    func replaceUAT(_ members: JSONObject) async throws {
        let body = Example.issuer("uat", iss: Forged.Issuer.uat.rawValue, try Example.publicKey(), members)
        let answer = try await call(.put, "/ims/v1/issuers/uat", .operatorKey, body)
        guard answer.status == 200 else { throw PreparationFailure(answer: answer.text) }
    }

    /// Runs a drill with the keys of a dev issuer.
    func drill(_ issuer: String, _ drill: String) async throws {
        let answer = try await control(.post, "keys/ims/\(issuer)/\(drill)")
        guard answer.status == 200 else { throw PreparationFailure(answer: answer.text) }
    }

    /// The number of times the keys of an issuer were fetched.
    func fetches(_ issuer: String = "rotating") async throws -> Int? {
        let listing = try await control(.get, "keys").json
        return listing["fetched"]?.array?.first { $0["issuer"]?.string == issuer }?["fetches"]?.int
    }
}

/// A request that prepares a test was refused.
struct PreparationFailure: Error, CustomStringConvertible {
    let answer: String

    var description: String { "the preparation was answered \(answer)" }
}
