import HTTPTypes
import JSON
import Support
import Testing

@Suite("IMS's routes")
struct RouteTests {
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
}
