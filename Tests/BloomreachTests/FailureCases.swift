import Support

extension FailureCase {
    static let all = requests + credentials + customerTokens + streamTokens + bodies + content + mint + armed

    /// Sends one of Ana's events with another `Authorization`.
    private static func event(_ authorization: String) -> @Sendable (World) async throws -> ReceivedAnswer {
        { try await $0.call(.post, Example.events, .authorization(authorization), anasEvent) }
    }

    private static let anasEvent = Example.body(Example.ana, #""event_type":"view""#)

    /// Faults found before any key is checked.
    static let requests: [FailureCase] = [
        FailureCase("unknown-route", status: 404, body: Example.notFound) {
            try await $0.call(.get, "/webxp/nothing", .token)
        },
        FailureCase("method-not-allowed", status: 405, body: Example.error("Method not allowed")) {
            try await $0.call(.get, Example.events, .token)
        },
        FailureCase("compressed-body", status: 400, body: Example.unreadable) {
            try await $0.call(.post, Example.events, .token + [("content-encoding", "gzip")], "x")
        },
        FailureCase("bad-request-body", status: 400, body: Example.unreadable) {
            try await $0.call(.post, Example.events, .token, "[]")
        },
        FailureCase("body-too-large", status: 413, body: Example.error("Request body too large")) {
            try await $0.call(.post, Example.events, .token, String(repeating: " ", count: 256 << 10 | 1))
        },
        FailureCase("invalid-project-id", status: 400, body: Example.error("Invalid project id")) {
            try await $0.call(.post, "/track/u/v1/customers/events", [], anasEvent)
        },
        FailureCase("unknown-project", status: 400, body: Example.error("Could not authenticate")) {
            try await $0.call(.post, "/track/v2/projects/none/customers/events", .token, anasEvent)
        },
    ]

    /// Faults of a key.
    static let credentials: [FailureCase] = [
        FailureCase("missing-authorization", status: 401, body: Example.noAccessKey) {
            try await $0.call(.post, Example.events, [], anasEvent)
        },
        FailureCase("malformed-authorization", status: 401, body: Example.noAccessKey, by: event("Digest x")),
        FailureCase(
            "credential-not-accepted", status: 401, body: Example.notAccepted, by: event("Bearer " + Example.jwtAna)),
        FailureCase("customer-token-required", status: 401, body: Example.error("customer token required")) {
            try await $0.set("bloomreach.app-inbox-auth", "advanced")
            return try await $0.call(.post, Example.inbox, .token, Example.body(Example.ana))
        },
        FailureCase("unknown-key", status: 401, body: Example.error("access key not found"), by: event("Token nope")),
        // privkey-demo-1:wrong
        FailureCase(
            "wrong-secret", status: 401, body: Example.error("access key not found"),
            by: event("Basic cHJpdmtleS1kZW1vLTE6d3Jvbmc=")),
        FailureCase("no-permission", status: 403, body: Example.errors("not authorized to track specified event")) {
            try await $0.call(
                .post, Example.events, .limited, Example.body(Example.ana, #""event_type":"internal_audit""#))
        },
    ]

    /// A failure of a customer token minted with the defect of the same name.
    private static func customerToken(_ name: String, _ body: String) -> FailureCase {
        FailureCase(name, status: 401, body: body) {
            let token = try await $0.mint("bloomreach/customer-token", ["defect": .string(name)])
            return try await $0.call(.post, Example.inbox, .bearer(token), Example.body(Example.ana))
        }
    }

    private static func claims(_ problem: String) -> String { Example.error("token has invalid claims: \(problem)") }

    static let customerTokens: [FailureCase] = [
        customerToken("customer-token-malformed", Example.invalidToken),
        customerToken("customer-token-wrong-algorithm", Example.invalidToken),
        customerToken("customer-token-unknown-key", Example.invalidToken),
        customerToken("customer-token-bad-signature", Example.invalidToken),
        customerToken("customer-token-missing-expiry", claims("exp is missing")),
        customerToken("customer-token-expired", Example.expired),
        customerToken("customer-token-not-yet-valid", claims("token is not valid yet")),
        customerToken("customer-token-bad-subject", claims("sub is not a map of customer ids")),
        FailureCase("customer-token-ids-mismatch", status: 401, body: Example.mismatch) {
            try await $0.call(.post, Example.inbox, .bearer, Example.body(Example.ben))
        },
    ]

    /// A failure of a stream token minted with the defect of the same name.
    private static func streamToken(
        _ name: String, _ status: Int = 401, _ body: String = Example.invalidToken
    ) -> FailureCase {
        FailureCase(name, status: status, body: body) {
            let token = try await $0.mint("bloomreach/stream-token", ["defect": .string(name)])
            return try await $0.call(.post, Example.streamEvents, .bearer(token), anasEvent)
        }
    }

    static let streamTokens: [FailureCase] = [
        FailureCase("stream-token-missing", status: 401, body: Example.error("missing token")) {
            try await $0.call(.post, Example.streamInbox, [], Example.body(Example.ana))
        },
        streamToken("stream-token-malformed"), streamToken("stream-token-wrong-algorithm"),
        streamToken("stream-token-unknown-key"), streamToken("stream-token-bad-signature"),
        streamToken("stream-token-missing-expiry"), streamToken("stream-token-expired", 401, Example.expired),
        streamToken("stream-token-not-yet-valid"), streamToken("stream-token-empty-ids"),
        streamToken("stream-token-wrong-stream", 403, Example.error("forbidden")),
        FailureCase("stream-token-ids-mismatch", status: 401, body: Example.invalidToken) {
            try await $0.call(
                .post, Example.streamEvents, .streamBearer, Example.body(Example.ben, #""event_type":"view""#))
        },
        FailureCase("stream-signature-required", status: 403, body: Example.error("forbidden")) {
            try await $0.call(
                .post, Example.streamEvents, [], Example.body(#"{"account_id":"a-1"}"#, #""event_type":"view""#))
        },
        FailureCase("stream-empty-update", status: 400, body: Example.errors("Nothing to update.")) {
            try await $0.call(.post, Example.streamCustomers, [], Example.body(Example.guest))
        },
    ]

    private static func attributes(_ ids: String, _ list: String) -> @Sendable (World) async throws -> ReceivedAnswer {
        { try await $0.call(.post, Example.attributes, .token, Example.body(ids, #""attributes":[\#(list)]"#)) }
    }

    private static func events(_ body: String) -> @Sendable (World) async throws -> ReceivedAnswer {
        { try await $0.call(.post, Example.events, .token, body) }
    }

    static let bodies: [FailureCase] = [
        FailureCase(
            "no-customer-ids", status: 400, body: Example.errors("At least one id should be specified."),
            by: events(#"{"event_type":"view"}"#)),
        FailureCase(
            "missing-event-type", status: 400, body: Example.errors("Field 'event_type' is required."),
            by: events(Example.body(Example.ana))),
        FailureCase("missing-field", status: 400, body: Example.errors("Field 'url' is required.")) {
            try await $0.call(.post, Example.clicks, .token, "{}")
        },
        FailureCase(
            "invalid-field", status: 400, body: Example.errors("Field 'timestamp' is invalid."),
            by: events(Example.body(Example.ana, #""timestamp":"soon","event_type":"view""#))),
        FailureCase("unknown-id-name", status: 400, body: Example.errors("Field 'customer_ids' is invalid.")) {
            try await $0.set("bloomreach.unknown-ids", "reject")
            return try await $0.call(
                .post, Example.events, .token, Example.body(#"{"passport":"x"}"#, #""event_type":"view""#))
        },
        FailureCase(
            "customer-ids-conflict", status: 400, body: Example.errors("Customer ids belong to different customers.")
        ) {
            _ = try await $0.call(
                .post, Example.customers, .token, Example.body(#"{"registered":"ana@example.test","email_id":"e"}"#))
            return try await $0.call(
                .post, Example.customers, .token, Example.body(#"{"registered":"ben@example.test","email_id":"e"}"#))
        },
        FailureCase(
            "attribute-invalid-type", status: 400,
            body: #"{"success":false,"errors":{"attributes":{"1":["Could not parse attribute. Invalid type."]}}}"#,
            by: attributes(Example.ana, #"{"type":"id","id":"cookie"},{"type":"property"}"#)),
        FailureCase(
            "attribute-unknown-id", status: 404,
            body: Example.errors("_global", "Aggregation with id none does not exist"),
            by: attributes(Example.ana, #"{"type":"aggregate","id":"none"}"#)),
        FailureCase(
            "customer-not-found", status: 404, body: Example.errors("_global", "Customer does not exist"),
            by: attributes(#"{"registered":"no@example.test"}"#, #"{"type":"id","id":"cookie"}"#)),
        FailureCase("batch-invalid-json", status: 400, body: #"{"success":false,"message":"Invalid JSON"}"#) {
            try await $0.call(.post, Example.batch, .token, "{")
        },
        FailureCase("batch-no-commands", status: 400, body: #"{"success":false,"message":"No commands"}"#) {
            try await $0.call(.post, Example.batch, .token, #"{"commands":{}}"#)
        },
    ]

    static let content: [FailureCase] = [
        FailureCase("sync-token-stale", status: 410, body: Example.error("invalid sync token"), keepsState: false) {
            try await $0.control(
                .post, "state/bloomreach/delete-inbox-message",
                #"{"customer":"ana@example.test","message":"msg-html-1"}"#)
            return try await $0.call(
                .post, Example.inbox, .token, Example.body(Example.ana, #""sync_token":"v1.1.1.2""#))
        },
        FailureCase("sync-token-unknown", status: 410, body: Example.error("invalid sync token")) {
            try await $0.call(.post, Example.inbox, .token, Example.body(Example.ana, #""sync_token":"abc""#))
        },
        FailureCase("message-not-found", status: 400, body: Example.error("unknown message id")) {
            try await $0.call(
                .post, Example.markAsRead, .token,
                Example.body(Example.ana, #""message_ids":["none"],"sync_token":"v1.1.1.2""#))
        },
    ]

    private static func mint(_ key: String, _ subject: String) -> @Sendable (World) async throws -> ReceivedAnswer {
        {
            try await $0.call(
                .post, Example.mint, [], #"{"project_id":"demo-project-1","kid":"\#(key)","sub":\#(subject)}"#)
        }
    }

    static let mint: [FailureCase] = [
        FailureCase("mint-unknown-key", status: 400, body: Example.error("unknown kid"), by: mint("none", Example.ana)),
        FailureCase(
            "mint-bad-subject", status: 400, body: Example.error("sub must be a map of customer ids"),
            by: mint("privkey-demo-1", "{}")),
    ]

    private static func armed(_ name: String, _ status: Int, _ body: String) -> FailureCase {
        FailureCase(name, status: status, body: body) {
            try await $0.arm(name, at: "track.events")
            return try await $0.call(.post, Example.events, [], anasEvent)
        }
    }

    static let armed: [FailureCase] = [
        armed("rate-limited", 429, Example.error("Too many requests")),
        armed("server-error", 500, "Internal Server Error"),
        armed("service-unavailable", 503, "Service Unavailable"),
    ]
}
