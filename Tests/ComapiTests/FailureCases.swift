import JSON
import Support
import Testing

extension FailureCase {
    static let all = paths + challenges + tokens + times + sessions + resources

    private static let paths: [FailureCase] = [
        FailureCase("unknown-path", status: 404, body: Example.notFound) {
            try await $0.call(.get, Example.path("/nothing"))
        },
        FailureCase("method-not-allowed", status: 405, body: #"{"message":"Method Not Allowed"}"#) {
            try await $0.call(.delete, Example.path("/profiles/mira"))
        },
        FailureCase("unknown-space", status: 404, body: Example.notFound) {
            try await $0.call(.get, "/apispaces/none/sessions/start")
        },
        FailureCase("body-too-large", status: 413, body: #"{"message":"Payload Too Large"}"#) {
            try await $0.call(
                .post, Example.path("/conversations"), $0.session().fields, String(repeating: " ", count: 300_000))
        },
        FailureCase("upgrade-required", status: 426, body: #"{"message":"Upgrade Required"}"#) {
            try await $0.call(.get, Example.path("/socket"), $0.session().fields)
        },
        FailureCase("server-error", status: 500, body: #"{"message":"Internal Server Error"}"#) {
            try await $0.arm("server-error", at: "session.start")
            return try await $0.call(.get, Example.path("/sessions/start"))
        },
        FailureCase("unavailable", status: 503, body: #"{"message":"Service Unavailable"}"#) {
            try await $0.arm("unavailable", at: "session.start")
            return try await $0.call(.get, Example.path("/sessions/start"))
        },
    ]

    private static let challenges: [FailureCase] = [
        FailureCase("malformed-body", status: 400, body: Example.fault("body", "is not valid JSON for this call")) {
            try await $0.call(.post, Example.path("/sessions"), [], "[]")
        },
        FailureCase(
            "missing-field", status: 400,
            body: #"{"validationFailures":[{"paramName":"authenticationId","message":"is required"},"#
                + #"{"paramName":"authenticationToken","message":"is required"}]}"#
        ) {
            try await $0.call(
                .post, Example.path("/sessions"), [], #"{"authenticationId":"","authenticationToken":null}"#)
        },
        FailureCase("invalid-parameter", status: 400, body: Example.fault("authenticationToken", "is not valid")) {
            try await $0.call(
                .post, Example.path("/sessions"), [], #"{"authenticationId":"x","authenticationToken":7}"#)
        },
        .refused("unknown-authentication") {
            try await $0.answer(Challenge(id: "none", nonce: "n"), Forged.token(claims: "{}"))
        },
        .refused("nonce-reused") {
            let challenge = try await $0.challenge()
            let token = try Forged.token(claims: Forged.claims(nonce: challenge.json))
            _ = try await $0.answer(challenge, token)
            return try await $0.answer(challenge, token)
        },
        .refused("nonce-expired") {
            let challenge = try await $0.challenge()
            try await $0.advance("901s")
            return try await $0.answer(challenge, Forged.token(claims: Forged.claims(nonce: challenge.json)))
        },
    ]

    /// A refusal of the app's token.
    private static func refused(
        _ name: String, by provoke: @escaping @Sendable (World) async throws -> ReceivedAnswer
    ) -> FailureCase { FailureCase(name, status: 403, body: Example.invalidJWT, by: provoke) }

    /// A refusal of a token minted with a defect.
    private static func defect(_ name: String, _ defect: String? = nil, in space: String = Example.a) -> FailureCase {
        .refused(name) { world in
            let challenge = try await world.challenge(in: space)
            let token = try await world.mint(
                "comapi/app",
                [
                    "space": .string(space), "authenticationId": .string(challenge.id),
                    "defect": .string(defect ?? name),
                ])
            return try await world.answer(challenge, token, in: space)
        }
    }

    private static let tokens: [FailureCase] = [
        .defect("malformed-token", "two-parts"), .defect("unsupported-critical-header"),
        .defect("wrong-algorithm", "wrong-alg"), .defect("secret-hex-decoded", in: Example.b),
        .defect("secret-base64-decoded", in: Example.b), .defect("secret-base64-text"), .defect("secret-trimmed"),
        .defect("secret-of-another-space"), .defect("bad-signature"), .defect("missing-nonce"),
        .defect("nonce-mismatch"), .defect("missing-issuer", "missing-iss"), .defect("wrong-issuer"),
        .defect("missing-audience", "missing-aud"), .defect("wrong-audience"), .defect("missing-user-id"),
        // No secret of the fixtures can reveal it; SecretTests has one that can.
        .refused("secret-latin-1") {
            try await $0.arm("secret-latin-1", at: "session.create")
            return try await $0.answer(Challenge(id: "none", nonce: "n"), Forged.token(claims: "{}"))
        },
    ]

    /// A refusal in profile `observed`.
    private static func observed(_ name: String) -> FailureCase {
        .refused(name) { world in
            try await world.set(profile: .observed)
            return try await FailureCase.defect(name).provoke(world)
        }
    }

    private static let times: [FailureCase] = [
        .defect("malformed-time"), .defect("expired-token", "expired"), .defect("not-yet-valid"),
        .observed("missing-exp"), .observed("missing-iat"), .observed("milliseconds-exp"),
        .observed("milliseconds-iat"),
    ]

    /// A refusal of a session's token.
    private static func unauthorized(
        _ name: String, by fields: @escaping @Sendable (World) async throws -> World.Fields
    ) -> FailureCase {
        FailureCase(name, status: 401, body: Example.unauthorized) {
            try await $0.call(.get, Example.path("/profiles/mira"), fields($0))
        }
    }

    private static func bearer(_ token: String) -> World.Fields { [("authorization", "Bearer " + token)] }

    private static let sessions: [FailureCase] = [
        .unauthorized("session-missing") { _ in [] }, .unauthorized("session-malformed") { _ in bearer("none") },
        .unauthorized("session-other-space") {
            try await bearer($0.mint("comapi/session", ["defect": "session-other-space"]))
        },
        .unauthorized("session-forged") { try await bearer($0.mint("comapi/session", ["defect": "wrong-secret"])) },
        .unauthorized("session-expired") { try await bearer($0.mint("comapi/session", ["defect": "expired"])) },
        .unauthorized("session-ended") {
            let session = try await $0.session()
            try await $0.call(.delete, Example.path("/sessions/\(session.id)"), session.fields).expect(204)
            return session.fields
        },
        .unauthorized("session-unknown") {
            try await bearer($0.mint("comapi/session", ["defect": "session-unknown"]))
        },
        FailureCase("unknown-session", status: 404, body: Example.notFound) {
            try await $0.call(.get, Example.path("/sessions/none"), $0.session().fields)
        },
        FailureCase("foreign-session", status: 403, body: Example.forbidden) {
            let bob = try await $0.session("bob")
            return try await $0.call(.get, Example.path("/sessions/\(bob.id)"), $0.session().fields)
        },
    ]

    private static let resources: [FailureCase] = [
        FailureCase("unknown-profile", status: 404, body: Example.notFound) {
            try await $0.call(.get, Example.path("/profiles/nobody"), $0.session().fields)
        },
        FailureCase("foreign-profile", status: 403, body: Example.forbidden) {
            _ = try await $0.session("bob")
            return try await $0.call(.put, Example.path("/profiles/bob"), $0.session().fields, "{}")
        },
        FailureCase("unknown-conversation", status: 404, body: Example.notFound) {
            try await $0.call(.get, Example.path("/conversations/none"), $0.session().fields)
        },
        FailureCase("not-a-participant", status: 403, body: Example.forbidden) {
            _ = try await $0.trip()
            let third = try await $0.session("third")
            return try await $0.call(.get, Example.path("/conversations/trip-42"), third.fields)
        },
        FailureCase("role-forbids", status: 403, body: Example.forbidden) {
            let (mira, bob) = (try await $0.session(), try await $0.session("bob"))
            try await $0.call(
                .post, Example.path("/conversations"), mira.fields,
                #"{"id":"x","participants":[{"id":"bob"}],"roles":{"participant":{"canSend":false}}}"#
            ).expect(201)
            return try await $0.call(
                .post, Example.path("/conversations/x/messages"), bob.fields, Example.message)
        },
        FailureCase("owner-only", status: 403, body: Example.forbidden) {
            let (_, bob) = try await $0.trip()
            return try await $0.call(.delete, Example.path("/conversations/trip-42"), bob.fields)
        },
        FailureCase("conversation-exists", status: 409, body: #"{"message":"Conflict"}"#) {
            let (mira, _) = try await $0.trip()
            return try await $0.call(.post, Example.path("/conversations"), mira.fields, Example.trip)
        },
        FailureCase("etag-mismatch", status: 412, body: #"{"message":"Precondition Failed"}"#) {
            let fields = try await $0.session().fields + [("if-match", "\"x\"")]
            return try await $0.call(.put, Example.path("/profiles/mira"), fields, "{}")
        },
        FailureCase("unknown-content", status: 404, body: Example.notFound) {
            try await $0.call(.get, Example.path("/content/none"))
        },
        // Looking for a push creates an empty entry for the space.
        FailureCase("unknown-push", status: 404, body: Example.notFound, keepsState: false) {
            try await $0.call(.get, Example.path("/pushes/none/click"))
        },
    ]
}
