import HTTPTypes
import JSON
import Support
import Testing

@Suite("Bloomreach's routes")
struct RouteTests {
    @Test("the paths of streams are observed, whatever is documented of those of projects")
    func evidence() async throws {
        let bloomreach = try #require(try await World().emulator.vendors.first { $0.identity.id == "bloomreach" })
        for route in bloomreach.routes {
            for endpoint in route.endpoints
            where endpoint.pattern.contains("/streams/") || endpoint.pattern.hasPrefix("/track/u/") {
                #expect(route.evidence(of: endpoint) == .observed, "\(route.id) at \(endpoint)")
            }
        }
        let documented = bloomreach.routes.flatMap { route in
            route.endpoints.filter { route.evidence(of: $0) == .documented }.map { _ in route.id }
        }
        #expect(
            documented == [
                "track.customers", "track.events", "track.clicks", "selfcheck.send", "data.attributes",
                "appinbox.fetch", "appinbox.markasread", "inapp.messages", "consents.list",
            ])
    }

    @Test(
        "several slashes at the start count as one, also behind a sandbox's prefix",
        arguments: ["/", "//", "/~slashes/", "/~slashes//"])
    func leadingSlashes(_ prefix: String) async throws {
        let world = try await World()
        let body = Example.body(Example.guest, #""event_type":"view""#)
        let answer = try await world.bare(.post, prefix + Example.events, .token, body)
        answer.expect(200, Example.tracked)
    }

    @Test(
        "an empty segment anywhere else is none of the paths",
        arguments: [
            "/track/v2/projects//customers", "/track//v2/projects/demo-project-1/customers",
            "/track/v2/projects/demo-project-1/customers/", "/webxp/projects//appinbox/fetch",
        ])
    func emptySegment(_ path: String) async throws {
        let world = try await World()
        try await world.call(.post, path, .token, Example.body(Example.ana)).expect(
            404, Example.notFound, "unknown-route")
    }

    @Test(
        "what is not emulated is not found below any prefix",
        arguments: [
            "/track/v3/x", "/data/v2/projects/demo-project-1/catalogs", "/webxp", "/wxstatic/x", "/campaigns/x",
            "/data/v2/projects/demo-project-1/analyses/funnel", "/optimization/projects/x/recommend/user",
        ])
    func notEmulated(_ path: String) async throws {
        try await World().call(.get, path, .token).expect(404, Example.notFound, "unknown-route")
    }

    @Test("queries that nobody knows, a key in the query, and the case of a scheme do not matter")
    func tolerance() async throws {
        let world = try await World()
        let body = Example.body(Example.ana, #""event_type":"view""#)
        try await world.call(.post, Example.events + "?x=1", .token, body).expect(200)
        try await world.call(.post, Example.events + "?access_token=pubkey-demo-1", [], body).expect(200)
        try await world.call(.post, Example.events, .authorization("tOKEN   pubkey-demo-1 "), body).expect(200)
        // If a header is present, the query is ignored.
        try await world.call(
            .post, Example.events + "?access_token=pubkey-demo-1", .authorization("Token nope"), body
        ).expect(401, Example.error("access key not found"), "unknown-key")
    }

    @Test("each answer has an id of its own, the same again with the same seed", arguments: Depth.allCases)
    func requestIDs(_ depth: Depth) async throws {
        var ids: [[String?]] = []
        for _ in 0..<2 {
            let world = try await World(depth)
            try await world.set(seed: 7)
            let found = try await world.call(.get, Example.project + "/system/time", .token)
            let missing = try await world.call(.get, "/webxp/nothing", .token)
            ids.append([found["x-request-id"], missing["x-request-id"]])
        }
        #expect(ids[0] == ids[1])
        #expect(ids[0][0] != nil && ids[0][0] != ids[0][1])
    }

    @Test("a cookie of a path is compared as it is, decoded once")
    func cookies() async throws {
        let world = try await World()
        let path = "/webxp/projects/demo-project-1/cookies/A%2525%20b/link-ids"
        try await world.call(.post, path, .token, #"{"external_ids":{"registered":"x"}}"#).expect(200, Example.done)
        #expect(try await world.customer(#"{"cookie":"A%25 b"}"#).json["ids"] == ["registered": "x"])
        #expect(try await world.customer(#"{"cookie":"a%25 b"}"#).status != 200)
    }

    @Test("the self-check takes the id of a stream as project_id, as the vendor's pages print it")
    func selfCheckOfStream() async throws {
        let world = try await World()
        let path = "/campaigns/send-self-check-notification?project_id=demo-stream-1"
        let body = Example.body(Example.ana, #""platform":"ios","push_notification_id":"t""#)
        try await world.call(.post, path, [], body).expect(200, Example.done)
        try await world.call(.post, path, .token, body).expect(401, Example.notAccepted, "credential-not-accepted")
        try await world.call(.post, "/campaigns/send-self-check-notification", .token, body).expect(
            400, Example.error("Invalid project id"), "invalid-project-id")
    }
}
