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
        vendor.wrongAccounts = BloomreachLife.wrongAccounts
        vendor.wrongStates = BloomreachLife.wrongStates
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
        [
            ("customer-token-malformed", "customer-token-malformed"),
            ("customer-token-wrong-algorithm", "customer-token-wrong-algorithm"),
            ("customer-token-unknown-key", "customer-token-unknown-key"),
            ("customer-token-bad-signature", "customer-token-bad-signature"),
            ("customer-token-missing-expiry", "customer-token-missing-expiry"),
            ("customer-token-expired", "customer-token-expired"),
            ("customer-token-not-yet-valid", "customer-token-not-yet-valid"),
            ("customer-token-bad-subject", "customer-token-bad-subject"),
            ("secret-base64-decoded", "customer-token-bad-signature"),
        ] + general("customer-token", subject: "sub", badSubject: "customer-token-bad-subject")

    private static let streamDefects: [(String, String?)] =
        [
            ("stream-token-malformed", "stream-token-malformed"),
            ("stream-token-wrong-algorithm", "stream-token-wrong-algorithm"),
            ("stream-token-unknown-key", "stream-token-unknown-key"),
            ("stream-token-bad-signature", "stream-token-bad-signature"),
            ("stream-token-missing-expiry", "stream-token-missing-expiry"),
            ("stream-token-expired", "stream-token-expired"),
            ("stream-token-not-yet-valid", "stream-token-not-yet-valid"),
            ("stream-token-empty-ids", "stream-token-empty-ids"),
            ("stream-token-wrong-stream", "stream-token-wrong-stream"),
        ] + general("stream-token", subject: "ids", badSubject: "stream-token-empty-ids")

    /// The outcomes of the general defects; `nil` means that the request succeeds.
    private static func general(_ kind: String, subject: String, badSubject: String) -> [(String, String?)] {
        [
            ("expired", "\(kind)-expired"), ("not-yet-valid", "\(kind)-not-yet-valid"),
            ("missing-exp", "\(kind)-missing-expiry"), ("missing-\(subject)", badSubject),
            ("missing-kid", "\(kind)-unknown-key"), ("missing-typ", nil),
            ("missing-alg", "\(kind)-wrong-algorithm"), ("wrong-alg", "\(kind)-wrong-algorithm"),
            ("alg-none", "\(kind)-malformed"), ("wrong-secret", "\(kind)-bad-signature"),
            ("wrong-key", "\(kind)-bad-signature"),
            ("tampered-payload", "\(kind)-bad-signature"), ("bad-signature", "\(kind)-bad-signature"),
            ("truncated-signature", "\(kind)-bad-signature"), ("padded-base64", "\(kind)-malformed"),
            ("two-parts", "\(kind)-malformed"), ("four-parts", "\(kind)-malformed"), ("milliseconds", nil),
            ("string-exp", "\(kind)-missing-expiry"), ("fractional-exp", nil),
        ]
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
        for ids in [Content.anaIDs, Content.benIDs] {
            for application in ["default-application", "tv"] {
                texts.append(
                    try await world.call(
                        .post, Example.inbox, .token, #"{\#(ids),"application_id":"\#(application)"}"#
                    ).text)
            }
            texts.append(
                try await world.call(
                    .post, Example.attributes, .token,
                    #"{\#(ids),"attributes":[{"type":"consent","category":"newsletter"}]}"#
                ).text)
        }
        for letter in ["a", "b"] {
            texts.append(
                try await world.call(
                    .get, "\(Content.segments)?cookie=c0000000-0000-4000-8000-00000000000\(letter)", .token
                ).text)
        }
        texts.append(try await world.fetchInbox(#""sync_token":"v1.1.1.2""#).text)
        #expect(texts.contains { $0.contains(#""id":"m""#) })
        #expect(texts.contains("{}"), "Ana has no segments any more")
        expect(texts.last, is: Content.staleToken)
        return texts
    }

    private static func customers(_ list: String) -> String {
        #"{"projects":[{"token":"demo-project-1","customers":[\#(list)]}]}"#
    }

    static let wrongStates = [
        WrongState("{}", complaint: "member “projects” is missing"),
        WrongState(#"{"projects":[{"token":"none","customers":[]}]}"#, complaint: "no project has the token none"),
        WrongState(
            #"{"projects":[{"token":"demo-project-1","customers":[]},{"token":"demo-project-1","customers":[]}]}"#,
            complaint: "occurs twice"),
        WrongState(#"{"projects":[{"token":"demo-project-1"}]}"#, complaint: "member “customers” is missing"),
        WrongState(customers("{}"), complaint: "needs a hard id or a cookie"),
        WrongState(customers(#"{"cookies":["a"]},{"cookies":["a"]}"#), complaint: "another customer has the cookie a"),
        WrongState(
            customers(#"{"number":1,"cookies":["a"]},{"number":1,"cookies":["b"]}"#), complaint: "has the number 1"),
        WrongState(customers(#"{"number":-1,"cookies":["a"]}"#), complaint: "is not between 0 and"),
        WrongState(customers(#"{"ids":{"registered":""}}"#), complaint: "an id is a string that is not empty"),
        WrongState(customers(#"{"cookies":["a"],"properties":[]}"#), complaint: "expected a mapping"),
        WrongState(
            customers(#"{"cookies":["a"],"events":[{"type":"x"}]}"#), complaint: "member “timestamp” is missing"),
        WrongState(customers(#"{"cookies":["a"],"event":[]}"#), complaint: "did you mean “events”?"),
        WrongState(
            #"{"projects":[{"token":"demo-project-1","customers":[],"last_number":9223372036854775807}]}"#,
            complaint: "projects[0].last_number: 9223372036854775807 is not between 0 and 4503599627370496"),
    ]

    static let wrongAccounts = [
        WrongAccounts(
            "token: \"demo-project-2\"", to: "token: \"demo project\"",
            complaint: "is not made of letters, digits and -"),
        WrongAccounts(
            "token: \"demo-project-2\"", to: "token: \"demo-project-1\"",
            complaint: "another project has the token demo-project-1"),
        WrongAccounts(
            "id: \"demo-stream-2\"", to: "id: \"demo-stream-1\"",
            complaint: "another stream or project has the id demo-stream-1"),
        WrongAccounts(
            "id: \"demo-stream-2\"", to: "id: \"demo-project-1\"",
            complaint: "another stream or project has the id demo-project-1"),
        WrongAccounts("id: \"demo-stream-2\"", to: "id: \"\"", complaint: "the stream id “” is not made of"),
        WrongAccounts(
            "project: \"demo-project-2\"", to: "project: \"demo-projekt-2\"",
            complaint: "did you mean “demo-project-2”?"),
        WrongAccounts(
            "[\"customers\", \"events\"", to: "[\"customer\", \"events\"",
            complaint: "“customer” is not one of customers, events"),
        WrongAccounts("secret: \"demo-secret-not-real-1\"", to: "secret: \"\"", complaint: "the secret cannot be used"),
        WrongAccounts(
            "registered: \"ben@example.test\"", to: "registered: \"ana@example.test\"",
            complaint: "another customer has the registered"),
        WrongAccounts(
            "internal_audit: deny", to: "internal_audit: denied",
            complaint: "“denied” is not one of allow, signed-only, deny"),
        WrongAccounts("event_types:", to: "event_type:", complaint: "did you mean “event_types”?"),
        WrongAccounts("[\"demo-stream-key-not-real-1\"]", to: "[\"\"]", complaint: "a secret key is empty"),
        WrongAccounts("denied_events", to: "denied_event", complaint: "did you mean “denied_events”?"),
        WrongAccounts(
            "first_name: \"Ana\" }", to: "first_name: \"Ana\" }\n        event: []", complaint: "did you mean “events”?"
        ),
    ]
}
