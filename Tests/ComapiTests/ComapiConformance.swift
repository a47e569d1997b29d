import Expectations
import JSON
package import Support
import Testing

@testable import Comapi

extension VendorConformance {
    package static let comapi = {
        var vendor = VendorConformance(
            id: "comapi",
            // A session token is signed with a key of its sandbox.
            life: SandboxLife(secrets: ["understudy-test", "authenticationToken", "eyJ"], portability: .records) {
                world in
                let mira = try await ComapiLife.live(world)
                return SandboxLife.Past(seen: { try await ComapiLife.seen($0, as: mira) }) {
                    try await $0.call(.delete, Example.path("/conversations/trip-42"), mira.fields).expect(204)
                }
            })
        vendor.moment = Example.moment
        vendor.routes = RouteCase.all
        vendor.refusal = { route in
            if route.route == "socket.open" { return "upgrade-required" }
            return openRoutes.contains(route.route) ? nil : "session-missing"
        }
        vendor.switches = SwitchCase.all
        vendor.plays = ScenarioPlay.all
        vendor.actions = [
            "end-session session! space",
            "expire-session session! space",
            "forget-session session! space",
            "drop-sockets session! space",
            "answer-challenge challenge!",
            "send-message conversation! profile! text space",
            "mark-message conversation! profile! message status space",
        ]
        vendor.profiles = [
            "accepts-millisecond-times on off", "requires-time-claims off on", "session-lifetime 3600 600",
            "challenge-lifetime 900 900", "clock-leeway 60 60", "single-use-challenges on on",
            "accepts-audience-array on on", "adopts-earlier-sessions on on", "profile-write-status 200 200",
            "emits-conversation-create on off", "accepts-encoded-query on on", "accepts-participant-ids-in-body on on",
            "echoes-frames on on",
        ]
        vendor.tokens = [TokenCase.app, .session]
        vendor.resetMarks = ["adopts_earlier_sessions", "mint_mark"]
        vendor.wrongAccounts = ComapiLife.wrongAccounts
        vendor.samples = [Example.a]
        vendor.wrongStates = ComapiLife.wrongStates
        vendor.inspect = VendorConformance.inspect(comapi:)
        return vendor
    }()

    private static let openRoutes: Set = ["session.start", "session.create", "content.read", "push.click", "preflight"]

    /// Checks what browsers need in each answer, and the ETags of mutable resources.
    @Sendable private static func inspect(comapi answer: ReceivedAnswer) {
        expect(answer["access-control-allow-origin"], is: "*")
        if answer.failure != nil {
            expect(answer["access-control-expose-headers"], is: "ETag")
            expect(answer["content-type"], is: "application/json; charset=utf-8")
            expect(answer["cache-control"], is: "no-store")
            expect(answer["www-authenticate"], is: (answer.status == 401 ? "Bearer" : nil))
            return
        }
        let tagged = [
            "profile.read", "profile.replace", "profile.patch", "conversation.create", "conversation.read",
            "conversation.update",
        ]
        expect((answer["etag"] != nil), is: tagged.contains(answer.entry?.record.route ?? ""))
    }
}

extension TokenCase {
    fileprivate static let app = TokenCase(
        "app",
        defects: defects(
            form: "malformed-token", algorithm: "wrong-algorithm", signature: "bad-signature",
            expired: "expired-token", early: "not-yet-valid", number: "malformed-time",
            and: [
                "missing-sub": "missing-user-id", "missing-nonce": "missing-nonce", "missing-iss": "missing-issuer",
                "missing-aud": "missing-audience", "missing-exp": nil, "missing-iat": nil, "missing-typ": nil,
                "secret-base64-text": "secret-base64-text", "secret-trimmed": "secret-trimmed",
                "secret-of-another-space": "secret-of-another-space",
                "unsupported-critical-header": "unsupported-critical-header", "nonce-mismatch": "nonce-mismatch",
                "nonce-reused": "nonce-reused", "wrong-issuer": "wrong-issuer", "wrong-audience": "wrong-audience",
                "missing-user-id": "missing-user-id", "malformed-time": "malformed-time", "milliseconds-exp": nil,
                "milliseconds-iat": nil,
            ]),
        // The secrets of other spaces can reveal some of these.
        refused: ["public-key-as-secret", "secret-latin-1", "secret-hex-decoded", "secret-base64-decoded"],
        words: [
            "unsupported-critical-header": "critical", "nonce-mismatch": "nonce", "nonce-reused": "answered before",
            "wrong-issuer": "issuer", "wrong-audience": "audience", "missing-user-id": "sub", "malformed-time": "exp",
        ]
    ) { world, order in
        // An already answered challenge, for the defect that needs one.
        _ = try await world.session("bob")
        let challenge = try await world.challenge()
        var order = order
        order["authenticationId"] = .string(challenge.id)
        return try await world.answer(challenge, try await world.mint("comapi/app", order))
    }

    fileprivate static let session = TokenCase(
        "session",
        defects: [
            ("expired", "session-expired"), ("missing-sub", "session-forged"),
            ("missing-jti", "session-forged"), ("missing-boot", "session-forged"), ("missing-exp", "session-forged"),
            ("missing-apiSpaceId", "session-forged"), ("missing-alg", "session-forged"),
            ("wrong-alg", "session-forged"), ("alg-none", "session-forged"), ("wrong-secret", "session-forged"),
            ("wrong-key", "session-forged"), ("tampered-payload", "session-forged"),
            ("bad-signature", "session-forged"),
            ("truncated-signature", "session-forged"), ("padded-base64", "session-malformed"),
            ("two-parts", "session-malformed"), ("four-parts", "session-malformed"), ("milliseconds", nil),
            ("string-exp", "session-forged"), ("fractional-exp", nil), ("session-other-space", "session-other-space"),
            ("session-unknown", "session-unknown"), ("session-ended", "session-ended"),
        ],
        // Session keys are bytes, not text that could be decoded; `nbf` and `typ` are not checked.
        refused: [
            "public-key-as-secret", "secret-hex-decoded", "secret-base64-decoded", "not-yet-valid", "missing-typ",
        ],
        words: [
            "session-other-space": "another API space", "session-unknown": "unknown-session",
            "session-ended": "was ended",
        ]
    ) { world, order in
        // A session that has ended, for the defect that needs one.
        let ended = try await world.session("bob")
        try await world.call(.delete, Example.path("/sessions/\(ended.id)"), ended.fields).expect(204)
        let token = try await world.mint("comapi/session", order)
        return try await world.call(.get, Example.path("/profiles/mira"), [("authorization", "Bearer \(token)")])
    }
}

enum ComapiLife {
    static func live(_ world: World) async throws -> Session {
        let (mira, bob) = try await world.trip()
        let path = Example.path("/conversations/trip-42")
        try await world.call(.put, path, mira.fields, #"{"name":"Trip","roles":{"participant":{"canSend":false}}}"#)
            .expect(200)
        try await world.call(
            .put, Example.path("/sessions/\(bob.id)/push"), bob.fields,
            #"{"apns":{"bundleId":"b","environment":"production","token":"t"}}"#
        ).expect(200)
        let sent = try await world.call(
            .post, path + "/messages", mira.fields, #"{"parts":[{"data":"Hi"}],"alert":{"title":"T"}}"#)
        let id = try #require(sent.json["id"]?.string)
        try await world.call(
            .post, path + "/messages/statusupdates", bob.fields, #"[{"messageIds":["\#(id)"],"status":"read"}]"#
        ).expect(200)
        try await world.call(.patch, Example.path("/profiles/mira"), mira.fields, #"{"shoeSize":38,"email":"m@x"}"#)
            .expect(200)
        try await world.call(.post, Example.path("/content"), mira.fields, "bytes").expect(200)
        try await world.call(.post, Example.path("/conversations"), bob.fields, #"{"id":"gone"}"#).expect(201)
        try await world.call(.delete, Example.path("/conversations/gone"), bob.fields).expect(204)
        try await world.call(.delete, Example.path("/sessions/\(bob.id)"), bob.fields).expect(204)
        _ = try await world.challenge()
        _ = try await world.session("other", in: Example.c)
        return mira
    }

    static func seen(_ world: World, as mira: Session) async throws -> [String] {
        var texts: [String] = []
        for path in [
            "/profiles", "/conversations", "/conversations/trip-42", "/conversations/trip-42/participants",
            "/conversations/trip-42/messages", "/conversations/trip-42/events", "/sessions/\(mira.id)",
        ] {
            let answer = try await world.call(.get, Example.path(path), mira.fields)
            answer.expect(200)
            texts.append(answer.text)
        }
        return texts
    }

    static let wrongStates = [
        WrongState(#"{"spaces":[{"id":"x"},{"id":"x"}]}"#, complaint: "another space"),
        WrongState(#"{"spces":[]}"#, complaint: "did you mean “spaces”?"),
        WrongState(
            #"{"spaces":[{"id":"x","profiles":[{"id":"a","created":"soon"}]}]}"#,
            complaint: "spaces[0].profiles[0].created"),
        WrongState(
            #"{"spaces":[{"id":"x","profiles":[{"id":"a","created":1,"members":{"_x":1}}]}]}"#,
            complaint: "the server's own"),
        WrongState(
            #"{"spaces":[{"id":"x","profiles":[{"id":"a","created":1},{"id":"a","created":1}]}]}"#,
            complaint: "another profile"),
        WrongState(
            #"{"spaces":[{"id":"x","conversations":[{"id":"c","creator":"a","created":1,"events":[{"id":1,"event":"e","actor":"a","at":1,"message":"m","kind":"sent"}]}]}]}"#,
            complaint: "has parts"),
        WrongState(
            #"{"spaces":[{"id":"x","conversations":[{"id":"c","creator":"a","created":1,"events":[{"id":1,"event":"e","actor":"a","at":1,"message":"m","kind":"seen"}]}]}]}"#,
            complaint: "not one of sent, delivered, read"),
        WrongState(
            #"{"spaces":[{"id":"x","conversations":[{"id":"c","creator":"a","created":1,"last_event":-1}]}]}"#,
            complaint: "last_event"),
        WrongState(
            #"{"contents":[{"id":"c","space":"x","name":"n","type":"t","data":"*"}]}"#, complaint: "is not base64"),
        WrongState(
            #"{"sessions":[{"id":"s","space":"x","profile":"p","started":1,"expires":2,"registration":{}}]}"#,
            complaint: "push has 0 of fcm and apns; expected exactly one, an object"),
        WrongState(
            #"{"sessions":[{"id":"s","space":"x","profile":"p","started":1,"expires":2},{"id":"s","space":"x","profile":"q","started":1,"expires":2}]}"#,
            complaint: "sessions[1]: session s occurs twice"),
        WrongState(
            #"{"spaces":[{"id":"s","profiles":[{"id":"p","created":1,"revision":9223372036854775807}]}]}"#,
            complaint: "spaces[0].profiles[0].revision: 9223372036854775807 is not between 1 and 4503599627370496"),
        WrongState(
            #"{"spaces":[{"id":"s","conversations":[{"id":"c","creator":"p","created":1,"revision":9223372036854775807}]}]}"#,
            complaint: "spaces[0].conversations[0].revision: 9223372036854775807 is not between 1 and 4503599627370496"),
        WrongState(
            #"{"spaces":[{"id":"s","conversations":[{"id":"c","creator":"p","created":1,"events":[{"id":9223372036854775807,"event":"e","actor":"p","at":1,"message":"m","kind":"read","on":1},{"id":1,"event":"f","actor":"p","at":1,"message":"m","kind":"read","on":1}]}]}]}"#,
            complaint: "events[0].id: 9223372036854775807 is not between 1 and 1099511627776"),
    ]

    static let wrongAccounts = [
        WrongAccounts(
            "\"https://issuer.example/app\"", to: "\"https://issuer.example/app \"",
            complaint: "found \"https://issuer.example/app \"; expected an address without blanks and line breaks"),
        WrongAccounts("account_id: 4002", to: "account_id: many", complaint: "a whole number"),
        WrongAccounts("id_claim: \"uid\"", to: "claim: \"uid\"", complaint: "claim"),
        WrongAccounts(Example.c, to: Example.b, complaint: "another space"),
        WrongAccounts("suite-*", to: "*", complaint: "letters before the *"),
        WrongAccounts("understudy-test-shared-secret-C", to: "", complaint: "cannot be used as a secret"),
    ]
}
