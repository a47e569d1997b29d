import Support

/// A successful call of each route.
extension RouteCase {
    private static let profile =
        #"{"id":"entity123","entity_id":"entity123","title":"","name":"Ada L","first_name":"Ada","last_name":"L","#
        + #""email":"ada@example.test","phone":null,"country_code":null,"metadata":null,"timezone":"GMT","#
        + #""use_data_for_marketing":false,"devices":[],"date_created":1800000000,"date_updated":1800000000}"#

    private static let email = #"{"email":"new@example.test"}"#

    static let all: [RouteCase] = [
        RouteCase(
            "register", .post, "/api/v1/authentication/register",
            fields: .keyN.bearer(Example.regNew), body: email),
        RouteCase(
            "register-v2", .post, "/api/v2/authentication/register",
            fields: .keyN.bearer(Example.regNew), body: email),
        RouteCase(
            "guest.register", .post, "/api/v2/authentication/register/guest", fields: .keyN),
        RouteCase(
            "guest.login", .post, "/api/v2/authentication/login/guest",
            fields: .keyN.bearer(Example.regNew), body: #"{"deviceId":"dev-1","entityId":"NEW"}"#
        ) {
            [
                "NEW": try await $0.call(.post, "/api/v2/authentication/register/guest", .keyN).json["sdkEntity"]?
                    .string ?? ""
            ]
        },
        RouteCase("publickey.get", .get, Example.ada + "/publickey", fields: .ada),
        RouteCase("profile.get", .get, Example.ada + "/profile", fields: .ada, answer: profile),
        RouteCase(
            "profile.update", .put, Example.ada + "/profile", fields: .ada, body: "{}", answer: profile
        ),
        RouteCase(
            "phonebook.list", .get, Example.ada + "/phonebook", fields: .ada,
            answer: #"{"phones":[\#(Example.phone1)]}"#),
        RouteCase(
            "phonebook.create", .post, Example.ada + "/phonebook", fields: .ada,
            body: #"{"name":"Work","phone":"+15550102"}"#, status: 201),
        RouteCase(
            "phonebook.get", .get, Example.ada + "/phonebook/phone-1", fields: .ada,
            answer: Example.phone1),
        RouteCase(
            "phonebook.update", .put, Example.ada + "/phonebook/phone-1", fields: .ada,
            body: #"{"id":"ignored","name":"Work","phone":"+15550102"}"#,
            answer: #"{"id":"phone-1","name":"Work","phone":"+15550102"}"#),
        RouteCase(
            "phonebook.delete", .delete, Example.ada + "/phonebook/NEW", fields: .ada, status: 204, answer: ""
        ) {
            let created = try await $0.call(
                .post, Example.ada + "/phonebook", .ada, #"{"name":"Work","phone":"+15550102"}"#)
            return ["NEW": created.json["id"]?.string ?? ""]
        },
        RouteCase(
            "addressbook.list", .get, Example.addresses, fields: .ada,
            answer: "[\(Example.address1)]"),
        RouteCase("addressbook.create", .post, Example.addresses, fields: .ada, body: "{}", status: 201),
        RouteCase(
            "addressbook.get", .get, Example.addresses + "/address-1", fields: .ada,
            answer: Example.address1),
        RouteCase(
            "addressbook.update", .put, Example.addresses + "/address-1", fields: .ada,
            body: #"{"line1":"3 Test Street","line2":"c/o Ben","country_alpha2":"CZ","phone_book_id":"phone-1"}"#,
            answer: #"{"id":"address-1","short_name":"","full_name":"","line_1":"3 Test Street","line_2":"c/o Ben","#
                + #""city":"","state":"","zip":"","country":"","country_alpha2":null,"phone_id":"phone-1"}"#),
        RouteCase(
            "addressbook.delete", .delete, Example.addresses + "/NEW", fields: .ada, status: 204, answer: ""
        ) {
            ["NEW": try await $0.call(.post, Example.addresses, .ada, "{}").json["id"]?.string ?? ""]
        },
        RouteCase(
            "wallet.list", .get, Example.ada + "/wallet", fields: .ada, answer: "[\(Example.card1)]"),
        RouteCase(
            "wallet.create", .post, Example.ada + "/wallet", fields: .ada, body: Example.newCard, status: 201),
        RouteCase(
            "wallet.get", .get, Example.ada + "/wallet/card-1", fields: .ada, answer: Example.card1),
        RouteCase(
            "wallet.update", .put, Example.ada + "/wallet/card-1", fields: .ada,
            body: #"{"short_name":"Other","name_on_card":"A L","address_id":"address-1","pan4":"1111"}"#,
            answer: #"{"id":"card-1","type":"credit","brand":"visa","pan6":"420000","pan4":"1111","#
                + #""short_name":"Other","name_on_card":"A L","valid_from":"1026","expires_on":"1030","#
                + #""address_id":"address-1"}"#),
        RouteCase(
            "wallet.delete", .delete, Example.ada + "/wallet/card-1", fields: .ada, status: 204, answer: ""),
        RouteCase(
            "rua.register", .post, "/v2/credentials/register", fields: .keyN,
            body: #"{"password":"not-a-secret-2","phone":"+15550101"}"#, status: 201),
        RouteCase(
            "rua.confirm", .get, "/v1/credentials/confirm/000000/1001", fields: .keyN,
            answer: Example.ruaAda(timesLoggedIn: "null")),
        RouteCase(
            "rua.login", .post, "/v2/credentials/login", fields: .keyN, body: Example.login,
            answer: Example.ruaAda(timesLoggedIn: "1")),
        RouteCase(
            "rua.ping", .get, "/v2/credentials/ping", fields: .keyN.bearer(Example.jwtAda)),
        RouteCase(
            "rua.guest", .post, "/v2/credentials/register/guest", fields: .keyN),
        RouteCase(
            "rua.forgot", .post, "/v1/credentials/forget", fields: .keyN,
            body: #"{"email":"ada@example.test"}"#, answer: "{}"),
        RouteCase(
            "rua.details", .put, "/v1/user/details", fields: .keyN.bearer(Example.jwtAda),
            body: #"{"lastName":"B","username":"ignored"}"#,
            answer: Example.ruaAda(timesLoggedIn: "null").replacing(#""lastName":"L""#, with: #""lastName":"B""#)),
        RouteCase(
            "rua.password", .post, "/v1/user/password", fields: .keyN.bearer(Example.jwtAda),
            body: #"{"currentPassword":"not-a-secret-1","newPassword":"not-a-secret-3"}"#, answer: "{}"),
        RouteCase(
            "rua.logout", .post, "/v1/user/logout", fields: .keyN.bearer(Example.jwtAda),
            answer: "{}"),
    ]
}
