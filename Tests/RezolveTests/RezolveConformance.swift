import JSON
package import Support
import Testing

@testable import Rezolve

extension VendorConformance {
    package static let rezolve = {
        var vendor = VendorConformance(
            id: "rezolve",
            life: SandboxLife(
                secrets: [
                    "pass-of-new", "not-a-secret", "password", "PRIVATE", "private_key", "\"pan\"", Example.secret,
                ]
            ) { world in
                try await RezolveLife.live(world)
                return SandboxLife.Past(seen: RezolveLife.seen, kept: RezolveLife.kept) {
                    try await $0.call(.delete, Example.ada + "/wallet/card-1", .ada).expect(204)
                }
            })
        vendor.routes = RouteCase.all
        vendor.refusal = { route in
            if ["rua.ping", "rua.details", "rua.password", "rua.logout"].contains(route.route) {
                return "rua-token-missing"
            }
            return route.route.hasPrefix("rua.") ? "rua-api-key-missing" : "masked-api-key"
        }
        vendor.switches = SwitchCase.all
        vendor.plays = ScenarioPlay.all
        vendor.actions = [
            "register-customer partner_entity_id! partner entity email",
            "remove-customer entity!",
            "log-out entity! device_id",
        ]
        vendor.profiles = [
            "error-envelope bare errors-array", "message-style error-page staging", "auth-header required ignored",
            "partner-entity-id must-match any", "device-check enforce off", "bearer-scheme required lenient",
            "registration-token-reuse accept refuse", "exp-number any any", "max-lifetime-seconds off off",
            "leeway-seconds 0 0", "nbf enforce ignore", "profile-dates unix-seconds iso",
            "ping-after-logout expired-token unauthorized", "duplicate-registration fail fail",
            "logout-revokes-core no no", "rua-token-prefix bearer bearer", "rua-user-answers full schema",
            "unknown-entity refuse refuse", "address-required-fields none none", "pan-check any-string any-string",
            "ios-sample-renewal off off",
        ]
        vendor.tokens = [TokenCase.registration, .login, .logout]
        vendor.samples = [Example.apiKeyN, "entity123", Example.device]
        vendor.wrongStates = RezolveLife.wrongStates
        vendor.bounds = [
            BoundCase("phones of a book", most: 1000, beyond: .refused("body-too-large")) { world, _ in
                try await world.call(.post, Example.ada + "/phonebook", .ada, #"{"name":"n","phone":"1234"}"#)
            } count: {
                try await $0.call(.get, Example.ada + "/phonebook", .ada).json["phones"]?.array?.count
            }
        ]
        return vendor
    }()
}

extension TokenCase {
    private static let general = defects(
        form: "masked-signature", algorithm: "masked-signature", signature: "masked-signature",
        expired: "token-expired", early: "masked-not-yet-valid", number: "masked-missing-fields",
        and: [
            "alg-hs256": "masked-signature", "secret-base64-decoded": "masked-signature",
            "missing-rezolve_entity_id": "masked-missing-fields",
            "missing-partner_entity_id": "masked-missing-fields", "missing-typ": nil,
        ])

    private static let loginClaims: [(String, String?)] = [
        ("missing-device_id", "masked-missing-fields"), ("missing-auth", "masked-missing-fields"),
        ("other-user", "masked-other-user"), ("wrong-device", "masked-device-mismatch"),
        ("v2-header-bug", "masked-missing-fields"),
    ]

    private static let refused = ["public-key-as-secret", "secret-hex-decoded", "missing-nbf", "missing-v2"]

    private static let words = ["other-user": "path-entity", "wrong-device": "another-device", "v2-header-bug": "auth"]

    fileprivate static let registration = TokenCase(
        "registration", defects: general + [("other-user", "registration-duplicate")], refused: refused,
        words: ["other-user": "is registered"]
    ) { world, order in
        try await world.register(world.mint("rezolve/registration", order))
    }

    fileprivate static let login = TokenCase(
        "login", defects: general + loginClaims, refused: refused, words: words
    ) { world, order in try await world.addresses(world.mint("rezolve/login", order)) }

    /// A logout token, which has expired already unless the order sets its lifetime.
    fileprivate static let logout = TokenCase(
        "logout", defects: general + loginClaims, refused: refused, words: words
    ) { world, order in
        var order = order
        order["expires_in"] = 1800
        return try await world.addresses(world.mint("rezolve/logout", order))
    }
}

enum RezolveLife {
    static let register = "/v2/credentials/register"
    static let newUser =
        #"{"username":"new@example.test","password":"pass-of-new","email":"new@example.test","firstName":"N"}"#

    static func live(_ world: World) async throws {
        try await world.call(.post, register, .keyN, newUser).expect(201)
        try await world.call(.post, "/v2/credentials/login", .keyN, Example.login).expect(200)
        try await world.call(.post, "/v1/user/logout", .keyN.bearer(Example.jwtAda)).expect(200)
        try await world.call(.put, Example.ada + "/profile", .ada, #"{"title":"Dr","use_data_for_marketing":true}"#)
            .expect(200)
        for name in ["B", "A"] {
            try await world.call(.post, Example.ada + "/phonebook", .ada, #"{"name":"\#(name)","phone":"+1555"}"#)
                .expect(201)
        }
        try await world.call(.post, Example.addresses, .ada, #"{"city":"Brno"}"#).expect(201)
        try await world.call(.post, Example.ada + "/wallet", .ada, Example.newCard).expect(201)
        try await world.control(.post, "state/rezolve/remove-customer", #"{"entity":"entity456"}"#)
        try await world.advance("1500ms")
        try await world.call(.post, "/v2/credentials/register/guest", .keyN).expect(200)
    }

    static func seen(_ world: World) async throws -> [String] {
        var texts: [String] = []
        for name in ["profile", "phonebook", "addressbook", "wallet", "publickey"] {
            texts.append(try await world.call(.get, "\(Example.ada)/\(name)", .ada).text)
        }
        for id in 1001...1003 {
            texts.append(try await world.call(.get, "/v1/credentials/confirm/000000/\(id)", .keyN).text)
        }
        let ben = try await world.mint("rezolve/login", ["customer": "entity456"])
        texts.append(try await world.call(.get, Example.ben + "/profile", .core(ben)).failure ?? "there")
        return texts
    }

    /// The new user's key after a password sign-in, and whether the logout takes effect.
    static func kept(_ world: World) async throws -> [String] {
        let key = try await publicKey(ofUser: "new@example.test", password: "pass-of-new", in: world)
        try await world.call(.post, "/v2/credentials/login", .keyN, Example.login).expect(200)
        try await world.set("rezolve.logout-revokes-core", "yes")
        let access = try await world.call(.get, Example.ada + "/profile", .ada).failure ?? "open"
        try await world.set("rezolve.logout-revokes-core", "no")
        return [key, access]
    }

    static func publicKey(ofUser name: String, password: String, in world: World) async throws -> String {
        let login = try await world.call(
            .post, "/v2/credentials/login", .keyN,
            #"{"username":"\#(name)","password":"\#(password)","deviceId":"\#(Example.device)"}"#)
        login.expect(200)
        let entity = try #require(login.json["sdkEntity"]?.string)
        let token = try await world.mint("rezolve/login", ["customer": .string(entity)])
        let key = try await world.call(.get, Example.customer(entity) + "/publickey", .core(token))
        key.expect(200)
        return key.text
    }

    static let wrongStates = [
        WrongState("{}", complaint: "member “customers” is missing"),
        WrongState(#"{"customers":{},"users":[]}"#, complaint: "customers: found a mapping; expected a list"),
        WrongState(
            #"{"customers":[],"users":[],"user":1}"#, complaint: "user: unknown member “user”; did you mean “users”?"),
        WrongState(
            #"{"customers":[{"entity":"e","partner":"317","partner_entity_id":"u","created":1},{"entity":7}],"users":[]}"#,
            complaint: "customers[1].entity: found the number 7; expected a string"),
        WrongState(
            #"{"customers":[{"entity":"e","partner":"318","partner_entity_id":"u","created":1}],"users":[]}"#,
            complaint: "customers[0]: customer e has the unknown partner 318"),
        WrongState(
            #"{"customers":[{"entity":"e","partner":"317","partner_entity_id":"u","created":-1}],"users":[]}"#,
            complaint: "customers[0].created: the number is not a Unix time from 1970 to 9999 in seconds"),
        WrongState(
            #"{"customers":[{"entity":"e","partner":"317","partner_entity_id":"u","created":1,"addresses":[{"id":"a","phone_id":"p"}]}],"users":[]}"#,
            complaint: "customers[0].addresses[0]: address a has the unknown phone p"),
        WrongState(
            #"{"customers":[{"entity":"e","partner":"317","partner_entity_id":"u","created":1,"private_key":"x"}],"users":[]}"#,
            complaint: "customers[0].private_key: is not a private key in PEM"),
        WrongState(
            #"{"customers":[],"users":[{"id":1,"customer":"entity123","username":"u"}]}"#,
            complaint: "users[0]: the customer entity123 is unknown"),
        WrongState(
            #"{"customers":[{"entity":"e","partner":"317","partner_entity_id":"u","created":1,"profile":{"name":"a","name":"b"}}],"users":[]}"#,
            complaint: "customers[0].profile: the member name occurs twice"),
        WrongState(
            #"{"customers":[{"entity":"e","partner":"317","partner_entity_id":"u","created":1}],"users":[{"id":1,"customer":"e","username":"a","times_logged_in":9223372036854775807}]}"#,
            complaint: "users[0].times_logged_in: 9223372036854775807 is not between"),
        WrongState(
            #"{"customers":[{"entity":"e","partner":"317","partner_entity_id":"u","created":1},{"entity":"f","partner":"317","partner_entity_id":"v","created":1}],"users":[{"id":1,"customer":"e","username":"a"},{"id":2,"customer":"f","username":"a"}]}"#,
            complaint: "users[1]: another user of partner 317 signs in with “a” too"),
        WrongState(
            #"{"customers":[{"entity":":NONE:","partner":"317","partner_entity_id":"u","created":1}],"users":[]}"#,
            complaint: "customers[0]: “:NONE:” cannot be an entity id"),
        WrongState(
            #"{"customers":[{"entity":"e","partner":"317","partner_entity_id":"u","created":1,"phones":[{"id":"p","name":"a","phone":"1"},{"id":"p","name":"b","phone":"2"}]}],"users":[]}"#,
            complaint: "customers[0]: two records of customer e have the same id"),
        WrongState(
            #"{"customers":[],"users":[],"last_user_id":-1}"#, complaint: "last_user_id: user id -1 is not between"),
        WrongState(
            #"{"customers":[],"users":[],"last_user_id":9223372036854775807}"#,
            complaint: "last_user_id: user id 9223372036854775807 is not between 0 and 2000000000"),
    ]
}
