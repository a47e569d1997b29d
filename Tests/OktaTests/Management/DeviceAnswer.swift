import Foundation
import JSON
import Support
import Tokens

/// The token with which a device answers a challenge; tests change what they break.
struct DeviceAnswer: Sendable {
    static let pk1 = key("pk1")

    var key: SigningKey
    var algorithm = Algorithm.rs256
    var header: JSONObject = ["alg": "RS256"]
    /// The eight claims of the validator page.
    var claims: JSONObject

    init(_ transaction: String = "tx-1", id: String = "j1", by key: SigningKey = pk1) {
        let now = World.exampleMoment
        self.key = key
        claims = [
            "tx": .string(transaction), "iss": .string(Example.push), "sub": .string(Example.ada), "aud": "localhost",
            "iat": JSON(now), "nbf": JSON(now - 60), "exp": JSON(now + 60), "jti": .string(id),
        ]
    }

    func changed(_ change: (inout DeviceAnswer) -> Void) -> DeviceAnswer {
        var answer = self
        change(&answer)
        return answer
    }

    var text: String {
        get throws { try TokenDraft(header: header, claims: claims).mint(key: key, algorithm: algorithm) }
    }

    static func key(_ name: String) -> SigningKey {
        let path = Repository.root + "/Fixtures/okta/keys/\(name).pem"
        guard let text = try? String(contentsOfFile: path, encoding: .utf8), let key = try? SigningKey.pem(text) else {
            preconditionFailure("no key at \(path)")
        }
        return key
    }
}

extension World {
    static let factor = "/api/v1/users/\(Example.ada)/factors/\(Example.push)"

    /// Challenges Ada's device, and returns the id of the transaction.
    func challenge() async throws -> String {
        let answer = try await manage(.post, Self.factor + "/verify")
        return answer.json["_links"]?["poll"]?["href"]?.string?.split(separator: "/").last.map(String.init) ?? ""
    }

    /// Sends a device's answer.
    func answer(
        _ transaction: String, _ answer: DeviceAnswer?, _ body: String = "", at factor: String = factor
    ) async throws -> ReceivedAnswer {
        let fields = try answer.map { [("authorization", "SSWS " + (try $0.text))] } ?? []
        return try await call(
            .post, "\(factor)/transactions/\(transaction)/verify",
            fields + (body.isEmpty ? [] : [("content-type", "application/json")]), body)
    }
}
