import HTTPTypes
import JSON
import Support
import Testing

@Suite("Rezolve's routes")
struct RouteTests {
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
}
