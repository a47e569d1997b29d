import HTTPTypes
import JSON
import Support
import Testing

/// Calls of the management API with the example world's API token.
extension World {
    static let apiToken = "00understudy-api-token-not-a-secret"

    func manage(
        _ method: HTTPRequest.Method, _ path: String, _ body: JSON? = nil
    ) async throws -> ReceivedAnswer {
        let fields = [("authorization", "SSWS " + Self.apiToken)]
        guard let body else { return try await call(method, path, fields) }
        return try await call(method, path, fields + [("content-type", "application/json")], body.text)
    }

    /// Performs an action that must succeed.
    @discardableResult
    func act(_ action: String, _ members: JSON = [:]) async throws -> JSON {
        let answer = try await control(.post, "state/okta/\(action)", members.text)
        #expect(answer.status == 200, "\(answer.text)")
        return answer.json
    }

    /// The message of an action that must be refused.
    func refusal(of action: String, _ members: JSON) async throws -> (code: String, message: String) {
        let answer = try await control(.post, "state/okta/\(action)", members.text)
        #expect(answer.status == 400, "\(answer.text)")
        return (answer.json["error"]?["code"]?.string ?? "", answer.json["error"]?["message"]?.string ?? "")
    }
}

extension ReceivedAnswer {
    /// Expects a refusal of the management API with exactly its members.
    func refuses(
        _ status: Int, _ code: String, _ summary: String, causes: JSON = [], _ failure: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let id = json["errorId"]?.string ?? ""
        #expect(id.hasPrefix("oae") && id.utf8.count == 25, sourceLocation: sourceLocation)
        let body: JSON = [
            "errorCode": .string(code), "errorSummary": .string(summary), "errorLink": .string(code),
            "errorId": .string(id), "errorCauses": causes,
        ]
        expect(status, body.text, failure, sourceLocation: sourceLocation)
    }
}
