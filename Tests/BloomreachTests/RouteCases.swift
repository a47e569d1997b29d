import HTTPTypes
import JSON
import Support

extension RouteCase {
    private static func at(
        _ route: String, _ method: HTTPRequest.Method, _ pattern: String, query: String = "",
        fields: World.Fields = .token, body: String = ""
    ) -> RouteCase {
        let path = pattern.replacing("{project}", with: "demo-project-1").replacing("{stream}", with: "demo-stream-1")
            .replacing("{cookie}", with: Example.cookieGuest)
        return RouteCase(route, method, path + query, fields: fields, body: body)
    }

    /// A case for each of the two modes.
    private static func both(
        _ id: String, _ method: HTTPRequest.Method = .post, project: String, query projectQuery: String = "",
        stream: String, streamQuery: String = "", body: String = ""
    ) -> [RouteCase] {
        [
            .at(id, method, project, query: projectQuery, fields: .token, body: body),
            .at(id, method, stream, query: streamQuery, fields: .streamBearer, body: body),
        ]
    }

    /// The same at paths that differ only in the part that names the project or the stream.
    private static func alike(
        _ id: String, _ method: HTTPRequest.Method = .post, at path: String, project: String = "projects/{project}",
        query: String = "", body: String = ""
    ) -> [RouteCase] {
        both(
            id, method, project: path.replacing("*", with: project), query: query,
            stream: path.replacing("*", with: "streams/{stream}"), streamQuery: query, body: body)
    }

    private static let streamQuery = "?stream_id=demo-stream-1"
    private static let event = Example.body(Example.ana, #""event_type":"view""#)

    static let tracking: [RouteCase] = [
        both(
            "track.customers", project: "/track/v2/projects/{project}/customers", stream: "/track/u/v1/customers",
            streamQuery: streamQuery, body: Example.body(Example.ana)),
        both(
            "track.events", project: "/track/v2/projects/{project}/customers/events",
            stream: "/track/u/v1/customers/events", streamQuery: streamQuery, body: event),
        both(
            "track.clicks", project: "/track/v2/projects/{project}/campaigns/clicks",
            stream: "/track/u/v1/campaigns/clicks", streamQuery: streamQuery,
            body: #"{"url":"https://a.example.test"}"#),
        both(
            "selfcheck.send", project: "/campaigns/send-self-check-notification", query: "?project_id=demo-project-1",
            stream: "/campaigns/streams/{stream}/send-self-check-notification",
            body: Example.body(Example.ana, #""platform":"huawei","push_notification_id":"t""#)),
        alike(
            "ids.link", at: "/webxp/*/cookies/{cookie}/link-ids",
            body: #"{"external_ids":{"registered":"ana@example.test"}}"#),
        [
            .at(
                "track.batch", .post, "/track/v2/projects/{project}/batch",
                body: #"{"commands":[{"name":"system/time"}]}"#),
            .at(
                "track.batch", .post, "/track/u/v1/batch", query: streamQuery, fields: .streamBearer,
                body: #"{"commands":[{"name":"customers/events","data":\#(event)}]}"#),
            .at("track.system-time", .get, "/track/v2/projects/{project}/system/time", fields: .basic),
        ],
    ].flatMap { $0 }

    private static let data = "/data/v2/projects/{project}/customers"

    static let customerData: [RouteCase] = [
        .at(
            "data.attributes", .post, data + "/attributes",
            body: Example.body(
                Example.ana, #""attributes":[{"type":"id","id":"cookie"},{"type":"id","id":"registered"}]"#)),
        .at("data.export-one", .post, data + "/export-one", fields: .basic, body: Example.body(Example.ana)),
        .at(
            "data.events", .post, data + "/events", fields: .basic,
            body: Example.body(Example.ana, #""event_types":["view"]"#)),
        .at("data.export", .post, data + "/export", fields: .basic, body: #"{"format":"native_json"}"#),
        .at("data.anonymize", .post, data + "/anonymize", fields: .basic, body: Example.body(Example.ana)),
        .at(
            "mint.customer-token", .post, "/webxp/exampleapp/customertokens", fields: [],
            body: #"{"project_id":"demo-project-1","kid":"privkey-demo-1","sub":{"registered":"ana@example.test"}}"#),
    ]

    /// Content routes; their answers are checked by separate tests.
    static let content: [RouteCase] = [
        alike("appinbox.fetch", at: "/webxp/*/appinbox/fetch", body: Example.body(Example.ana)),
        alike(
            "appinbox.markasread", at: "/webxp/*/appinbox/markasread",
            body: Example.body(Example.ana, #""message_ids":["msg-push-1"],"sync_token":"v1.1.1.2""#)),
        alike("inapp.messages", at: "/webxp/*/inappmessages", project: "s/{project}", body: Example.body(Example.ana)),
        alike(
            "blocks.personal", at: "/webxp/*/inappcontentblocks", project: "s/{project}",
            body: Example.body(Example.ana, #""content_block_ids":["block-2"]"#)),
        alike("segments.list", .get, at: "/webxp/*/segments", query: "?cookie=none"),
        alike("blocks.static", .get, at: "/wxstatic/*/bundle-ios.json"),
        alike("blocks.static", .get, at: "/wxstatic/*/bundle-android.json"),
        alike("consents.list", .get, at: "/data/v2/*/consent/categories"),
        alike("consents.list", at: "/data/v2/*/consent/categories", body: "{}"),
        [
            .at(
                "recommend.user", .post, "/optimization/streams/{stream}/recommend/user", fields: .streamBearer,
                body: Example.body(Example.ana, #""engine_id":"bestsellers""#))
        ],
    ].flatMap { $0 }

    static let all = tracking + customerData + content
}

/// The effect of each value of each switch (section 10 of the vendor's spec).
extension SwitchCase {
    static let consents = "/data/v2/projects/demo-project-1/consent/categories"
    static let postConsents: World.Send = { try await $0.call(.post, consents, .token, "{}") }
    private static let getConsents: World.Send = { try await $0.call(.get, consents, .token) }
    private static let readAttributes: World.Send = {
        try await $0.call(
            .post, Example.attributes, .token, Example.body(Example.ana, #""attributes":[{"type":"id","id":"cookie"}]"#)
        )
    }

    private static func fetch(_ ids: String) -> World.Send {
        { try await $0.call(.post, Example.inbox, .bearer, Example.body(ids)) }
    }

    private static let more = #"{"registered":"ana@example.test","email_id":"x"}"#
    private static let fetchWithKey: World.Send = {
        try await $0.call(.post, Example.inbox, .token, Example.body(Example.ana))
    }
    static let unknownProject: World.Send = {
        try await $0.call(.post, "/track/v2/projects/none/customers", .token, Example.body(Example.ana))
    }
    private static let staleToken: World.Send = {
        try await $0.control(
            .post, "state/bloomreach/delete-inbox-message", #"{"customer":"ana@example.test","message":"msg-html-1"}"#)
        return try await $0.call(.post, Example.inbox, .token, Example.body(Example.ana, #""sync_token":"v1.1.1.2""#))
    }
    static let expired: World.Send = {
        try await $0.call(.post, Example.inbox, .bearer(Example.jwtAnaOld), Example.body(Example.ana))
    }
    private static let unknownID: World.Send = {
        try await $0.call(.post, Example.customers, .token, Example.body(#"{"passport":"x"}"#))
    }
    static let mint: World.Send = {
        try await $0.call(
            .post, Example.mint, [], #"{"project_id":"demo-project-1","kid":"privkey-demo-1","sub":{"registered":"a"}}"#
        )
    }
    private static let unsignedEvent: World.Send = {
        try await $0.call(.post, Example.streamEvents, [], Example.body(Example.guest, #""event_type":"view""#))
    }

    static let origin: World.Fields = [("origin", "https://app.example.test")]
    private static let preflight: World.Send = { try await $0.call(.options, Example.events, origin) }

    /// Ana's token one second after it expired.
    private static let late: World.Send = {
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
        SwitchCase("customer-token-binding", "subset", failure: "customer-token-ids-mismatch", fetch(Example.ben)),
        SwitchCase("customer-token-binding", "off", fetch(Example.ben)),
        SwitchCase("app-inbox-auth", "any", fetchWithKey),
        SwitchCase("app-inbox-auth", "advanced", failure: "customer-token-required", fetchWithKey),
        SwitchCase("app-inbox-auth", "advanced", fetch(Example.ana)),
        SwitchCase("unknown-project-status", "400", failure: "unknown-project", shows: "400\n", unknownProject),
        SwitchCase("unknown-project-status", "404", failure: "unknown-project", shows: "404\n", unknownProject),
        SwitchCase("sync-token-check", "gone", failure: "sync-token-stale", staleToken),
        SwitchCase("sync-token-check", "full-resync", staleToken),
        SwitchCase("token-expired-flag", "on", failure: "customer-token-expired", shows: Example.expired, expired),
        SwitchCase("token-expired-flag", "off", failure: "customer-token-expired", shows: #"is expired"}"#, expired),
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
