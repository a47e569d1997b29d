import JSON
import Support
import Testing

/// A successful call of each route.
extension RouteCase {
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

    private static let uploadTrip: @Sendable (World) async throws -> [String: String] = {
        try await $0.call(.post, "/ims/v1/trips", .ada, Example.trip).expect(201)
        return [:]
    }

    static let all = operatorRoutes + ownRoutes + openRoutes

    private static let operatorRoutes: [RouteCase] = [
        RouteCase(
            "issuers.create", .post, "/ims/v1/issuers", fields: .operatorKey,
            body: Example.issuer("new", iss: "https://new.example.test", try Example.publicKey(2)), status: 201),
        RouteCase("issuers.list", .get, "/ims/v1/issuers", fields: .operatorKey),
        RouteCase("issuers.get", .get, "/ims/v1/issuers/uat", fields: .operatorKey, answer: uat),
        RouteCase(
            "issuers.replace", .put, "/ims/v1/issuers/uat", fields: .operatorKey,
            body: Example.issuer("uat", iss: Forged.Issuer.uat.rawValue, try Example.publicKey()), answer: uat),
        RouteCase(
            "issuers.refresh", .post, "/ims/v1/issuers/rotating/refresh", fields: .operatorKey, answer: refreshed),
        RouteCase("issuers.refresh", .post, "/ims/v1/issuers/uat/refresh", fields: .operatorKey, answer: uat),
        RouteCase("issuers.delete", .delete, "/ims/v1/issuers/uat", fields: .operatorKey, status: 204, answer: ""),
        RouteCase(
            "users.enroll", .post, "/ims/v1/users", fields: .operatorKey,
            body:
                #"{"tenant":"demo","email":"dora@example.test","enterprise_id":"EMP-0005","activation_id":"dora.driver"}"#,
            status: 201),
        RouteCase(
            "users.import", .post, "/ims/v1/users/import?tenant=demo", fields: .operatorKey,
            body: "enterprise_id,email,activate\nEMP-0005,dora@example.test,true\n,emil@example.test,\n"
                + "EMP-0001,x@example.test,false\n",
            answer: #"{"enrolled":2,"activated":1,"errors":[{"line":4,"code":"enrollment-exists"}]}"#),
        RouteCase(
            "users.list", .get, "/ims/v1/users?state=active&tenant=demo", fields: .operatorKey,
            answer: #"{"users":[\#(user("active"))]}"#),
        RouteCase("users.get", .get, "/ims/v1/users/usr-1", fields: .operatorKey, answer: user("active")),
        RouteCase(
            "users.activate", .post, "/ims/v1/users/usr-1/activate", fields: .operatorKey, answer: user("active")
        ) {
            try await $0.call(.post, "/ims/v1/users/usr-1/deactivate", .operatorKey).expect(200)
            return [:]
        },
        RouteCase(
            "users.deactivate", .post, "/ims/v1/users/usr-1/deactivate", fields: .operatorKey,
            answer: user("deactivated", deactivated: "1800000000")),
        RouteCase("users.new-code", .post, "/ims/v1/users/usr-2/activation-code", fields: .operatorKey),
    ]

    private static let ownRoutes: [RouteCase] = [
        RouteCase(
            "activation.submit", .post, "/ims/v1/activation",
            fields: try .bearer(Forged(.uat, [("sub", "EMP-0002")]).text()), body: Example.activation,
            answer: #"{"id":"usr-2","enterprise_id":"EMP-0002","email":"ben@example.test","first_name":"Ben","#
                + #""last_name":"","phone":"","locale":"en","state":"active","activated_at":1800000000}"#),
        RouteCase("me.get", .get, Example.me, fields: try .ada, answer: Example.ada),
        RouteCase(
            "me.update", .patch, Example.me, fields: try .ada, body: #"{"phone":"+15550100","state":7}"#,
            answer: Example.ada.replacing(#""phone":"""#, with: #""phone":"+15550100""#)),
        RouteCase(
            "trips.upload", .post, "/ims/v1/trips", fields: try .ada, body: Example.trip, status: 201,
            answer: Example.tripAnswer),
        RouteCase(
            "trips.list", .get, "/ims/v1/trips", fields: try .ada,
            answer: #"{"trips":[\#(Example.tripAnswer)],"next_cursor":null}"#, prepare: uploadTrip),
        RouteCase(
            "trips.get", .get, "/ims/v1/trips/t-1", fields: try .ada,
            answer: String(Example.tripAnswer.dropLast()) + #","points":[]}"#, prepare: uploadTrip),
        RouteCase(
            "summary.get", .get, "/ims/v1/driving-summary", fields: try .ada,
            answer: #"{"trip_count":0,"distance_meters":0,"duration_seconds":0,"first_trip_at":null,"#
                + #""last_trip_at":null}"#),
        RouteCase(
            "invitations.send", .post, "/ims/v1/invitations", fields: try .ada, body: Example.invitation,
            status: 201,
            answer: sent),
        RouteCase(
            "invitations.list", .get, "/ims/v1/invitations", fields: try .ada,
            answer: #"{"invitations":[\#(sent)]}"#
        ) {
            try await $0.call(.post, "/ims/v1/invitations", .ada, Example.invitation).expect(201)
            return [:]
        },
    ]

    private static let openRoutes: [RouteCase] = [
        RouteCase(
            "dev-issuer.jwks", .get, "/ims/dev-issuers/rotating/jwks.json"),
        RouteCase(
            "dev-issuer.jwks", .get, "/ims/dev-issuers/cognito/.well-known/jwks.json"),
        RouteCase(
            "dev-issuer.certs", .get, "/ims/dev-issuers/firebase/certs"),
    ]
}
