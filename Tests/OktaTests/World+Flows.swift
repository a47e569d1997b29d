import JSON
import Support
import Testing

extension World {
    /// What a client sends to authorize after it has pushed its request.
    func pushed(_ parameters: Parameters = .authorize) async throws -> Parameters {
        let answer = try await submit(parameters, to: Example.custom + "/par")
        let uri = try #require(answer.json["request_uri"]?.string, "\(answer.text)")
        return [("client_id", Example.native), ("request_uri", uri)]
    }

    /// Gives a device its codes.
    func startDevice() async throws -> (device: String, user: String) {
        let answer = try await submit(
            [("client_id", Example.tv), ("scope", "openid offline_access")], to: Example.custom + "/device/authorize")
        return (answer.json["device_code"]?.string ?? "", answer.json["user_code"]?.string ?? "")
    }

    /// The device's answer to its first challenge, with a token that is minted.
    func answerChallenge(_ order: JSONObject) async throws -> ReceivedAnswer {
        var order = order
        order["transaction"] = "tx-1"
        return try await answerChallenge(with: try await mint("okta/ssws", order))
    }

    /// The device's answer to its first challenge.
    func answerChallenge(with token: String) async throws -> ReceivedAnswer {
        let path = "/api/v1/users/\(Example.ada)/factors/\(Example.push)/transactions/tx-1/verify"
        return try await call(.post, path, [("authorization", "SSWS " + token)])
    }
}
