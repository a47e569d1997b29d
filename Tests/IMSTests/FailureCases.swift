import JSON
import Support
import Testing

extension FailureCase {
    /// A failure with the content given in the vendor's spec.
    init(
        _ name: String, status: Int, field: String? = nil, keepsState: Bool = true,
        by provoke: @escaping @Sendable (World) async throws -> ReceivedAnswer
    ) {
        self.init(name, status: status, body: ReceivedAnswer.body(name, field), keepsState: keepsState, by: provoke)
    }

    static let all = tokens + users + activation + onboarding + others

    private static let tokens: [FailureCase] = [
        FailureCase("token-missing", status: 401) {
            try await $0.call(.get, Example.me, [("authorization", "Basic eDp5")])
        },
        FailureCase("token-malformed", status: 401) { try await $0.me("not.a.token") },
        FailureCase("alg-not-allowed", status: 401) { try await $0.me(Forged().header("alg", "PS256")) },
        FailureCase("typ-not-allowed", status: 401) { try await $0.me(Forged().header("typ", "at+jwt")) },
        FailureCase("issuer-unknown", status: 401) { try await $0.me(Forged(.uat, [("iss", "https://nobody.test")])) },
        FailureCase("kid-required", status: 401) { try await $0.me(Forged(.cognito).header("kid", nil)) },
        FailureCase("kid-unknown", status: 401) { try await $0.me(Forged(.rotating).header("kid", "nope")) },
        FailureCase("keys-unavailable", status: 503, keepsState: false) {
            try await $0.drill("rotating", "break")
            return try await $0.me(Forged(.rotating))
        },
        FailureCase("certificate-expired", status: 401) {
            let keys: JSON = ["type": "pem-certificate", "pem": .string(try Example.seedCertificate())]
            let body = Example.issuer(
                "legacy-cert", iss: Forged.Issuer.legacy.rawValue, keys, ["certificate_dates": "reject"])
            try await $0.call(.put, "/ims/v1/issuers/legacy-cert", .operatorKey, body).expect(200)
            return try await $0.me(Forged(.legacy))
        },
        FailureCase("signature-invalid", status: 401) { try await $0.me(Forged().signed(by: 9)) },
        FailureCase("claim-missing", status: 401, field: "iss") { try await $0.me(Forged(.uat, [("iss", nil)])) },
        FailureCase("claim-invalid", status: 401, field: "kid") { try await $0.me(Forged().header("kid", 7)) },
        FailureCase("token-expired", status: 401) { try await $0.me(Forged(.uat, [("exp", 1_800_000_000)])) },
        FailureCase("token-not-yet-valid", status: 401, field: "nbf") {
            try await $0.me(Forged(.uat, [("nbf", 1_800_000_031)]))
        },
        FailureCase("lifetime-too-long", status: 401) {
            try await $0.set("ims.max-lifetime-seconds", "599")
            return try await $0.me(Forged())
        },
        FailureCase("audience-mismatch", status: 401, field: "aud") { try await $0.me(Forged(.firebase)) },
        FailureCase("token-use-mismatch", status: 401) {
            try await $0.me(Forged(.cognito, [("aud", "testclient0001"), ("token_use", "access")]))
        },
        FailureCase("jti-missing", status: 401) {
            try await $0.replaceUAT(["require_jti": true])
            return try await $0.me(Forged())
        },
        FailureCase("token-replayed", status: 401) {
            try await $0.replaceUAT(["replay": "single-use"])
            let token = Forged(.uat, [("jti", "once")])
            try await $0.me(token).expect(200)
            return try await $0.me(token)
        },
    ]

    private static let users: [FailureCase] = [
        FailureCase("user-unknown", status: 403) { try await $0.me(Forged(.uat, [("sub", "nobody")])) },
        FailureCase("user-not-active", status: 403) { try await $0.me(Forged(.uat, [("sub", "EMP-0002")])) },
        FailureCase("user-deactivated", status: 403) { try await $0.me(Forged(.uat, [("sub", "EMP-0003")])) },
        FailureCase("user-not-found", status: 404) { try await $0.call(.get, "/ims/v1/users/usr-9", .operatorKey) },
        FailureCase("enrollment-exists", status: 409, field: "email") {
            try await $0.call(
                .post, "/ims/v1/users", .operatorKey,
                #"{"tenant":"demo","activation_id":"new","email":"ADA@example.test"}"#)
        },
        FailureCase("state-conflict", status: 409) {
            try await $0.call(.post, "/ims/v1/users/usr-1/activate", .operatorKey)
        },
        FailureCase("operator-key-missing", status: 401) { try await $0.call(.get, "/ims/v1/users") },
        FailureCase("operator-key-wrong", status: 403) {
            try await $0.call(.get, "/ims/v1/users", [("x-ims-operator-key", "ims-operator-test-kex")])
        },
    ]

    private static func activate(
        _ world: World, _ body: String = Example.activation, as subject: String = "EMP-0002",
        at moment: Int = World.exampleMoment
    ) async throws -> ReceivedAnswer {
        let token = try Forged(.uat, at: moment, [("sub", .string(subject))]).text()
        return try await world.call(.post, "/ims/v1/activation", .bearer(token), body)
    }

    private static let activation: [FailureCase] = [
        FailureCase("activation-unknown", status: 404) {
            try await activate($0, Example.activation.replacing("ben.driver", with: "nobody"))
        },
        FailureCase("activation-email-mismatch", status: 400) {
            try await activate($0, Example.activation.replacing("ben@", with: "bob@"))
        },
        FailureCase("activation-code-wrong", status: 400) {
            try await activate($0, Example.activation.replacing("48291357", with: "48291358"))
        },
        FailureCase("activation-code-used", status: 409) {
            try await activate($0).expect(200)
            return try await activate($0)
        },
        FailureCase("activation-code-expired", status: 410) {
            try await $0.freeze(at: 1_800_259_200)
            return try await activate($0, at: 1_800_259_200)
        },
        FailureCase("subject-mismatch", status: 403) { try await activate($0, as: "EMP-0009") },
        FailureCase("subject-taken", status: 409) { try await activate($0, Example.cleo, as: "EMP-0003") },
    ]

    private static func create(
        _ world: World, _ keys: JSON, name: String = "new", iss: String = "https://new.example.test"
    ) async throws -> ReceivedAnswer {
        try await world.call(.post, "/ims/v1/issuers", .operatorKey, Example.issuer(name, iss: iss, keys))
    }

    private static let onboarding: [FailureCase] = [
        FailureCase("issuer-exists", status: 409, field: "name") {
            try await create($0, try Example.publicKey(), name: "uat")
        },
        FailureCase("issuer-not-found", status: 404) { try await $0.call(.get, "/ims/v1/issuers/none", .operatorKey) },
        FailureCase("key-source-invalid", status: 400) {
            try await create($0, ["type": "pem-public-key", "pem": "none"])
        },
        FailureCase("private-key-refused", status: 400) {
            try await create(
                $0, ["type": "jwks", "jwks": ["keys": [["kty": "RSA", "n": "AQ", "e": "AQAB", "d": "AQ"]]]])
        },
        FailureCase("jwks-url-not-allowed", status: 400) {
            try await create($0, ["type": "jwks-url", "url": "https://keys.example.com/jwks.json"])
        },
        FailureCase("jwks-fetch-failed", status: 502, keepsState: false) {
            try await $0.drill("rotating", "break")
            return try await $0.call(.post, "/ims/v1/issuers/rotating/refresh", .operatorKey)
        },
    ]

    private static func fields() throws -> World.Fields { .bearer(try Forged().text()) }

    private static let others: [FailureCase] = [
        FailureCase("trip-not-found", status: 404) { try await $0.call(.get, "/ims/v1/trips/none", try fields()) },
        FailureCase("trip-conflict", status: 409) {
            try await $0.call(.post, "/ims/v1/trips", try fields(), Example.trip).expect(201)
            return try await $0.call(
                .post, "/ims/v1/trips", try fields(), Example.trip.replacing("07:30", with: "07:31"))
        },
        FailureCase("body-malformed", status: 400) { try await $0.call(.post, "/ims/v1/trips", try fields(), "[]") },
        FailureCase("body-invalid", status: 400, field: "points.0.lat") {
            let point = #"{"at":"2027-01-15T07:00:00Z","lat":91,"lon":0,"speed_mps":0}"#
            return try await $0.call(
                .post, "/ims/v1/trips", try fields(), String(Example.trip.dropLast() + #","points":[\#(point)]}"#))
        },
        FailureCase("body-too-large", status: 413) {
            try await $0.call(.patch, Example.me, try fields(), String(repeating: " ", count: 1 << 16 | 1))
        },
        FailureCase("route-not-found", status: 404) { try await $0.call(.get, "/ims/v1/vehicles", try fields()) },
        FailureCase("method-not-allowed", status: 405) { try await $0.call(.delete, Example.me, try fields()) },
        FailureCase("rate-limited", status: 429) {
            try await $0.arm("rate-limited", at: "me.get")
            return try await $0.me(Forged())
        },
        FailureCase("service-unavailable", status: 503) {
            try await $0.arm("service-unavailable", at: "me.get")
            return try await $0.me(Forged())
        },
    ]
}
