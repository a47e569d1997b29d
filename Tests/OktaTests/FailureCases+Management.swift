import JSON
import Support
import Testing

/// The failures of the management API and of devices' signed answers.
extension FailureCase {
    private static let ada = "/api/v1/users/" + Example.ada
    private static let factor = "\(ada)/factors/\(Example.push)"

    private static func invalidToken(_ name: String, by provoke: @escaping Provocation) -> FailureCase {
        .coded(name, 401, "E0000011", "Invalid token provided", by: provoke)
    }

    private static func missing(_ name: String, _ kind: String, _ id: String, _ path: String) -> FailureCase {
        .coded(name, 404, "E0000007", "Not found: Resource not found: \(id) (\(kind))") {
            try await $0.call(.get, path, .apiToken)
        }
    }

    static let management: [FailureCase] = [
        .coded("authn-failed", 401, "E0000004", "Authentication failed") {
            try await $0.call(
                .post, "/api/v1/authn", .jsonContent, #"{"username":"ada@example.test","password":"wrong"}"#)
        },
        invalidToken("api-token-invalid") { try await $0.call(.get, "/api/v1/users") },
        .coded("access-denied-api", 403, "E0000006", "You do not have permission to perform the requested action") {
            let token = try await $0.managementToken("okta.users.read")
            return try await $0.call(.post, ada + "/lifecycle/suspend", .bearer(token))
        },
        missing("user-not-found", "User", "nobody", "/api/v1/users/nobody"),
        .coded("factor-not-found", 404, "E0000007", "Not found: Resource not found: nope (UserFactor)") {
            try await $0.manage(ada + "/factors/nope/verify")
        },
        missing("transaction-not-found", "Transaction", "tx-0", factor + "/transactions/tx-0"),
        .coded(
            "user-exists", 400, "E0000001", "Api validation failed: login",
            causes: #"[{"errorSummary":"login: An object with this field already exists in the current organization"}]"#
        ) {
            try await $0.manage(
                "/api/v1/users",
                #"{"profile":{"firstName":"A","lastName":"L","email":"a@example.test","login":"ada@example.test"}}"#)
        },
        .coded("user-status", 400, "E0000001", "Api validation failed: status") {
            try await $0.manage(ada + "/lifecycle/unsuspend")
        },
        FailureCase("sub-id-invalid", status: 400, body: "") {
            try await $0.manage("/oauth2/v1/global-token-revocation", #"{"sub_id":{"format":"x"}}"#)
        },
        .coded("factor-code-wrong", 403, "E0000068", "Invalid Passcode/Answer") {
            try await $0.manage("\(ada)/factors/\(Example.totp)/verify", #"{"passCode":"000000"}"#)
        },
        .coded(
            "factor-code-used", 403, "E0000082",
            "Each code can only be used once. Please wait for a new code and try again."
        ) {
            let path = "\(ada)/factors/\(Example.totp)/verify"
            try await $0.manage(path, #"{"passCode":"309848"}"#).expect(200)
            return try await $0.manage(path, #"{"passCode":"309848"}"#)
        },
    ]

    /// A failure of the device's answer to its first challenge.
    private static func answer(_ name: String, _ order: JSONObject) -> FailureCase {
        invalidToken(name) {
            try await $0.challengeDevice()
            return try await $0.answerChallenge(order)
        }
    }

    static let answers: [FailureCase] = [
        invalidToken("ssws-missing") { try await $0.call(.post, factor + "/transactions/tx-1/verify") },
        invalidToken("ssws-malformed") { try await $0.manage(factor + "/transactions/tx-1/verify") },
        answer("ssws-algorithm", ["defect": "alg-none"]),
        answer("ssws-factor", ["claims": ["iss": "opfunderstudynone001"]]),
        answer("ssws-signature", ["defect": "bad-signature"]),
        answer("ssws-claims", ["defect": "missing-aud"]),
        answer("ssws-subject", ["user": .string(Example.ben)]),
        answer("ssws-audience", ["aud": "x"]),
        answer("ssws-expired", ["expires_in": 0]),
        answer("ssws-not-yet-valid", ["claims": ["iat": 1_800_000_061]]),
        answer("ssws-lifetime", ["expires_in": 62]),
        invalidToken("ssws-replayed") {
            try await $0.challengeDevice()
            let token = try await $0.mint("okta/ssws", ["transaction": "tx-1"])
            try await $0.answerChallenge(with: token).expect(200)
            return try await $0.answerChallenge(with: token)
        },
        .coded(
            "transaction-closed", 403, "E0000079",
            "This operation is not allowed in the current authentication state."
        ) {
            try await $0.challengeDevice()
            try await $0.answerChallenge([:]).expect(200)
            return try await $0.answerChallenge([:])
        },
    ]
}

extension World {
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
