import HTTPTypes
import JSON
import Support

/// The effect of each value of each switch (section 10 of the vendor's spec).
extension SwitchCase {
    typealias Send = @Sendable (World) async throws -> ReceivedAnswer

    static let consents = "/data/v2/projects/demo-project-1/consent/categories"
    static let postConsents: Send = { try await $0.call(.post, consents, .token, "{}") }
    private static let getConsents: Send = { try await $0.call(.get, consents, .token) }
    private static let readAttributes: Send = {
        try await $0.call(
            .post, Example.attributes, .token, Example.body(Example.ana, #""attributes":[{"type":"id","id":"cookie"}]"#)
        )
    }

    /// Fetches with Ana's token and other ids.
    private static func fetch(_ ids: String) -> Send {
        { try await $0.call(.post, Example.inbox, .bearer, Example.body(ids)) }
    }

    private static let more = #"{"registered":"ana@example.test","email_id":"x"}"#
    private static let fetchWithKey: Send = {
        try await $0.call(.post, Example.inbox, .token, Example.body(Example.ana))
    }
    static let unknownProject: Send = {
        try await $0.call(.post, "/track/v2/projects/none/customers", .token, Example.body(Example.ana))
    }
    private static let staleToken: Send = {
        try await $0.control(
            .post, "state/bloomreach/delete-inbox-message", #"{"customer":"ana@example.test","message":"msg-html-1"}"#)
        return try await $0.call(
            .post, Example.inbox, .token, Example.body(Example.ana, #""sync_token":"v1.1.1.2""#))
    }
    static let expired: Send = {
        try await $0.call(.post, Example.inbox, .bearer(Example.jwtAnaOld), Example.body(Example.ana))
    }
    private static let unknownID: Send = {
        try await $0.call(.post, Example.customers, .token, Example.body(#"{"passport":"x"}"#))
    }
    static let mint: Send = {
        try await $0.call(
            .post, Example.mint, [], #"{"project_id":"demo-project-1","kid":"privkey-demo-1","sub":{"registered":"a"}}"#
        )
    }
    private static let unsignedEvent: Send = {
        try await $0.call(.post, Example.streamEvents, [], Example.body(Example.guest, #""event_type":"view""#))
    }

    static let origin: World.Fields = [("origin", "https://app.example.test")]
    private static let preflight: Send = { try await $0.call(.options, Example.events, origin) }

    /// Ana's token one second after it expired.
    private static let late: Send = {
        try await $0.freeze(at: 1_800_003_601)
        return try await $0.call(.post, Example.inbox, .bearer, Example.body(Example.ana))
    }

    static let all = [
        SwitchCase("consents-method", "post-and-get", postConsents),
        SwitchCase("consents-method", "post-and-get", getConsents),
        SwitchCase("consents-method", "get-only", failure: "method-not-allowed", postConsents),
        SwitchCase("consents-method", "get-only", getConsents),
        SwitchCase("attributes-access", "public", readAttributes),
        SwitchCase("attributes-access", "private", failure: "credential-not-accepted", readAttributes),
        SwitchCase("customer-token-binding", "exact", failure: "customer-token-ids-mismatch", fetch(more)),
        SwitchCase("customer-token-binding", "subset", fetch(more)),
        SwitchCase(
            "customer-token-binding", "subset", failure: "customer-token-ids-mismatch", fetch(Example.ben)),
        SwitchCase("customer-token-binding", "off", fetch(Example.ben)),
        SwitchCase("app-inbox-auth", "any", fetchWithKey),
        SwitchCase("app-inbox-auth", "advanced", failure: "customer-token-required", fetchWithKey),
        SwitchCase("app-inbox-auth", "advanced", fetch(Example.ana)),
        SwitchCase("unknown-project-status", "400", failure: "unknown-project", shows: "400\n", unknownProject),
        SwitchCase("unknown-project-status", "404", failure: "unknown-project", shows: "404\n", unknownProject),
        SwitchCase("sync-token-check", "gone", failure: "sync-token-stale", staleToken),
        SwitchCase("sync-token-check", "full-resync", staleToken),
        SwitchCase(
            "token-expired-flag", "on", failure: "customer-token-expired", shows: Example.expired, expired),
        SwitchCase(
            "token-expired-flag", "off", failure: "customer-token-expired", shows: #"is expired"}"#, expired),
        SwitchCase("unknown-ids", "accept", unknownID),
        SwitchCase("unknown-ids", "reject", failure: "unknown-id-name", unknownID),
        SwitchCase("mint-endpoint", "on", mint),
        SwitchCase("mint-endpoint", "off", failure: "unknown-route", mint),
        SwitchCase("clock-leeway-seconds", "0", failure: "customer-token-expired", late),
        SwitchCase("clock-leeway-seconds", "1", failure: "customer-token-expired", late),
        SwitchCase("clock-leeway-seconds", "2", late),
        SwitchCase("cors", "off", failure: "method-not-allowed", preflight),
        SwitchCase("cors", "on", preflight),
        SwitchCase("require-jwt", "app-inbox", unsignedEvent),
        SwitchCase("require-jwt", "all", failure: "stream-token-missing", unsignedEvent),
    ]
}
