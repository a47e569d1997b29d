import Support
import Testing

extension RouteCase {
    private static let email = #"{"email":"new@example.test"}"#

    static let all: [RouteCase] = [
        RouteCase(
            "register", .post, "/api/v1/authentication/register",
            fields: .keyN.bearer(Example.regNew), body: email),
        RouteCase(
            "register-v2", .post, "/api/v2/authentication/register",
            fields: .keyN.bearer(Example.regNew), body: email),
        RouteCase("guest.register", .post, "/api/v2/authentication/register/guest", fields: .keyN),
        RouteCase(
            "guest.login", .post, "/api/v2/authentication/login/guest",
            fields: .keyN.bearer(Example.regNew), body: #"{"deviceId":"dev-1","entityId":"NEW"}"#
        ) {
            let guest = try await $0.call(.post, "/api/v2/authentication/register/guest", .keyN)
            return ["NEW": guest.json["sdkEntity"]?.string ?? ""]
        },
        RouteCase("publickey.get", .get, Example.ada + "/publickey", fields: .ada),
        RouteCase("profile.get", .get, Example.ada + "/profile", fields: .ada),
        RouteCase("profile.update", .put, Example.ada + "/profile", fields: .ada, body: "{}"),
        RouteCase("phonebook.list", .get, Example.ada + "/phonebook", fields: .ada),
        RouteCase(
            "phonebook.create", .post, Example.ada + "/phonebook", fields: .ada,
            body: #"{"name":"Work","phone":"+15550102"}"#, status: 201),
        RouteCase("phonebook.get", .get, Example.ada + "/phonebook/phone-1", fields: .ada),
        RouteCase(
            "phonebook.update", .put, Example.ada + "/phonebook/phone-1", fields: .ada,
            body: #"{"id":"ignored","name":"Work","phone":"+15550102"}"#),
        RouteCase("phonebook.delete", .delete, Example.ada + "/phonebook/NEW", fields: .ada, status: 204) {
            let created = try await $0.call(
                .post, Example.ada + "/phonebook", .ada, #"{"name":"Work","phone":"+15550102"}"#)
            return ["NEW": created.json["id"]?.string ?? ""]
        },
        RouteCase("addressbook.list", .get, Example.addresses, fields: .ada),
        RouteCase("addressbook.create", .post, Example.addresses, fields: .ada, body: "{}", status: 201),
        RouteCase("addressbook.get", .get, Example.addresses + "/address-1", fields: .ada),
        RouteCase(
            "addressbook.update", .put, Example.addresses + "/address-1", fields: .ada,
            body: #"{"line1":"3 Test Street","line2":"c/o Ben","country_alpha2":"CZ","phone_book_id":"phone-1"}"#),
        RouteCase("addressbook.delete", .delete, Example.addresses + "/NEW", fields: .ada, status: 204) {
            ["NEW": try await $0.call(.post, Example.addresses, .ada, "{}").json["id"]?.string ?? ""]
        },
        RouteCase("wallet.list", .get, Example.ada + "/wallet", fields: .ada),
        RouteCase("wallet.create", .post, Example.ada + "/wallet", fields: .ada, body: Example.newCard, status: 201),
        RouteCase("wallet.get", .get, Example.ada + "/wallet/card-1", fields: .ada),
        RouteCase(
            "wallet.update", .put, Example.ada + "/wallet/card-1", fields: .ada,
            body: #"{"short_name":"Other","name_on_card":"A L","address_id":"address-1","pan4":"1111"}"#),
        RouteCase("wallet.delete", .delete, Example.ada + "/wallet/card-1", fields: .ada, status: 204),
        RouteCase(
            "rua.register", .post, "/v2/credentials/register", fields: .keyN,
            body: #"{"password":"not-a-secret-2","phone":"+15550101"}"#, status: 201),
        RouteCase("rua.confirm", .get, "/v1/credentials/confirm/000000/1001", fields: .keyN),
        RouteCase("rua.login", .post, "/v2/credentials/login", fields: .keyN, body: Example.login),
        RouteCase("rua.ping", .get, "/v2/credentials/ping", fields: .keyN.bearer(Example.jwtAda)),
        RouteCase("rua.guest", .post, "/v2/credentials/register/guest", fields: .keyN),
        RouteCase("rua.forgot", .post, "/v1/credentials/forget", fields: .keyN, body: #"{"email":"ada@example.test"}"#),
        RouteCase(
            "rua.details", .put, "/v1/user/details", fields: .keyN.bearer(Example.jwtAda),
            body: #"{"lastName":"B","username":"ignored"}"#),
        RouteCase(
            "rua.password", .post, "/v1/user/password", fields: .keyN.bearer(Example.jwtAda),
            body: #"{"currentPassword":"not-a-secret-1","newPassword":"not-a-secret-3"}"#),
        RouteCase("rua.logout", .post, "/v1/user/logout", fields: .keyN.bearer(Example.jwtAda)),
    ]
}

/// The effect of each value of each switch (section 8 of the vendor's spec).
extension SwitchCase {
    private static func list(_ token: String, device: String? = Example.device) -> World.Send {
        { world in
            let fields = World.Fields.keyN.bearer(token)
            return try await world.call(.get, Example.addresses, device.map(fields.device) ?? fields)
        }
    }

    private static func list(claims: String, header: String = Forged.loginHeader) -> World.Send {
        { try await list(Forged.token(header: header, claims: claims))($0) }
    }

    private static func authorization(_ value: String) -> World.Send {
        { try await $0.call(.get, Example.addresses, .keyN.authorization(value).device(Example.device)) }
    }

    static let all = tokenCases + timeCases + deviceCases + schemeCases + stateCases + bodyCases + shapeCases

    private static let tokenCases: [SwitchCase] = [
        SwitchCase(
            "auth-header", "required", failure: "masked-missing-fields",
            list(claims: Forged.adaClaims(), header: #"{"alg":"HS512"}"#)),
        SwitchCase("auth-header", "ignored", list(claims: Forged.adaClaims(), header: #"{"alg":"HS512","auth":1}"#)),
        SwitchCase(
            "partner-entity-id", "must-match", failure: "masked-other-user",
            list(claims: Forged.adaClaims(user: "317"))),
        SwitchCase("partner-entity-id", "any", list(claims: Forged.adaClaims(user: "317"))),
        SwitchCase(
            "partner-entity-id", "any", note: "but not empty", failure: "masked-missing-fields",
            list(claims: Forged.adaClaims(user: #""""#))),
        SwitchCase("exp-number", "any", list(Example.jwtFloat)),
        SwitchCase("exp-number", "integer", failure: "masked-missing-fields", list(Example.jwtFloat)),
        SwitchCase("exp-number", "integer", note: "with an integer", list(Example.jwtAda)),
        SwitchCase("registration-token-reuse", "accept", reuse),
        SwitchCase("registration-token-reuse", "refuse", failure: "masked-other-user", reuse),
    ]

    private static let reuse: World.Send = {
        let token = try await $0.mint("rezolve/registration", ["partner_entity_id": "user-1001"])
        return try await $0.call(.get, Example.addresses, .keyN.bearer(token))
    }

    private static let timeCases: [SwitchCase] = [
        SwitchCase("max-lifetime-seconds", "off", list(claims: Forged.adaClaims(exp: "1900000000"))),
        SwitchCase("max-lifetime-seconds", "1800", list(Example.jwtAda)),
        SwitchCase("max-lifetime-seconds", "1799", failure: "token-lifetime-too-long", list(Example.jwtAda)),
        SwitchCase("leeway-seconds", "0", failure: "token-expired", list(Example.jwtAdaOld)),
        SwitchCase(
            "leeway-seconds", "1", note: "a token whose leeway ends now", failure: "token-expired",
            list(Example.jwtAdaOld)),
        SwitchCase("leeway-seconds", "2", list(Example.jwtAdaOld)),
        SwitchCase("leeway-seconds", "3600", note: "before nbf", list(claims: notYet)),
        SwitchCase(
            "leeway-seconds", "4000000000", note: "an exp of 0", failure: "token-expired",
            list(claims: Forged.adaClaims(exp: "0"))),
        SwitchCase("nbf", "enforce", failure: "masked-not-yet-valid", list(claims: notYet)),
        SwitchCase(
            "nbf", "enforce", note: "that is not a number", failure: "masked-not-yet-valid",
            list(claims: Forged.adaClaims(exp: #"1800001800,"nbf":"soon""#))),
        SwitchCase(
            "nbf", "enforce", note: "of now", list(claims: Forged.adaClaims(exp: #"1800001800,"nbf":1800000000"#))
        ),
        SwitchCase(
            "nbf", "enforce", note: "of an expired token", failure: "token-expired",
            list(claims: Forged.adaClaims(exp: #"1799999999,"nbf":1800003600"#))),
        SwitchCase("nbf", "ignore", list(claims: notYet)),
    ]

    private static let notYet = Forged.adaClaims(exp: #"1800009000,"nbf":1800003600"#)

    private static let deviceCases: [SwitchCase] = [
        SwitchCase("device-check", "enforce", failure: "masked-device-mismatch", list(Example.jwtAda, device: nil)),
        SwitchCase("device-check", "off", list(Example.jwtAda, device: "another")),
        SwitchCase("device-check", "off", note: "without claim", list(claims: Forged.adaClaims(device: nil))),
        SwitchCase("device-check", "if-present", note: "without header", list(Example.jwtAda, device: nil)),
        SwitchCase("device-check", "if-present", note: "without claim", list(claims: Forged.adaClaims(device: nil))),
        SwitchCase(
            "device-check", "if-present", note: "with both", failure: "masked-device-mismatch",
            list(Example.jwtAda, device: "another")),
    ]

    private static let schemeCases: [SwitchCase] = [
        SwitchCase("bearer-scheme", "required", failure: "masked-token-missing", authorization(Example.jwtAda)),
        SwitchCase(
            "bearer-scheme", "required", note: "twice", failure: "masked-signature",
            authorization("Bearer Bearer " + Example.jwtAda)),
        SwitchCase("bearer-scheme", "lenient", authorization(Example.jwtAda)),
        SwitchCase("bearer-scheme", "lenient", note: "once", authorization("Bearer " + Example.jwtAda)),
        SwitchCase("bearer-scheme", "lenient", note: "twice", authorization("Bearer bearer  " + Example.jwtAda)),
        SwitchCase(
            "bearer-scheme", "lenient", note: "three times", failure: "masked-signature",
            authorization("Bearer Bearer Bearer " + Example.jwtAda)),
        SwitchCase(
            "bearer-scheme", "lenient", note: "another scheme", failure: "masked-signature",
            authorization("Basic " + Example.jwtAda)),
        SwitchCase(
            "bearer-scheme", "lenient", note: "no token", failure: "masked-token-missing",
            authorization("Bearer Bearer")),
    ]

    private static let register: World.Send = {
        try await $0.register($0.mint("rezolve/registration", ["partner_entity_id": "user-1001"]))
    }

    private static let loggedOut: World.Send = {
        try await $0.call(.post, "/v1/user/logout", .keyN.bearer(Example.jwtAda)).expect(200)
        return try await $0.call(.get, Example.addresses, .ada)
    }

    private static let stateCases: [SwitchCase] = [
        SwitchCase("ping-after-logout", "expired-token", pingAfterLogout),
        SwitchCase("ping-after-logout", "unauthorized", failure: "rua-token-invalid", pingAfterLogout),
        SwitchCase("duplicate-registration", "fail", failure: "registration-duplicate", register),
        SwitchCase("duplicate-registration", "return-existing", register),
        SwitchCase("logout-revokes-core", "no", loggedOut),
        SwitchCase("logout-revokes-core", "yes", failure: "token-expired", loggedOut),
        SwitchCase("unknown-entity", "refuse", failure: "masked-other-user", unknownEntity),
        SwitchCase("unknown-entity", "adopt", unknownEntity),
    ]

    private static let pingAfterLogout: World.Send = {
        try await $0.call(.post, "/v1/user/logout", .keyN.bearer(Example.jwtAda)).expect(200)
        return try await $0.call(.get, "/v2/credentials/ping", .keyN.bearer(Example.jwtAda))
    }

    static let unknownEntity: World.Send = {
        let token = try Forged.token(claims: Forged.adaClaims(entity: #""entity-new""#, user: #""user-9""#))
        return try await $0.call(.get, Example.customer("entity-new/addressbook"), .core(token))
    }

    private static func create(_ place: String, _ body: String) -> World.Send {
        { try await $0.call(.post, Example.ada + place, .ada, body) }
    }

    static let sampleRenewal: World.Send = {
        try await $0.call(
            .post, "/api/v1/authentication/register", [],
            #"{"device_id":"dev-1","make":"Apple","os_type":"ios","entityId":"entity123","partnerId":"317"}"#)
    }

    private static let bodyCases: [SwitchCase] = [
        SwitchCase("address-required-fields", "none", create("/addressbook", "{}")),
        SwitchCase("address-required-fields", "shop", failure: "body-missing-fields", create("/addressbook", "{}")),
        SwitchCase(
            "address-required-fields", "shop", note: "all there",
            create("/addressbook", #"{"line1":"2","city":"Brno","state":"JM","zip":"60200","country":"CZ"}"#)),
        SwitchCase("pan-check", "any-string", create("/wallet", Example.newCard)),
        SwitchCase("pan-check", "decrypt", failure: "body-wrong-type", create("/wallet", Example.newCard)),
        SwitchCase("ios-sample-renewal", "off", failure: "masked-api-key", sampleRenewal),
        SwitchCase("ios-sample-renewal", "on", sampleRenewal),
        SwitchCase("ios-sample-renewal", "on", note: "an ordinary registration") {
            try await $0.register(Example.regNew)
        },
    ]

    private static let missingPhone: World.Send = {
        try await $0.call(.get, Example.ada + "/phonebook/none", .ada)
    }

    private static let profile: World.Send = {
        try await $0.call(.get, Example.ada + "/profile", .ada)
    }

    private static let ping: World.Send = {
        try await $0.call(.get, "/v2/credentials/ping", .keyN.bearer(Example.jwtAda))
    }

    private static let signUp: World.Send = {
        try await $0.call(
            .post, "/v2/credentials/register", .keyN, #"{"username":"a","password":"not-a-secret-2","firstName":"A"}"#)
    }

    private static let shapeCases: [SwitchCase] = [
        SwitchCase("error-envelope", "bare", failure: "phone-not-found", shows: "\n" + Example.notFound, missingPhone),
        SwitchCase(
            "error-envelope", "errors-array", failure: "phone-not-found",
            shows: #"\#n{"errors":[\#(Example.notFound)]}"#, missingPhone),
        SwitchCase("message-style", "error-page", failure: "phone-not-found", shows: Example.notFound, missingPhone),
        SwitchCase("message-style", "staging", failure: "phone-not-found", shows: "Phone not found", missingPhone),
        SwitchCase(
            "profile-dates", "unix-seconds", shows: #""date_created":1800000000,"date_updated":1800000000"#,
            profile),
        SwitchCase(
            "profile-dates", "iso",
            shows: #""date_created":"2027-01-15T08:00:00.000Z","date_updated":"2027-01-15T08:00:00.000Z""#,
            profile),
        SwitchCase("rua-token-prefix", "bearer", shows: #"{"accessToken":"Bearer ey"#, ping),
        SwitchCase("rua-token-prefix", "none", shows: #"{"accessToken":"ey"#, ping),
        SwitchCase("rua-user-answers", "full", shows: #""firstName":"A""#, signUp),
        SwitchCase("rua-user-answers", "schema", shows: #""firstName":null"#, signUp),
    ]
}
