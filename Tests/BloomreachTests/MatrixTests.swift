import Support
import Testing

/// The permission matrix (section 2.5 of the vendor's spec): the credentials each route accepts on paths of a project.
@Suite("Bloomreach's permission matrix")
struct MatrixTests {
    /// A route and its answers to a public key, a customer token, a private key, and no credential.
    struct Row: Sendable, CustomStringConvertible {
        let route: String
        let token: Bool
        let bearer: Bool
        let basic: Bool
        var none = false

        var description: String { route }
    }

    private static let rows: [Row] = [
        Row(route: "track.customers", token: true, bearer: false, basic: true),
        Row(route: "track.events", token: true, bearer: false, basic: true),
        Row(route: "track.clicks", token: true, bearer: false, basic: true),
        Row(route: "track.batch", token: true, bearer: false, basic: true),
        Row(route: "track.system-time", token: true, bearer: false, basic: true),
        Row(route: "data.attributes", token: true, bearer: false, basic: true),
        Row(route: "consents.list", token: true, bearer: false, basic: true),
        Row(route: "inapp.messages", token: true, bearer: false, basic: false),
        Row(route: "appinbox.fetch", token: true, bearer: true, basic: false),
        Row(route: "appinbox.markasread", token: true, bearer: true, basic: false),
        Row(route: "selfcheck.send", token: true, bearer: false, basic: false),
        Row(route: "blocks.static", token: true, bearer: true, basic: false, none: true),
        Row(route: "blocks.personal", token: true, bearer: true, basic: false),
        Row(route: "segments.list", token: true, bearer: true, basic: false),
        Row(route: "ids.link", token: true, bearer: true, basic: false),
        Row(route: "data.export-one", token: false, bearer: false, basic: true),
        Row(route: "data.events", token: false, bearer: false, basic: true),
        Row(route: "data.export", token: false, bearer: false, basic: true),
        Row(route: "data.anonymize", token: false, bearer: false, basic: true),
        Row(route: "mint.customer-token", token: true, bearer: true, basic: true, none: true),
    ]

    @Test("each route takes what its row says", arguments: Depth.allCases, rows)
    func row(_ depth: Depth, _ row: Row) async throws {
        for route in RouteCase.all where route.route == row.route && !route.target.contains("stream") {
            for (fields, isTaken, failure) in [
                (World.Fields.token, row.token, "credential-not-accepted"),
                (.bearer, row.bearer, "credential-not-accepted"), (.basic, row.basic, "credential-not-accepted"),
                ([], row.none, "missing-authorization"),
            ] {
                let world = try await World(depth)
                let answer = try await world.call(route.method, route.target, fields, route.body())
                #expect(answer.failure == (isTaken ? nil : failure), "\(fields) \(answer.text)")
                #expect(answer.status == (isTaken ? 200 : 401), "\(fields)")
            }
        }
    }

    @Test("no route of a project is without a row")
    func coverage() {
        let routes = Set(RouteCase.all.map(\.route)).subtracting(["recommend.user"])
        #expect(Set(Self.rows.map(\.route)) == routes)
    }

    @Test("on a stream, only the app inbox and recommendations need a token", arguments: Depth.allCases)
    func streams(_ depth: Depth) async throws {
        for route in RouteCase.all where route.target.contains("stream") {
            let needsToken = route.route.hasPrefix("appinbox") || route.route == "recommend.user"
            let world = try await World(depth)
            let answer = try await world.call(route.method, route.target, [], route.body())
            #expect(answer.failure == (needsToken ? "stream-token-missing" : nil), "\(route) \(answer.text)")
            try await world.set("bloomreach.require-jwt", "all")
            let other = try await world.call(route.method, route.target, [], route.body())
            #expect(other.failure == "stream-token-missing", "\(route)")
        }
    }

    @Test(
        "what is sent as Authorization and cannot be read",
        arguments: [
            "", "Token", "Bearer ", "Basic", "Basic !!!", "Basic bm9jb2xvbg==", "Digest a", "pubkey-demo-1",
        ])
    func malformed(_ value: String) async throws {
        let world = try await World()
        let body = Example.body(Example.ana, #""event_type":"view""#)
        let answer = try await world.call(.post, Example.events, .authorization(value), body)
        answer.expect(401, Example.noAccessKey, "malformed-authorization")
    }

    @Test("a key in the wrong place is not repeated in the journal")
    func secretAsKey() async throws {
        let world = try await World()
        let answer = try await world.call(
            .post, Example.events, .authorization("Token " + Example.secret), Example.body(Example.ana))
        #expect(answer.failure == "unknown-key")
        let entry = world.shown(answer.entry)
        #expect(!entry.contains(Example.secret))
    }
}
