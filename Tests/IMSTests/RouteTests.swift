import HTTPTypes
import JSON
import Support
import Testing

/// A call that every route answers with success.
struct RouteCase: Sendable, CustomStringConvertible {
    let id: String
    let method: HTTPRequest.Method
    let path: String
    var fields: @Sendable () throws -> World.Fields = { .bearer(try Forged().text()) }
    var body: @Sendable () throws -> String = { "" }
    let status: Int
    /// The exact content, where nothing random is in it.
    var answer: String?
    /// Makes what the call needs.
    var prepare: @Sendable (World) async throws -> Void = { _ in }

    var description: String { "\(id) \(path)" }

    /// A call of an operator.
    static func operated(
        _ id: String, _ method: HTTPRequest.Method, _ path: String, _ status: Int = 200,
        answer: String? = nil, body: @escaping @Sendable () throws -> String = { "" }
    ) -> RouteCase {
        RouteCase(
            id: id, method: method, path: path, fields: { .operatorKey }, body: body, status: status, answer: answer)
    }
}

@Suite("IMS's routes")
struct RouteTests {
    @Test("every route answers with its status and its body", arguments: Depth.allCases, routes)
    func route(_ depth: Depth, _ route: RouteCase) async throws {
        let world = try await World(depth)
        try await route.prepare(world)
        let answer = try await world.call(route.method, route.path, try route.fields(), try route.body())
        answer.expect(route.status, route.answer)
        #expect(answer.entry?.record.route == route.id)
        #expect(answer["content-type"] == (route.status == 204 ? nil : "application/json; charset=utf-8"))
    }

    @Test("no route is without a case, and none has a place that the cases do not show")
    func coverage() async throws {
        let ims = try #require(try await World().emulator.vendors.first { $0.identity.id == "ims" })
        #expect(Set(Self.routes.map(\.id)) == Set(ims.routes.map(\.id)))
        for route in ims.routes { #expect(Self.routes.count { $0.id == route.id } >= route.endpoints.count) }
    }

    @Test("HEAD is answered as GET is", arguments: Depth.allCases)
    func head(_ depth: Depth) async throws {
        let answer = try await World(depth).call(.head, Example.me, .bearer(try Forged().text()))
        #expect(answer.status == 200)
        #expect(answer.entry?.record.route == "me.get")
    }

    @Test(
        "what is not there is not found in the vendor's shape",
        arguments: ["/ims", "/ims/", "/ims/v1", "/ims/v1/me/", "/ims/v2/me", "/ims/dev-issuers", "/ims/v1/vehicles"])
    func notThere(_ path: String) async throws {
        try await World().call(.get, path).expectRefusal(404, "route-not-found")
    }

    @Test("the scheme has no case, and blanks before the token are many", arguments: ["bearer ", "BEARER   "])
    func scheme(_ scheme: String) async throws {
        let token = try Forged().text()
        try await World().call(.get, Example.me, [("authorization", scheme + token)]).expect(200)
    }

    @Test("a user is found by id, by enterprise id, and by that of a tenant")
    func users() async throws {
        let world = try await World()
        let other = #"{"tenant":"other","email":"x@example.test","enterprise_id":"EMP-0001","activate":true}"#
        try await world.call(.post, "/ims/v1/users", .operatorKey, other).expect(201)
        for (path, id) in [
            ("usr-1", "usr-1"), ("EMP-0001", "usr-1"), ("EMP%2D0001?tenant=other", "usr-5"),
            ("usr-5?tenant=demo", "usr-5"),
        ] {
            let answer = try await world.call(.get, "/ims/v1/users/" + path, .operatorKey)
            #expect(answer.json["id"]?.string == id, "\(path): \(answer.text)")
        }
        for path in ["usr-01", "usr-", "EMP-0001?tenant=none", "emp-0001"] {
            try await world.call(.get, "/ims/v1/users/" + path, .operatorKey).expectRefusal(404, "user-not-found")
        }
    }

    private static let uat =
        #"{"name":"uat","issuer":"https://auth.example.test/uat","tenant":"demo","environment":"uat","#
        + #""preset":"standard","keys":{"type":"pem-public-key","url":null,"kids":[null],"fetched_at":null,"#
        + #""expires_at":null},"require_kid":false,"require_typ":true,"require_jti":false,"audience":null,"#
        + #""token_use":null,"max_lifetime_seconds":null,"replay":"off","certificate_dates":"warn","#
        + #""expiry_leeway_seconds":0,"not_before_leeway_seconds":30,"created_at":1800000000,"warnings":[]}"#

    private static let refreshed =
        #"{"name":"rotating","issuer":"https://login.example.test","tenant":"demo","environment":"uat","#
        + #""preset":"standard","keys":{"type":"jwks-url","url":"{self}/ims/dev-issuers/rotating/jwks.json","#
        + #""kids":["k2"],"fetched_at":1800000000,"expires_at":1800000600},"require_kid":false,"#
        + #""require_typ":true,"require_jti":false,"audience":null,"token_use":null,"max_lifetime_seconds":null,"#
        + #""replay":"off","certificate_dates":"warn","expiry_leeway_seconds":0,"not_before_leeway_seconds":30,"#
        + #""created_at":1800000000,"warnings":[]}"#

    private static func user(_ state: String, activated: String = "1800000000", deactivated: String = "null") -> String
    {
        #"{"id":"usr-1","tenant":"demo","enterprise_id":"EMP-0001","activation_id":"ada.driver","#
            + #""email":"ada@example.test","first_name":"Ada","last_name":"L","state":"\#(state)","#
            + #""activation_code":null,"activation_code_expires_at":null,"created_at":1800000000,"#
            + #""activated_at":\#(activated),"deactivated_at":\#(deactivated)}"#
    }

    private static let sent =
        String(Example.invitation.dropLast())
        + #","invitation_id":"inv-1","from_user_id":"usr-1","status":"sent","created_at":1800000000}"#

    private static let uploadTrip: @Sendable (World) async throws -> Void = {
        try await $0.call(.post, "/ims/v1/trips", .bearer(try Forged().text()), Example.trip).expect(201)
    }

    private static let routes: [RouteCase] = operatorRoutes + ownRoutes + openRoutes

    private static let operatorRoutes: [RouteCase] = [
        .operated("issuers.create", .post, "/ims/v1/issuers", 201) {
            Example.issuer("new", iss: "https://new.example.test", try Example.publicKey(2))
        },
        .operated("issuers.list", .get, "/ims/v1/issuers"),
        .operated("issuers.get", .get, "/ims/v1/issuers/uat", answer: uat),
        .operated("issuers.replace", .put, "/ims/v1/issuers/uat", answer: uat) {
            Example.issuer("uat", iss: Forged.Issuer.uat.rawValue, try Example.publicKey())
        },
        .operated("issuers.refresh", .post, "/ims/v1/issuers/rotating/refresh", answer: refreshed),
        .operated("issuers.refresh", .post, "/ims/v1/issuers/uat/refresh", answer: uat),
        .operated("issuers.delete", .delete, "/ims/v1/issuers/uat", 204, answer: ""),
        .operated("users.enroll", .post, "/ims/v1/users", 201) {
            #"{"tenant":"demo","email":"dora@example.test","enterprise_id":"EMP-0005","activation_id":"dora.driver"}"#
        },
        .operated(
            "users.import", .post, "/ims/v1/users/import?tenant=demo",
            answer: #"{"enrolled":2,"activated":1,"errors":[{"line":4,"code":"enrollment-exists"}]}"#
        ) {
            "enterprise_id,email,activate\nEMP-0005,dora@example.test,true\n,emil@example.test,\n"
                + "EMP-0001,x@example.test,false\n"
        },
        .operated(
            "users.list", .get, "/ims/v1/users?state=active&tenant=demo", answer: #"{"users":[\#(user("active"))]}"#),
        .operated("users.get", .get, "/ims/v1/users/usr-1", answer: user("active")),
        RouteCase(
            id: "users.activate", method: .post, path: "/ims/v1/users/usr-1/activate", fields: { .operatorKey },
            status: 200, answer: user("active")
        ) { try await $0.call(.post, "/ims/v1/users/usr-1/deactivate", .operatorKey).expect(200) },
        .operated(
            "users.deactivate", .post, "/ims/v1/users/usr-1/deactivate",
            answer: user("deactivated", deactivated: "1800000000")),
        .operated("users.new-code", .post, "/ims/v1/users/usr-2/activation-code"),
    ]

    private static let ownRoutes: [RouteCase] = [
        RouteCase(
            id: "activation.submit", method: .post, path: "/ims/v1/activation",
            fields: { .bearer(try Forged(.uat, [("sub", "EMP-0002")]).text()) }, body: { Example.activation },
            status: 200,
            answer: #"{"id":"usr-2","enterprise_id":"EMP-0002","email":"ben@example.test","first_name":"Ben","#
                + #""last_name":"","phone":"","locale":"en","state":"active","activated_at":1800000000}"#),
        RouteCase(id: "me.get", method: .get, path: Example.me, status: 200, answer: Example.ada),
        RouteCase(
            id: "me.update", method: .patch, path: Example.me, body: { #"{"phone":"+15550100","state":7}"# },
            status: 200,
            answer: Example.ada.replacing(#""phone":"""#, with: #""phone":"+15550100""#)),
        RouteCase(
            id: "trips.upload", method: .post, path: "/ims/v1/trips", body: { Example.trip }, status: 201,
            answer: Example.tripAnswer),
        RouteCase(
            id: "trips.list", method: .get, path: "/ims/v1/trips", status: 200,
            answer: #"{"trips":[\#(Example.tripAnswer)],"next_cursor":null}"#, prepare: uploadTrip),
        RouteCase(
            id: "trips.get", method: .get, path: "/ims/v1/trips/t-1", status: 200,
            answer: String(Example.tripAnswer.dropLast()) + #","points":[]}"#, prepare: uploadTrip),
        RouteCase(
            id: "summary.get", method: .get, path: "/ims/v1/driving-summary", status: 200,
            answer: #"{"trip_count":0,"distance_meters":0,"duration_seconds":0,"first_trip_at":null,"#
                + #""last_trip_at":null}"#),
        RouteCase(
            id: "invitations.send", method: .post, path: "/ims/v1/invitations", body: { Example.invitation },
            status: 201,
            answer: sent),
        RouteCase(
            id: "invitations.list", method: .get, path: "/ims/v1/invitations", status: 200,
            answer: #"{"invitations":[\#(sent)]}"#
        ) {
            try await $0.call(.post, "/ims/v1/invitations", .bearer(try Forged().text()), Example.invitation).expect(
                201)
        },
    ]

    private static let openRoutes: [RouteCase] = [
        RouteCase(
            id: "dev-issuer.jwks", method: .get, path: "/ims/dev-issuers/rotating/jwks.json", fields: { [] },
            status: 200),
        RouteCase(
            id: "dev-issuer.jwks", method: .get, path: "/ims/dev-issuers/cognito/.well-known/jwks.json", fields: { [] },
            status: 200),
        RouteCase(
            id: "dev-issuer.certs", method: .get, path: "/ims/dev-issuers/firebase/certs", fields: { [] }, status: 200),
    ]
}
