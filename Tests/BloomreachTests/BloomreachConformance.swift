import Expectations
import JSON
package import Support
import Testing

@testable import Bloomreach

extension VendorConformance {
    package static let bloomreach = {
        var vendor = VendorConformance(
            id: "bloomreach",
            life: SandboxLife(secrets: [Example.secret, Example.streamSecret, Example.streamKey]) { world in
                try await BloomreachLife.live(world)
                return SandboxLife.Past(seen: BloomreachLife.seen) {
                    let later = Example.body(#"{"registered":"later@example.test"}"#)
                    try await $0.call(.post, Example.customers, .token, later).expect(200)
                }
            })
        vendor.contentType = "application/json"
        vendor.routes = RouteCase.all
        vendor.serverFaults = ["unknown-engine"]
        vendor.refusal = VendorConformance.refusal(of:)
        vendor.switches = SwitchCase.all
        vendor.plays = ScenarioPlay.all
        vendor.actions = [
            "identify-customer customer! project properties",
            "track-event customer! project event_type! properties timestamp",
            "delete-customer customer! project",
            "anonymize-customer customer! project",
            "read-customer customer! project",
            "expect-event customer project event_type properties timestamp at_least at_most exactly",
            "add-inbox-message customer! project message!",
            "delete-inbox-message customer! project message!",
            "expire-inbox-message customer! project message!",
            "read-inbox-message customer! project message!",
            "clear-inbox customer! project",
            "set-segments customer! project segments!",
            "set-consent customer! project category! value!",
        ]
        vendor.profiles = [
            "consents-method post-and-get get-only", "attributes-access public public",
            "customer-token-binding exact exact", "app-inbox-auth any any", "unknown-project-status 400 404",
            "sync-token-check gone gone", "token-expired-flag on on", "unknown-ids accept accept",
            "mint-endpoint on on", "clock-leeway-seconds 0 0", "require-jwt app-inbox app-inbox",
            "cors off off",
        ]
        vendor.tokens = [TokenCase.customerToken, .streamToken]
        vendor.wrongAccounts = BloomreachLife.wrongAccounts.map { WrongAccounts($0, to: $1, complaint: $2) }
        vendor.wrongStates = BloomreachLife.wrongStates.map { WrongState($0, complaint: $1) }
        vendor.bounds = [
            BoundCase("clicks", most: 1000, beyond: .evicts(leaving: 1000)) { world, number in
                try await world.call(.post, Example.clicks, .token, #"{"url":"u-\#(number)"}"#)
            } count: { world in
                let clicks =
                    try await world.control(.get, "state/bloomreach").json["projects"]?[0]?["clicks"]?.array ?? []
                return clicks.count
            }
        ]
        vendor.inspect = { answer in
            expect(answer["x-request-id"]?.count, is: 36)
            if answer.failure != nil {
                let isText = [Example.unreadable, "Internal Server Error", "Service Unavailable"].contains(answer.text)
                expect(answer["content-type"], is: (isText ? "text/plain; charset=utf-8" : "application/json"))
            }
        }
        return vendor
    }()

    /// On a stream, only the app inbox and recommendations need a token.
    @Sendable private static func refusal(of route: RouteCase) -> String? {
        if ["blocks.static", "mint.customer-token"].contains(route.route) { return nil }
        guard route.target.contains("stream") else { return "missing-authorization" }
        return route.route.hasPrefix("appinbox") || route.route == "recommend.user" ? "stream-token-missing" : nil
    }
}

extension TokenCase {
    fileprivate static let customerToken = TokenCase(
        "customer-token", defects: customerDefects, refused: ["public-key-as-secret", "secret-hex-decoded"],
        words: words(of: "customer-token")
    ) { world, order in
        let token = try await world.mint("bloomreach/customer-token", order)
        return try await world.call(.post, Example.inbox, .bearer(token), Example.body(Example.ana))
    }

    fileprivate static let streamToken = TokenCase(
        "stream-token", defects: streamDefects,
        refused: ["public-key-as-secret", "secret-hex-decoded", "secret-base64-decoded"],
        words: words(of: "stream-token")
    ) { world, order in
        let token = try await world.mint("bloomreach/stream-token", order)
        return try await world.call(.post, Example.streamInbox, .bearer(token), Example.body(Example.ana))
    }

    private static func words(of kind: String) -> [String: String] {
        let words = [
            "wrong-algorithm": "algorithm", "missing-expiry": "exp", "expired": "expiry", "not-yet-valid": "not-before",
            "bad-subject": "sub", "empty-ids": "ids", "wrong-stream": "stream-scope", "unknown-key": "kid",
            "malformed": "part",
        ]
        return Dictionary(uniqueKeysWithValues: words.map { ("\(kind)-\($0.key)", $0.value) })
    }

    private static let customerDefects: [(String, String?)] =
        own(
            "customer-token", "malformed", "wrong-algorithm", "unknown-key", "bad-signature", "missing-expiry",
            "expired", "not-yet-valid", "bad-subject")
        + [("secret-base64-decoded", "customer-token-bad-signature")]
        + general("customer-token", subject: "sub", badSubject: "customer-token-bad-subject")

    private static let streamDefects: [(String, String?)] =
        own(
            "stream-token", "malformed", "wrong-algorithm", "unknown-key", "bad-signature", "missing-expiry",
            "expired", "not-yet-valid", "empty-ids", "wrong-stream")
        + general("stream-token", subject: "ids", badSubject: "stream-token-empty-ids")

    /// The defects of a kind that are named after their failures.
    private static func own(_ kind: String, _ names: String...) -> [(String, String?)] {
        names.map { ("\(kind)-\($0)", "\(kind)-\($0)") }
    }

    /// The outcomes of the general defects; `nil` means that the request succeeds.
    private static func general(_ kind: String, subject: String, badSubject: String) -> [(String, String?)] {
        defects(
            form: "\(kind)-malformed", algorithm: "\(kind)-wrong-algorithm", signature: "\(kind)-bad-signature",
            expired: "\(kind)-expired", early: "\(kind)-not-yet-valid", number: "\(kind)-missing-expiry",
            and: [
                "missing-\(subject)": badSubject, "missing-kid": "\(kind)-unknown-key", "missing-typ": nil,
                "alg-none": "\(kind)-malformed",
            ])
    }
}

enum BloomreachLife {
    private typealias Content = ContentExample

    static func live(_ world: World) async throws {
        func post(_ path: String, _ body: String, _ fields: World.Fields = .token) async throws {
            try await world.call(.post, path, fields, body).expect(200)
        }
        let view = #""event_type":"view","properties":{"n":1.50,"deep":{"a":[null,"\u00e9"]}}"#
        try await post(Example.events, Example.body(Example.guest, view))
        try await post(Example.events, Example.body(Example.ana, #""event_type":"purchase","timestamp":1.25"#))
        let merged = #"{"registered":"ana@example.test","cookie":"\#(Example.cookieGuest)"}"#
        try await post(Example.customers, Example.body(merged, #""properties":{"a":null}"#))
        let new = Example.body(#"{"registered":"new@example.test"}"#)
        try await post(Example.customers, new)
        try await post(Example.clicks, #"{"url":"https://a.example.test"}"#)
        try await post(Example.selfCheck, Example.body(Example.ana, #""platform":"ios","push_notification_id":"t""#))
        try await post(Example.data + "/anonymize", new, .basic)
        try await post(
            Example.markAsRead,
            Example.body(Example.ana, #""message_ids":["msg-push-1"],"sync_token":"v1.1.1.2""#))
        try await fillInboxes(world)
    }

    static func seen(_ world: World) async throws -> [String] {
        try await [
            try await world.call(.post, Example.data + "/export", .basic, "{}").text,
            try await world.call(.post, Example.data + "/export-one", .basic, Example.body(Example.ana)).text,
            try await world.call(.post, Example.inbox, .token, Example.body(Example.ana)).text,
            try await world.call(.post, Example.inbox, .token, Example.body(Example.ben)).text,
        ] + content(world)
    }

    static func fillInboxes(_ world: World) async throws {
        let orders = [
            ("read-inbox-message", #"{"customer":"ana@example.test","message":"msg-push-1"}"#),
            ("delete-inbox-message", #"{"customer":"ana@example.test","message":"msg-html-1"}"#),
            (
                "add-inbox-message",
                #"{"customer":"ben@example.test","message":{"id":"m","type":"push","application_id":"tv","content":{"a":1}}}"#
            ),
            ("set-segments", #"{"customer":"ana@example.test","segments":{}}"#),
            ("set-segments", #"{"customer":"ben@example.test","segments":{"content":[{"id":"s"}]}}"#),
            ("set-consent", #"{"customer":"ben@example.test","category":"newsletter","value":true}"#),
        ]
        for (action, order) in orders {
            let answer = try await world.act(action, order)
            expect(answer.status, is: 200, "\(answer.text)")
        }
    }

    private static func content(_ world: World) async throws -> [String] {
        var texts: [String] = []
        for ids in [Example.ana, Example.ben] {
            for application in ["default-application", "tv"] {
                let body = Example.body(ids, #""application_id":"\#(application)""#)
                texts.append(try await world.call(.post, Example.inbox, .token, body).text)
            }
            texts.append(try await world.attributes(#"{"type":"consent","category":"newsletter"}"#, of: ids).text)
        }
        for cookie in [Example.cookieAna, Example.cookieBen] {
            texts.append(try await world.call(.get, "\(Content.segments)?cookie=\(cookie)", .token).text)
        }
        texts.append(try await world.fetchInbox(#""sync_token":"v1.1.1.2""#).text)
        #expect(texts.contains { $0.contains(#""id":"m""#) })
        #expect(texts.contains("{}"), "Ana has no segments any more")
        expect(texts.last, is: Content.staleToken)
        return texts
    }

    private static func customers(_ list: String) -> String {
        #"{"projects":[\#(project(#""customers":[\#(list)]"#))]}"#
    }

    private static func project(_ members: String) -> String { #"{"token":"demo-project-1",\#(members)}"# }

    static let wrongStates: [(state: String, complaint: String)] = [
        ("{}", "member “projects” is missing"),
        (#"{"projects":[{"token":"none","customers":[]}]}"#, "no project has the token none"),
        (#"{"projects":[\#(project(#""customers":[]"#)),\#(project(#""customers":[]"#))]}"#, "occurs twice"),
        (#"{"projects":[{"token":"demo-project-1"}]}"#, "member “customers” is missing"),
        (customers("{}"), "needs a hard id or a cookie"),
        (customers(#"{"cookies":["a"]},{"cookies":["a"]}"#), "another customer has the cookie a"),
        (customers(#"{"number":1,"cookies":["a"]},{"number":1,"cookies":["b"]}"#), "has the number 1"),
        (customers(#"{"number":-1,"cookies":["a"]}"#), "is not between 0 and"),
        (customers(#"{"ids":{"registered":""}}"#), "an id is a string that is not empty"),
        (customers(#"{"cookies":["a"],"properties":[]}"#), "expected a mapping"),
        (customers(#"{"cookies":["a"],"events":[{"type":"x"}]}"#), "member “timestamp” is missing"),
        (customers(#"{"cookies":["a"],"event":[]}"#), "did you mean “events”?"),
        (
            #"{"projects":[\#(project(#""customers":[],"last_number":9223372036854775807"#))]}"#,
            "projects[0].last_number: 9223372036854775807 is not between 0 and 4503599627370496"
        ),
    ]

    static let wrongAccounts: [(old: String, new: String, complaint: String)] = [
        (#"token: "demo-project-2""#, #"token: "demo project""#, "is not made of letters, digits and -"),
        (#"token: "demo-project-2""#, #"token: "demo-project-1""#, "another project has the token demo-project-1"),
        (#"id: "demo-stream-2""#, #"id: "demo-stream-1""#, "another stream or project has the id demo-stream-1"),
        (#"id: "demo-stream-2""#, #"id: "demo-project-1""#, "another stream or project has the id demo-project-1"),
        (#"id: "demo-stream-2""#, #"id: """#, "the stream id “” is not made of"),
        (#"project: "demo-project-2""#, #"project: "demo-projekt-2""#, "did you mean “demo-project-2”?"),
        (#"["customers", "events""#, #"["customer", "events""#, "“customer” is not one of customers, events"),
        (#"secret: "demo-secret-not-real-1""#, #"secret: """#, "the secret cannot be used"),
        (#""ben@example.test""#, #""ana@example.test""#, "another customer has the registered"),
        ("internal_audit: deny", "internal_audit: denied", "“denied” is not one of allow, signed-only, deny"),
        ("event_types:", "event_type:", "did you mean “event_types”?"),
        (#"["demo-stream-key-not-real-1"]"#, #"[""]"#, "a secret key is empty"),
        ("denied_events", "denied_event", "did you mean “denied_events”?"),
        (#"first_name: "Ana" }"#, "first_name: \"Ana\" }\n        event: []", "did you mean “events”?"),
    ]
}
