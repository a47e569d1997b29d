import Support

extension FailureCase {
    /// A failure of core that is answered with DENIED.
    static func denied(
        _ name: String, by provoke: @escaping @Sendable (World) async throws -> ReceivedAnswer
    ) -> FailureCase { FailureCase(name, status: 403, body: Example.denied, by: provoke) }

    /// The six reasons that the vendor masks, and the device check.
    static let masked: [FailureCase] = [
        .denied("masked-api-key") { try await $0.call(.get, Example.addresses, World.Fields().bearer(Example.jwtAda)) },
        .denied("masked-no-auth-key") { try await $0.call(.get, Example.addresses, .keyX.bearer(Example.jwtAda)) },
        .denied("masked-token-missing") { try await $0.call(.get, Example.addresses, .keyN) },
        .denied("masked-signature") { try await $0.call(.get, Example.addresses, .keyN.bearer("not.a.token")) },
        .denied("masked-missing-fields") {
            let token = try Forged.token(claims: Forged.adaClaims(user: nil))
            return try await $0.call(.get, Example.addresses, .keyN.bearer(token).device(Example.device))
        },
        .denied("masked-other-user") { try await $0.call(.get, Example.ben + "/addressbook", .ada) },
        .denied("masked-device-mismatch") {
            try await $0.call(.get, Example.addresses, .keyN.bearer(Example.jwtAda).device("another"))
        },
    ]

    /// Every other failure of core.
    static let core: [FailureCase] = [
        .denied("token-lifetime-too-long") {
            try await $0.set("rezolve.max-lifetime-seconds", "1799")
            return try await $0.call(.get, Example.addresses, .ada)
        },
        FailureCase("token-expired", status: 401, body: Example.expired) {
            try await $0.freeze(at: 1_800_001_800)
            return try await $0.call(.get, Example.addresses, .ada)
        },
        .denied("masked-not-yet-valid") {
            let token = try await $0.mint("rezolve/login", ["defect": "not-yet-valid"])
            return try await $0.call(.get, Example.addresses, .keyN.bearer(token).device(Example.device))
        },
        FailureCase(
            "registration-duplicate", status: 400,
            body: #"{"type":"Registration","code":"2","message":"Registration failed."}"#
        ) {
            let token = try await $0.mint("rezolve/registration", ["partner_entity_id": "user-1001"])
            return try await $0.call(
                .post, "/api/v1/authentication/register", .keyN.bearer(token), #"{"email":"a@example.test"}"#)
        },
        FailureCase("body-malformed", status: 400, body: Example.malformed) {
            try await $0.call(.post, Example.addresses, .ada, "[]")
        },
        FailureCase(
            "body-missing-fields", status: 400,
            body: #"{"type":"Bad Request","code":"3","message":"Missing required parameters in request body. "#
                + #"Required: phone"}"#
        ) { try await $0.call(.post, Example.ada + "/phonebook", .ada, #"{"name":"Work"}"#) },
        FailureCase("body-wrong-type", status: 400, body: Example.malformed) {
            try await $0.call(.post, Example.ada + "/phonebook", .ada, #"{"name":"Work","phone":5550102}"#)
        },
        FailureCase("body-too-short", status: 400, body: Example.malformed) {
            try await $0.call(.post, Example.ada + "/phonebook", .ada, #"{"name":"Work","phone":"555"}"#)
        },
        FailureCase("phone-not-found", status: 404, body: Example.notFound) {
            try await $0.call(.get, Example.ada + "/phonebook/none", .ada)
        },
        FailureCase("address-not-found", status: 404, body: Example.notFound) {
            try await $0.call(.get, Example.ada + "/addressbook/none", .ada)
        },
        FailureCase("card-not-found", status: 404, body: Example.notFound) {
            try await $0.call(.get, Example.ada + "/wallet/none", .ada)
        },
        FailureCase(
            "address-in-use", status: 400,
            body: #"{"type":"Bad Request","code":"6","message":"Address is in use by a credit card"}"#
        ) { try await $0.call(.delete, Example.ada + "/addressbook/address-1", .ada) },
        FailureCase(
            "phone-in-use", status: 400,
            body: #"{"type":"Bad Request","code":"6","message":"Phone is in use by an address"}"#
        ) { try await $0.call(.delete, Example.ada + "/phonebook/phone-1", .ada) },
        FailureCase("route-not-found", status: 404, body: Example.notFound) {
            try await $0.call(.post, Example.ada + "/wallet/card-1", .ada, "{}")
        },
        FailureCase("route-not-offered", status: 404, body: Example.notFound) {
            try await $0.call(.get, "/api/v1/search", .ada)
        },
        FailureCase(
            "body-too-large", status: 413,
            body: #"{"type":"Bad Request","code":"5","message":"Request body too large"}"#
        ) { try await $0.call(.post, Example.addresses, .ada, String(repeating: " ", count: 1 << 20 | 1)) },
        FailureCase(
            "service-unavailable", status: 503,
            body: #"{"type":"Service Unavailable","code":"7","message":"Service Unavailable"}"#
        ) {
            try await $0.arm("service-unavailable", at: "addressbook.list")
            return try await $0.call(.get, Example.addresses, .ada)
        },
    ]

    private static let severalPartners =
        #"{"type":"RUA instance has more than one partner, please provide a apikey","code":18,"message":"#

    private static func unauthorized(_ message: String) -> String {
        #"{"type":"Unauthorized. Token is invalid","code":6,"message":"\#(message)"}"#
    }

    /// Every failure of RUA.
    static let rua: [FailureCase] = [
        FailureCase(
            "rua-api-key-missing", status: 500,
            body: severalPartners + #""Multiple partners found. Please provide an apikey"}"#
        ) { try await $0.call(.post, "/v2/credentials/login", [], Example.login) },
        FailureCase(
            "rua-api-key-wrong", status: 500,
            body: severalPartners + #""No partners found. Please provide a correct apikey"}"#
        ) { try await $0.call(.get, "/v2/credentials/ping", .keyS.bearer(Example.jwtAda)) },
        FailureCase(
            "rua-no-auth-key", status: 403, body: #"{"type":"Authentication","code":1,"message":"Access is denied."}"#
        ) {
            _ = try await $0.call(
                .post, "/v2/credentials/register", .keyX, #"{"username":"x","password":"not-a-secret-2"}"#)
            return try await $0.call(
                .post, "/v2/credentials/login", .keyX, #"{"username":"x","password":"not-a-secret-2","deviceId":"d"}"#)
        },
        FailureCase(
            "rua-wrong-credentials", status: 401,
            body: #"{"type":"Incorrect username or password","code":4,"message":"Username or password is wrong."}"#
        ) {
            try await $0.call(
                .post, "/v2/credentials/login", .keyN, #"{"username":"nobody","password":"x","deviceId":"d"}"#)
        },
        FailureCase("rua-token-missing", status: 401, body: unauthorized("Token is missing.")) {
            try await $0.call(.get, "/v2/credentials/ping", .keyN)
        },
        FailureCase("rua-token-invalid", status: 401, body: unauthorized("Token is invalid.")) {
            let token = try await $0.mint("rezolve/login", ["customer": "entity456"])
            return try await $0.call(.post, "/v1/user/logout", .keyN.bearer(token))
        },
        FailureCase("rua-token-expired", status: 401, body: unauthorized("Token is expired.")) {
            try await $0.call(.post, "/v1/user/logout", .keyN.bearer(Example.jwtAdaOld))
        },
        FailureCase(
            "rua-user-exists", status: 422,
            body: #"{"type":"Cannot process registration for user","code":3,"message":"User exists already."}"#
        ) {
            try await $0.call(
                .post, "/v2/credentials/register", .keyN, #"{"password":"not-a-secret-2","phone":"+15550100"}"#)
        },
        FailureCase(
            "rua-user-not-found", status: 404, body: #"{"type":"User not found","code":7,"message":"User not found."}"#
        ) {
            try await $0.call(.get, "/v1/credentials/confirm/000000/9", .keyN)
        },
        FailureCase(
            "rua-wrong-password", status: 422,
            body: #"{"type":"Current password is incorrect","code":10,"message":"Current password is wrong."}"#
        ) {
            try await $0.call(
                .post, "/v1/user/password", .keyN.bearer(Example.jwtAda),
                #"{"currentPassword":"wrong","newPassword":"not-a-secret-3"}"#)
        },
        FailureCase(
            "rua-confirm-code-wrong", status: 400,
            body: #"{"type":"Confirmation failed","code":5,"message":"Confirmation code is wrong."}"#
        ) { try await $0.call(.get, "/v1/credentials/confirm/123456/1001", .keyN) },
        FailureCase(
            "rua-body-invalid", status: 400,
            body: #"{"type":"Bad Request","code":5,"message":"Request body is invalid."}"#
        ) { try await $0.call(.post, "/v2/credentials/login", .keyN, #"{"username":"ada@example.test"}"#) },
    ]

    static let all = masked + core + rua
}
