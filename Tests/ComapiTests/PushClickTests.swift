import JSON
import Support
import Testing

/// Pushes that report being opened.
@Suite("Comapi's push clicks")
struct PushClickTests {
    private static let fcm = #"{"fcm":{"package":"p","registrationId":"r"}}"#

    private func pushes(_ world: World) async throws -> [JSON] {
        try await world.control(.get, "state/comapi").json["spaces"]?[0]?["pushes"]?.array ?? []
    }

    /// Sends bob a push with this alert.
    private func push(_ alert: String, _ world: World, host: World.Fields = []) async throws -> JSON {
        let (mira, bob) = try await world.trip()
        try await world.call(.put, Example.path("/sessions/\(bob.id)/push"), bob.fields, Self.fcm).expect(200)
        let message = #"{"parts":[{"data":"Hi"}],"alert":\#(alert)}"#
        try await world.call(
            .post, Example.path("/conversations/trip-42/messages"), mira.fields + [("host", "backend.test:8080")],
            message
        ).expect(200)
        return try #require(try await pushes(world).last)
    }

    /// The link in a push.
    private func link(_ push: JSON) throws -> JSON {
        try JSON.parse(Array((push["data"]?["dd_deepLink"]?.string ?? "").utf8))
    }

    @Test("the tracking URL of a push leads to a route that counts, without a token", arguments: Depth.allCases)
    func click(_ depth: Depth) async throws {
        let world = try await World.comapi(depth)
        let host: World.Fields = depth == .pipeline ? [("host", "backend.test:8080")] : []
        let push = try await push(#"{"title":"T"}"#, world, host: host)
        #expect(push["clicks"] == 0)
        let url = try #require(try link(push)["trackingUrl"]?.string)
        let id = try #require(push["id"]?.string)
        let path = Example.path("/pushes/\(id)/click")
        if depth == .pipeline { #expect(url == "http://backend.test:8080/~\(world.name)\(path)") }
        for _ in 1...2 {
            let answer = try await world.call(.get, path)
            answer.expect(200, "")
            #expect(answer.entry?.record.route == "push.click")
            #expect(answer["access-control-allow-origin"] == "*")
        }
        let clicked = try #require(try await pushes(world).last)
        #expect(clicked["clicks"] == 2)
        #expect(clicked["clickedOn"] == "2027-01-01T00:00:00.000Z")
        let verdict = try await world.control(
            .post, "journal/verify", #"{"where":{"route":"push.click"},"exactly":2}"#)
        #expect(verdict.status == 200, "\(verdict.text)")
    }

    @Test("a link that the sender gave keeps its url")
    func deepLink() async throws {
        let world = try await World.comapi()
        let alert: JSON = [
            "platforms": ["fcm": ["data": ["dd_deepLink": #"{"url":"https://shop.test/x"}"#]]]
        ]
        let link = try link(try await push(alert.text, world))
        #expect(link["url"] == "https://shop.test/x")
        #expect(link["trackingUrl"]?.string?.hasSuffix("/click") == true)
    }

    @Test("a click on nothing is refused, and so is one in another space")
    func unknown() async throws {
        let world = try await World.comapi()
        let answer = try await world.call(.get, Example.path("/pushes/none/click"))
        answer.expect(404, Example.notFound, "unknown-push")
        #expect(answer.entry?.explanation?.contains("no push of the space has the id none") == true)
        let id = try await push("{}", world)["id"]?.string ?? ""
        try await world.call(.get, Example.path("/pushes/\(id)/click", in: Example.b))
            .expect(404, Example.notFound, "unknown-push")
    }

    @Test("clicks survive an export and an import")
    func export() async throws {
        let world = try await World.comapi()
        let id = try await push("{}", world)["id"]?.string ?? ""
        try await world.call(.get, Example.path("/pushes/\(id)/click")).expect(200)
        let state = try await world.control(.get, "state/comapi")
        let other = try await World.comapi()
        #expect(try await other.control(.put, "state/comapi", state.text).status == 200)
        #expect(try await pushes(other).last?["clicks"] == 1)
    }
}
