import Emulation
import HTTPTypes
import JSON
import Support
import Testing
import Understudy

@Suite("The pipeline")
struct PipelineTests {
    @Test(
        "what nobody owns is 404, and the journal names the nearest routes", arguments: Depth.allCases,
        [
            ("/", nil), ("/nowhere", nil), ("/api/v1/partners/317", nil), ("*", nil),
            ("/v2/credential/ping", "rezolve rua.ping: GET /v2/credentials/ping"),
        ] as [(String, String?)])
    func unowned(_ depth: Depth, _ example: (path: String, nearest: String?)) async throws {
        // An HTTP client does not send a bare asterisk.
        if depth == .socket, example.path == "*" { return }
        let world = try await World(depth)
        let answer = try await world.call(.get, example.path)
        #expect(answer.status == 404)
        #expect(
            answer.text
                == #"{"error":{"code":"no-vendor","message":"No vendor owns this path; the journal names the nearest routes."}}"#
        )
        let entry = try #require(answer.entry)
        #expect(entry.record.vendor == nil)
        let nearest =
            MaskedExchange(entry, by: world.sandbox.redactor)
            .json(routes: world.emulator.routes)["nearest_routes"]?.array ?? []
        #expect(nearest.count == 3)
        if let expected = example.nearest { #expect(nearest[0] == .string(expected)) }
        let meant = example.nearest.map { "; the nearest route is \($0)" } ?? ""
        #expect(entry.explanation == "no vendor owns this path" + meant)
    }

    @Test(
        "an encoded NUL makes a path that nobody owns: the vendor's 404, with the whole path in the journal",
        arguments: Depth.allCases)
    func encodedNUL(_ depth: Depth) async throws {
        let world = try await World(depth)
        let unrouted = [
            "rezolve": "route-not-found", "ims": "route-not-found", "comapi": "unknown-path",
            "bloomreach": "unknown-route", "okta": "path-not-found",
        ]
        for vendor in Catalog.vendors {
            let routes = try #require(world.emulator.vendors.first { $0.identity.id == vendor.identity.id }).routes
            for endpoint in routes.flatMap(\.endpoints) where endpoint.method == .get {
                // In place of a parameter, after one, and where the rest of the path would be cut off.
                let real = endpoint.pattern.replacing(/\{[^}]*\}/, with: "x")
                for path in [real + "%00", real + "%00/a", endpoint.pattern.replacing(/\{[^}]*\}/, with: "x%00y")]
                where path.contains("%00") {
                    let answer = try await world.call(.get, path)
                    #expect(answer.entry?.record.route == nil, "\(path)")
                    // Where the vendor owns one path and not what lies below it, nobody owns that path with more behind.
                    let isOwned = vendor.identity.prefixes.contains { path.hasPrefix($0 + "/") }
                    #expect(answer.entry?.record.vendor == (isOwned ? vendor.identity.id : nil), "\(path)")
                    #expect((400..<500).contains(answer.status), "\(path) \(answer.status)")
                    #expect(answer.failure == (isOwned ? unrouted[vendor.identity.id] : nil), "\(path)")
                    #expect(answer.entry?.request.target == path)
                }
            }
        }
        #expect(try await world.call(.get, "/nobody%00").status == 404)
        #expect(try await world.control(.get, "clock%00").status == 404)
        #expect(try await world.control(.delete, "sandboxes/a%00b").status == 404)
        #expect(try await world.bare(.get, "/~a%00b/v2/credentials/ping").status == 400)
        #expect(try await world.call(.get, "/v2/credentials/ping?a=%00").failure == "rua-token-missing")
    }

    @Test(
        "content over the limit is the vendor's 413 on its routes, and 404 where there is none",
        arguments: Depth.allCases)
    func bodyLimit(_ depth: Depth) async throws {
        let world = try await World(depth)
        let body = String(repeating: " ", count: Pipeline.standardBodyLimit + 1)
        let answer = try await world.call(.post, "/v2/credentials/login", [], body)
        #expect(answer.status == 413)
        #expect(answer.text == #"{"type":"Bad Request","code":5,"message":"Request body too large"}"#)
        #expect(answer.failure == "body-too-large")
        #expect(answer.entry?.record.route == "rua.login")
        #expect(try await world.call(.post, "/v1/user/nothing", [], body).failure == "route-not-found")
        #expect(try await world.call(.post, "/nowhere", [], body).status == 404)
    }

    @Test("content of exactly the limit is taken", arguments: Depth.allCases)
    func fittingBody(_ depth: Depth) async throws {
        let world = try await World(depth)
        let limit = try #require(Catalog.vendors.first?.identity.bodyLimit)
        let body = String(repeating: " ", count: limit - 2) + "{}"
        let key = [("x-rezolve-partner-apikey", "a1b2c3d4-e5f6-g7h8-i9j0-a1b2c3d4e5f6")]
        #expect(try await world.call(.post, "/v2/credentials/register/guest", key, body).status == 200)
        #expect(try await world.call(.post, "/v2/credentials/register/guest", key, " " + body).status == 413)
    }

    @Test("an emulator begins with the settings that it is given, and comes back to them")
    func initialSettings() async throws {
        var settings = Settings()
        settings.profile = .observed
        settings.seed = 11
        let stage = try Stage(Emulator(fixtures: Repository.fixtures, settings: settings))
        let world = try await World(on: stage)
        let key = [("x-rezolve-partner-apikey", "a1b2c3d4-e5f6-g7h8-i9j0-a1b2c3d4e5f6")]
        let first = try await world.call(.post, "/v2/credentials/register/guest", key)
        #expect(try await world.control(.get, "settings").json["profile"] == "observed")
        try await world.set(profile: .documented)
        try await world.control(.post, "reset")
        try await world.freeze(at: World.exampleMoment)
        #expect(try await world.call(.post, "/v2/credentials/register/guest", key).text == first.text)
        #expect(try await world.control(.get, "settings").json["profile"] == "observed")
        let other = try await World(on: stage)
        #expect(try await other.call(.post, "/v2/credentials/register/guest", key).text == first.text)
    }

    @Test("wrong fixtures stop the start")
    func wrongFixtures() {
        #expect(throws: FixtureProblem.self) { try Emulator(fixtures: FixtureStore(layers: ["/nowhere"])) }
    }
}
