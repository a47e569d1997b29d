import Emulation
import Expectations
import JSON
import Support
import Testing
import Understudy

/// If several things are wrong with a request, the answer covers the first in the vendor's order (section 2.6 of the
/// vendor's spec); the journal lists the others.
@Suite("Bloomreach's order of checks") struct CheckOrderTests {
    @Test("the first fault in the vendor's order answers", arguments: cases)
    func order(_ failure: String, _ path: String, _ fields: World.Fields, _ body: String) async throws {
        expect(try await World().call(.post, path, fields, body).failure, is: failure)
    }

    private static let gzip: World.Fields = [("content-encoding", "gzip")]
    private static let badProject = "/track/v2/projects/a_b/customers/events"
    private static let denied = Example.body(Example.ana, #""event_type":"internal_audit""#)
    private static let foreign = #"{"cookie":"x","registered":"ben@example.test"}"#

    /// The failure that answers requests with several faults; the others come after it.
    private static let cases: [(String, String, World.Fields, String)] = [
        ("compressed-body", badProject, gzip, "{"),
        ("invalid-project-id", badProject, [], "{"),
        ("unknown-project", "/track/v2/projects/none/customers", .authorization("Token x"), "{"),
        ("missing-authorization", Example.events, [], "{"),
        ("malformed-authorization", Example.events, .authorization("Token"), "{"),
        ("credential-not-accepted", Example.events, .bearer("x.y"), "{"),
        ("unknown-key", Example.events, .authorization("Token x"), "{"),
        ("customer-token-malformed", Example.inbox, .bearer("x.y"), "{"),
        ("customer-token-expired", Example.inbox, .bearer(Example.jwtAnaOld), "{"),
        ("no-permission", Example.inbox, .limited, "{"),
        ("bad-request-body", Example.events, .limited, "{"),
        ("no-customer-ids", Example.events, .limited, #"{"timestamp":"x"}"#),
        ("missing-event-type", Example.streamEvents, .streamBearer, Example.body(foreign)),
        ("no-permission", Example.events, .limited, denied),
        ("customer-token-ids-mismatch", Example.inbox, .bearer, Example.body(foreign, #""sync_token":"abc""#)),
        ("sync-token-unknown", Example.inbox, .bearer, Example.body(Example.ana, #""sync_token":"abc""#)),
    ]

    @Test("an armed failure answers before every other check but route and method") func armed() async throws {
        let world = try await World()
        try await world.arm("rate-limited", at: "track.events")
        try await world.call(.post, Self.badProject, Self.gzip, "{").expect(
            429, Example.error("Too many requests"), "rate-limited")
        try await world.arm("rate-limited", at: "track.events")
        let answer = try await world.call(.get, Example.events)
        expect(answer.failure, is: "method-not-allowed")
    }

    @Test("the journal tells every check that was made, not only the one that answered") func journal() async throws {
        let world = try await World()
        let token = try await world.mint(
            "bloomreach/customer-token", ["defect": "expired", "customer": "ben@example.test"])
        let answer = try await world.call(.post, Example.inbox, .bearer(token), Example.body(Example.ana))
        answer.expect(401, Example.expired, "customer-token-expired")
        for check in ["project-id", "project-known", "credential-form", "credential-kind", "key-known", "signature"] {
            expect(answer.outcome(of: check), is: .passed, "\(check)")
        }
        expect(answer.outcome(of: "expiry"), is: .failed)
        expect(answer.outcome(of: "claim-sub-ids"), is: .passed)
        #expect(answer.findings.allSatisfy { $0.source != nil || $0.check == "size" || $0.outcome == .noted })
    }
}

/// The permission matrix (section 2.5 of the vendor's spec): the credentials each route accepts on paths of a project.
@Suite("Bloomreach's permission matrix") struct MatrixTests {
    /// The credentials that each route takes: a public key, a customer token, a private key, none.
    private static let rows: [(route: String, takes: String)] = [
        ("track.customers", "token basic"), ("track.events", "token basic"), ("track.clicks", "token basic"),
        ("track.batch", "token basic"), ("track.system-time", "token basic"), ("data.attributes", "token basic"),
        ("consents.list", "token basic"), ("inapp.messages", "token"), ("appinbox.fetch", "token bearer"),
        ("appinbox.markasread", "token bearer"), ("selfcheck.send", "token"), ("blocks.static", "token bearer none"),
        ("blocks.personal", "token bearer"), ("segments.list", "token bearer"), ("ids.link", "token bearer"),
        ("data.export-one", "basic"), ("data.events", "basic"), ("data.export", "basic"), ("data.anonymize", "basic"),
        ("mint.customer-token", "token bearer basic none"),
    ]

    @Test("each route takes what its row says", arguments: rows)
    func row(_ row: (route: String, takes: String)) async throws {
        for route in RouteCase.all where route.route == row.route && !route.target.contains("stream") {
            for (name, fields, failure) in [
                ("token", World.Fields.token, "credential-not-accepted"),
                ("bearer", .bearer, "credential-not-accepted"), ("basic", .basic, "credential-not-accepted"),
                ("none", [], "missing-authorization"),
            ] {
                let isTaken = row.takes.split(separator: " ").contains { $0 == name }
                let world = try await World()
                let answer = try await world.call(route.method, route.target, fields, route.body())
                expect(answer.failure, is: (isTaken ? nil : failure), "\(name) \(answer.text)")
                expect(answer.status, is: (isTaken ? 200 : 401), "\(name)")
            }
        }
    }

    @Test("no route of a project is without a row") func coverage() {
        let routes = Set(RouteCase.all.map(\.route)).subtracting(["recommend.user"])
        expect(Set(Self.rows.map(\.route)), is: routes)
    }

    @Test("with switch require-jwt, everything on a stream needs a token") func streams() async throws {
        for route in RouteCase.all where route.target.contains("stream") {
            let world = try await World()
            try await world.set("bloomreach.require-jwt", "all")
            let answer = try await world.call(route.method, route.target, [], route.body())
            expect(answer.failure, is: "stream-token-missing", "\(route)")
        }
    }

    @Test(
        "what is sent as Authorization and cannot be read",
        arguments: ["", "Token", "Bearer ", "Basic", "Basic !!!", "Basic bm9jb2xvbg==", "pubkey-demo-1"])
    func malformed(_ value: String) async throws {
        let world = try await World()
        let body = Example.body(Example.ana, #""event_type":"view""#)
        let answer = try await world.call(.post, Example.events, .authorization(value), body)
        answer.expect(401, Example.noAccessKey, "malformed-authorization")
    }

    @Test("a key in the wrong place is not repeated in the journal") func secretAsKey() async throws {
        let world = try await World()
        let answer = try await world.call(
            .post, Example.events, .authorization("Token " + Example.secret), Example.body(Example.ana))
        expect(answer.failure, is: "unknown-key")
        let entry = world.shown(answer.entry)
        #expect(!entry.contains(Example.secret))
    }
}

@Suite("Bloomreach's failures") struct FailureTests {
    private typealias Content = ContentExample
    typealias Shape = (path: String, body: String, answer: String, failure: String, fields: World.Fields)

    @Test("each family of calls has its own shape of error", arguments: tracking + data + others + content)
    func shape(_ path: String, _ body: String, _ told: String, _ failure: String, _ fields: World.Fields) async throws {
        try await World().call(.post, path, fields, body).expect(400, told, failure)
    }

    private static func ofAna(_ member: String) -> String { Example.body(Example.ana, member) }

    private static func track(_ path: String, _ body: String, _ told: String, _ failure: String = invalid) -> Shape {
        (path, body, Example.errors(told), failure, .token)
    }

    private static func ask(
        _ path: String, _ body: String, _ field: String, _ told: String, _ failure: String = invalid,
        by fields: World.Fields = .basic
    ) -> Shape { (path, body, Example.errors(field, told), failure, fields) }

    private static func other(
        _ path: String, _ body: String, _ told: String, _ failure: String = invalid, by fields: World.Fields = .token
    ) -> Shape { (path, body, Example.error(told), failure, fields) }

    private static let invalid = "invalid-field"
    private static let missing = "missing-field"
    private static let noIDs = "Must specify at least one customer ID"
    private static let linkIDs = "/webxp/projects/demo-project-1/cookies/c/link-ids"

    private static let tracking: [Shape] = [
        track(Example.customers, #"{"customer_ids":7}"#, "Field 'customer_ids' is invalid."),
        track(Example.customers, Example.body(#"{"registered":7}"#), "Field 'customer_ids' is invalid."),
        track(Example.customers, ofAna(#""properties":[]"#), "Field 'properties' is invalid."),
        track(Example.events, ofAna(#""event_type":7"#), "Field 'event_type' is invalid."),
        track(Example.events, ofAna(#""event_type":"""#), "Field 'event_type' is required.", "missing-event-type"),
        track(
            Example.events, ofAna(#""event_type":"\#(String(repeating: "x", count: 257))""#),
            "Field 'event_type' is invalid."),
        track(Example.clicks, ofAna(#""url":7"#), "Field 'url' is invalid."),
    ]

    private static let data: [Shape] = [
        ask(
            Example.attributes, Example.body(Example.ana), "attributes", "Field 'attributes' is required.", missing,
            by: .token),
        ask(Example.attributes, ofAna(#""attributes":[]"#), "attributes", "Field 'attributes' is invalid.", by: .token),
        ask(
            Example.attributes, #"{"attributes":[{"type":"id","id":"cookie"}]}"#, "customer_ids", noIDs,
            "no-customer-ids", by: .token),
        ask(Example.data + "/events", ofAna(#""event_types":[7]"#), "event_types", "Field 'event_types' is invalid."),
        ask(Example.data + "/export", #"{"format":"csv"}"#, "format", "Field 'format' is invalid."),
    ]

    private static let others: [Shape] = [
        other(Example.selfCheck, ofAna(#""push_notification_id":"t""#), "Field 'platform' is required.", missing),
        other(
            Example.selfCheck, ofAna(#""push_notification_id":"t","platform":"windows""#),
            "Field 'platform' is invalid."),
        other(Example.selfCheck, "{}", noIDs, "no-customer-ids"),
        other(linkIDs, #"{"external_ids":{"cookie":"x"}}"#, "Field 'external_ids' is invalid."),
        other(
            Example.mint,
            #"{"project_id":"demo-project-1","kid":"privkey-demo-1","sub":{"registered":"a"},"exp":"soon"}"#,
            "Field 'exp' is invalid.", by: []),
        other(Example.mint, "{}", "Invalid project id", "invalid-project-id", by: []),
        other(
            "/campaigns/send-self-check-notification", ofAna(#""platform":"ios","push_notification_id":"t""#),
            "Invalid project id", "invalid-project-id"),
        // Nowhere else does the query name a project.
        other(
            "/track/u/v1/customers/events?project_id=demo-project-1", ofAna(#""event_type":"view""#),
            "Invalid project id", "invalid-project-id"),
    ]

    private static let content: [Shape] = [
        other(Example.inbox, "{}", noIDs, "no-customer-ids"),
        other(Example.inbox, ofAna(#""application_id":1,"sync_token":1"#), "Field 'application_id' is invalid."),
        other(Example.inbox, ofAna(#""sync_token":1"#), "Field 'sync_token' is invalid."),
        other(Example.markAsRead, #"{"message_ids":["m"],"sync_token":"v1.1.1.2"}"#, noIDs, "no-customer-ids"),
        other(Example.markAsRead, #"{"customer_ids":3}"#, "Field 'customer_ids' is invalid."),
        other(Example.markAsRead, #"{"customer_ids":{"registered":1}}"#, "Field 'customer_ids' is invalid."),
        other(Example.markAsRead, ofAna(""), "Field 'message_ids' is required.", missing),
        other(Example.markAsRead, ofAna(#""message_ids":null"#), "Field 'message_ids' is required.", missing),
        other(Example.markAsRead, ofAna(#""message_ids":[]"#), "Field 'message_ids' is invalid."),
        other(Example.markAsRead, ofAna(#""message_ids":["m",1]"#), "Field 'message_ids' is invalid."),
        other(
            Example.markAsRead, ofAna(#""message_ids":[\#(String(repeating: "\"m\",", count: 200))"m"]"#),
            "Field 'message_ids' is invalid."),
        other(Example.markAsRead, ofAna(#""message_ids":["m"],"sync_token":1"#), "Field 'sync_token' is invalid."),
        other(Content.blocks, #"{"content_block_ids":["block-2"]}"#, noIDs, "no-customer-ids"),
        other(Content.blocks, ofAna(#""content_block_ids":{}"#), "Field 'content_block_ids' is invalid."),
        other(Content.blocks, ofAna(#""content_block_ids":[null]"#), "Field 'content_block_ids' is invalid."),
        other(
            Content.blocks, ofAna(#""content_block_ids":[\#(String(repeating: "\"a\",", count: 500))"a"]"#),
            "Field 'content_block_ids' is invalid."),
        other(Content.messages, "{}", noIDs, "no-customer-ids"),
        other(Content.messages, ofAna(#""device":1"#), "Field 'device' is invalid."),
        recommend(#""engine_id":null"#, "Field 'engine_id' is required.", missing),
        recommend(#""engine_id":1"#, "Field 'engine_id' is invalid."),
        recommend(#"\#(engine),"fill_with_random":1,"size":"x""#, "Field 'fill_with_random' is invalid."),
        recommend(#"\#(engine),"size":-1"#, "Field 'size' is invalid."),
        recommend(#"\#(engine),"size":1.5"#, "Field 'size' is invalid."),
        recommend(#"\#(engine),"items":[]"#, "Field 'items' is invalid."),
        recommend(#"\#(engine),"no_track":"yes""#, "Field 'no_track' is invalid."),
        recommend(
            #"\#(engine),"catalog_attributes_whitelist":"name""#, "Field 'catalog_attributes_whitelist' is invalid."),
    ]

    private static let engine = #""engine_id":"bestsellers""#

    private static func recommend(_ members: String, _ told: String, _ failure: String = invalid) -> Shape {
        other(Content.recommendations, ofAna(members), told, failure, by: .streamBearer)
    }

    @Test(
        "what a key lacks is told in the shape of the call",
        arguments: [
            (Example.customers, Example.errors("not authorized to update specified customer properties"), "customers"),
            (Example.events, Example.errors("not authorized to track specified event"), "events"),
            (Example.clicks, Example.errors("not authorized to track specified event"), "campaigns"),
            (Example.attributes, Example.error("No permission"), "attributes"),
            (Example.selfCheck, Example.error("No permission"), "selfcheck"),
            (linkIDs, Example.error("No permission"), "segments"),
            (Example.inbox, Example.error("No permission"), "appinbox"),
        ])
    func permission(_ path: String, _ body: String, _ permission: String) async throws {
        let world = try await World.under(accounts: [
            (#"- key: "pubkey-demo-1""#, "- key: \"pubkey-demo-1\"\n        permissions: []")
        ])
        let answer = try await world.call(.post, path, .token, Example.body(Example.ana))
        answer.expect(403, body, "no-permission")
        expect(answer.findings.first { $0.check == "permission" }?.expected, is: .text(permission))
    }
}
