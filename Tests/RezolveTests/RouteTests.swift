import HTTPTypes
import JSON
import Support
import Testing

/// A call that every route answers with success.
struct RouteCase: Sendable, CustomStringConvertible {
    let id: String
    let method: HTTPRequest.Method
    let path: String
    var fields = World.Fields.ada
    var body = ""
    let status: Int
    /// The exact content, where no fresh id is in it.
    var answer: String?
    /// Makes what the call needs and returns its id, which takes the place of `NEW` in path and content.
    var prepare: @Sendable (World) async throws -> String = { _ in "" }

    var description: String { id }
}

@Suite("Rezolve's routes")
struct RouteTests {
    @Test("every route answers with its status and its body", arguments: Depth.allCases, routes)
    func route(_ depth: Depth, _ route: RouteCase) async throws {
        let world = try await World(depth)
        let new = try await route.prepare(world)
        let answer = try await world.call(
            route.method, route.path.replacing("NEW", with: new), route.fields, route.body.replacing("NEW", with: new))
        answer.expect(route.status, route.answer)
        #expect(answer.entry?.record.route == route.id)
        #expect(answer["content-type"] == (route.status == 204 ? nil : "application/json; charset=utf-8"))
    }

    @Test("no route is without a case, and none has a place that the cases do not show")
    func coverage() async throws {
        let rezolve = try #require(try await World().emulator.vendors.first { $0.identity.id == "rezolve" })
        #expect(Set(Self.routes.map(\.id)) == Set(rezolve.routes.map(\.id)))
        #expect(rezolve.routes.allSatisfy { $0.endpoints.count == 1 }, "a second endpoint needs a second case")
    }

    @Test("a guest signs in through either call, and the sign-ins are counted together")
    func guestSignIns() async throws {
        let world = try await World()
        let guest = try await world.call(.post, "/v2/credentials/register/guest", .keyN)
        let entity = try #require(guest.json["sdkEntity"]?.string)
        let body = #"{"deviceId":"dev-1","entityId":"\#(entity)"}"#
        let first = try await world.call(.post, "/v2/credentials/register/guest", .keyN, body)
        first.expect(200)
        #expect(first.json["timesLoggedIn"] == 1)
        #expect(first["authorization"]?.hasPrefix("Bearer ") == true)
        let second = try await world.call(
            .post, "/api/v2/authentication/login/guest", .keyN.bearer(Example.regNew), body)
        second.expect(200)
        #expect(second.json["timesLoggedIn"] == 2)
    }

    @Test("HEAD is answered as GET is", arguments: Depth.allCases)
    func head(_ depth: Depth) async throws {
        let world = try await World(depth)
        let answer = try await world.call(.head, Example.addresses, .ada)
        #expect(answer.status == 200)
        #expect(answer.entry?.record.route == "addressbook.list")
    }

    @Test(
        "a path is found through repeated slashes, a slash at the end and escapes",
        arguments: [
            "/api//v1/partner/317//customer/entity123/addressbook",
            "/api/v1/partner/317/customer/entity123/addressbook/",
            "/api/v1/partner/317/customer/entity%3123/addressbook",
            "//api/v1/partner/317/customer/entity123/addressbook",
            "/api/v1/partner/317/customer/entity123/addressbook?page=1",
        ])
    func spellings(_ path: String) async throws {
        let world = try await World()
        try await world.call(.get, path, .ada).expect(200, "[\(Example.address1)]")
    }

    private static let commerce =
        " belongs to the commerce part of Rezolve, which is not emulated; expected a path that “understudy routes” lists"

    @Test(
        "the commerce part says that it is not offered, whatever the method",
        arguments: [
            "/api/v2/partner/317/customer/entity123/cart", "/api/v3/partner", "/api/v4/partner/317/orders",
            "/api/v1/device", "/admin/inventory/x", "/api/v1/search", "/api/v1/search/products?q=x",
            "/api/v3/external/callback", "//api/v1//device/",
        ])
    func notOffered(_ path: String) async throws {
        let world = try await World()
        for method in [HTTPRequest.Method.get, .post] {
            let answer = try await world.call(method, path, .ada)
            answer.expect(404, Example.notFound, "route-not-offered")
            let reason = answer.entry?.explanation ?? ""
            #expect(reason.hasSuffix(Self.commerce), "\(reason)")
        }
    }

    @Test(
        "below every other prefix, what is not there is not found in the vendor's shape",
        arguments: [
            "/api/v1/authentication/other", "/api/v2/authentication", "/api/v1/partner/317/cart",
            "/v1/credentials/other", "/v2/credentials/other", "/v1/user",
        ])
    func notEmulated(_ path: String) async throws {
        let world = try await World()
        try await world.call(.get, path, .ada).expect(404, Example.notFound, "route-not-found")
    }

    @Test("another method on a known path is not found, never 405", arguments: ["PATCH", "DELETE", "POST", "OPTIONS"])
    func otherMethod(_ method: String) async throws {
        let world = try await World()
        let answer = try await world.call(try #require(.init(method)), Example.ada + "/publickey", .ada)
        answer.expect(404, Example.notFound, "route-not-found")
        #expect(answer["allow"] == nil)
    }

    @Test("the type of the content and strange languages do not matter")
    func ignoredFields() async throws {
        let world = try await World()
        let fields = World.Fields.ada + [("content-type", "text/plain"), ("accept-language", "en;q=-1")]
        try await world.call(.post, Example.ada + "/phonebook", fields, #"{"name":"Work","phone":"+15550102"}"#)
            .expect(201)
    }

    private static let profile =
        #"{"id":"entity123","entity_id":"entity123","title":"","name":"Ada L","first_name":"Ada","last_name":"L","#
        + #""email":"ada@example.test","phone":null,"country_code":null,"metadata":null,"timezone":"GMT","#
        + #""use_data_for_marketing":false,"devices":[],"date_created":1800000000,"date_updated":1800000000}"#

    private static let email = #"{"email":"new@example.test"}"#

    private static let routes: [RouteCase] = [
        RouteCase(
            id: "register", method: .post, path: "/api/v1/authentication/register",
            fields: .keyN.bearer(Example.regNew), body: email, status: 200),
        RouteCase(
            id: "register-v2", method: .post, path: "/api/v2/authentication/register",
            fields: .keyN.bearer(Example.regNew), body: email, status: 200),
        RouteCase(
            id: "guest.register", method: .post, path: "/api/v2/authentication/register/guest", fields: .keyN,
            status: 200),
        RouteCase(
            id: "guest.login", method: .post, path: "/api/v2/authentication/login/guest",
            fields: .keyN.bearer(Example.regNew), body: #"{"deviceId":"dev-1","entityId":"NEW"}"#, status: 200
        ) { try await $0.call(.post, "/api/v2/authentication/register/guest", .keyN).json["sdkEntity"]?.string ?? "" },
        RouteCase(id: "publickey.get", method: .get, path: Example.ada + "/publickey", status: 200),
        RouteCase(id: "profile.get", method: .get, path: Example.ada + "/profile", status: 200, answer: profile),
        RouteCase(
            id: "profile.update", method: .put, path: Example.ada + "/profile", body: "{}", status: 200, answer: profile
        ),
        RouteCase(
            id: "phonebook.list", method: .get, path: Example.ada + "/phonebook", status: 200,
            answer: #"{"phones":[\#(Example.phone1)]}"#),
        RouteCase(
            id: "phonebook.create", method: .post, path: Example.ada + "/phonebook",
            body: #"{"name":"Work","phone":"+15550102"}"#, status: 201),
        RouteCase(
            id: "phonebook.get", method: .get, path: Example.ada + "/phonebook/phone-1", status: 200,
            answer: Example.phone1),
        RouteCase(
            id: "phonebook.update", method: .put, path: Example.ada + "/phonebook/phone-1",
            body: #"{"id":"ignored","name":"Work","phone":"+15550102"}"#, status: 200,
            answer: #"{"id":"phone-1","name":"Work","phone":"+15550102"}"#),
        RouteCase(
            id: "phonebook.delete", method: .delete, path: Example.ada + "/phonebook/NEW", status: 204, answer: ""
        ) {
            try await $0.call(.post, Example.ada + "/phonebook", .ada, #"{"name":"Work","phone":"+15550102"}"#)
                .json["id"]?.string ?? ""
        },
        RouteCase(
            id: "addressbook.list", method: .get, path: Example.addresses, status: 200,
            answer: "[\(Example.address1)]"),
        RouteCase(id: "addressbook.create", method: .post, path: Example.addresses, body: "{}", status: 201),
        RouteCase(
            id: "addressbook.get", method: .get, path: Example.addresses + "/address-1", status: 200,
            answer: Example.address1),
        RouteCase(
            id: "addressbook.update", method: .put, path: Example.addresses + "/address-1",
            body: #"{"line1":"3 Test Street","line2":"c/o Ben","country_alpha2":"CZ","phone_book_id":"phone-1"}"#,
            status: 200,
            answer: #"{"id":"address-1","short_name":"","full_name":"","line_1":"3 Test Street","line_2":"c/o Ben","#
                + #""city":"","state":"","zip":"","country":"","country_alpha2":null,"phone_id":"phone-1"}"#),
        RouteCase(
            id: "addressbook.delete", method: .delete, path: Example.addresses + "/NEW", status: 204, answer: ""
        ) { try await $0.call(.post, Example.addresses, .ada, "{}").json["id"]?.string ?? "" },
        RouteCase(
            id: "wallet.list", method: .get, path: Example.ada + "/wallet", status: 200, answer: "[\(Example.card1)]"),
        RouteCase(
            id: "wallet.create", method: .post, path: Example.ada + "/wallet", body: Example.newCard, status: 201),
        RouteCase(
            id: "wallet.get", method: .get, path: Example.ada + "/wallet/card-1", status: 200, answer: Example.card1),
        RouteCase(
            id: "wallet.update", method: .put, path: Example.ada + "/wallet/card-1",
            body: #"{"short_name":"Other","name_on_card":"A L","address_id":"address-1","pan4":"1111"}"#, status: 200,
            answer: #"{"id":"card-1","type":"credit","brand":"visa","pan6":"420000","pan4":"1111","#
                + #""short_name":"Other","name_on_card":"A L","valid_from":"1026","expires_on":"1030","#
                + #""address_id":"address-1"}"#),
        RouteCase(
            id: "wallet.delete", method: .delete, path: Example.ada + "/wallet/card-1", status: 204, answer: ""),
        RouteCase(
            id: "rua.register", method: .post, path: "/v2/credentials/register", fields: .keyN,
            body: #"{"password":"not-a-secret-2","phone":"+15550101"}"#, status: 201),
        RouteCase(
            id: "rua.confirm", method: .get, path: "/v1/credentials/confirm/000000/1001", fields: .keyN, status: 200,
            answer: Example.ruaAda(timesLoggedIn: "null")),
        RouteCase(
            id: "rua.login", method: .post, path: "/v2/credentials/login", fields: .keyN, body: Example.login,
            status: 200, answer: Example.ruaAda(timesLoggedIn: "1")),
        RouteCase(
            id: "rua.ping", method: .get, path: "/v2/credentials/ping", fields: .keyN.bearer(Example.jwtAda),
            status: 200),
        RouteCase(
            id: "rua.guest", method: .post, path: "/v2/credentials/register/guest", fields: .keyN, status: 200),
        RouteCase(
            id: "rua.forgot", method: .post, path: "/v1/credentials/forget", fields: .keyN,
            body: #"{"email":"ada@example.test"}"#, status: 200, answer: "{}"),
        RouteCase(
            id: "rua.details", method: .put, path: "/v1/user/details", fields: .keyN.bearer(Example.jwtAda),
            body: #"{"lastName":"B","username":"ignored"}"#, status: 200,
            answer: Example.ruaAda(timesLoggedIn: "null").replacing(#""lastName":"L""#, with: #""lastName":"B""#)),
        RouteCase(
            id: "rua.password", method: .post, path: "/v1/user/password", fields: .keyN.bearer(Example.jwtAda),
            body: #"{"currentPassword":"not-a-secret-1","newPassword":"not-a-secret-3"}"#, status: 200, answer: "{}"),
        RouteCase(
            id: "rua.logout", method: .post, path: "/v1/user/logout", fields: .keyN.bearer(Example.jwtAda), status: 200,
            answer: "{}"),
    ]
}
