import Emulation
import Expectations
import JSON
import Support
import Testing
import Understudy

@Suite("Own routes") struct OwnRouteTests {
    private static let backend = #"""
        routes:
          basket.read:
            method: GET
            path: /my/own/api/{id}
            respond:
              headers: { X-Who: "{{claims.sub}}" }
              body: { id: "{{request.parameters.id}}", size: "{{request.query.size}}", at: "{{clock.unix}}" }
          basket.write:
            method: POST
            path: /my/own/api
            respond: { status: 201, body: { echo: "{{request.body.name}}", from: "{{request.headers.authorization}}" } }
          everything:
            { method: PUT, path: "/files/{rest...}", respond: { status: 202, body: "{{request.parameters.rest}}" } }
          shop.below.vendor: { method: GET, path: /authn/of/my/shop, respond: { body: shop } }
        """#

    private let fixtures: OwnFixtures

    init() throws { fixtures = try OwnFixtures() }

    private func world(_ files: [String: String] = ["own/backend.yaml": backend]) async throws -> World {
        for (name, text) in files { try fixtures.write(text, to: name) }
        return try await World(on: Stage(Emulator(fixtures: fixtures.store)))
    }

    /// `{"sub":"mira"}` behind an empty header, with a signature that nobody judges.
    private static let token = "e30.eyJzdWIiOiJtaXJhIn0.c2lnbmF0dXJl"

    @Test("answer with status, headers and body from templates, and stand in the journal") func answers() async throws {
        let world = try await world()
        let read = try await world.call(.get, "/my/own/api/17?size=small", [("Authorization", "Bearer \(Self.token)")])
        read.expect(200, #"{"id":"17","size":"small","at":1800000000}"#)
        expect(read["x-who"], is: "mira")
        expect(read["content-type"], is: "application/json; charset=utf-8")
        expect(read.entry?.record.vendor, is: "own")
        expect(read.entry?.record.route, is: "basket.read")
        expect(world.masked(try #require(read.entry))["note"], is: nil)
        try await world.call(.post, "/my/own/api", [("content-type", "application/json")], #"{"name":"tea"}"#)
            .expect(201, #"{"echo":"tea","from":null}"#)
        try await world.call(.put, "/files/a/b.txt").expect(202, "a/b.txt")
        try await world.call(.get, "/authn/of/my/shop").expect(200, "shop")
        expect(try await world.bare(.get, "/~\(world.name)/my/own/api/18").status, is: 200)
        expect(world.sandbox.journal.last?.record.route, is: "basket.read")
    }

    @Test("another method is 405 with the right one, another path is nobody's, and the journal names the route")
    func unrouted() async throws {
        let world = try await world()
        let other = try await world.call(.delete, "/my/own/api")
        other.expect(
            405,
            #"{"error":{"code":"method-not-allowed","message":"The path has no route with this method."}}"#,
            "method-not-allowed")
        expect(other["allow"], is: "POST")
        expect(
            other.entry?.explanation,
            is:
                "found the method DELETE; expected POST at this path; the nearest route is own basket.write: POST /my/own/api"
        )
        let lost = try await world.call(.get, "/my/own/apis/17")
        expect(lost.status, is: 404)
        expect(lost.json["error"]?["code"], is: "no-vendor")
        expect(
            world.masked(try #require(lost.entry))["nearest_routes"]?[0],
            is: "own basket.read: GET /my/own/api/{id}")
        let long = try await world.call(.post, "/my/own/api", [], String(repeating: "x", count: (1 << 20) + 1))
        long.expect(
            413, #"{"error":{"code":"content-too-large","message":"The content is too long."}}"#, "content-too-large")
    }

    @Test("a secret that a template repeats is masked in the journal") func masked() async throws {
        let world = try await world()
        let answer = try await world.call(.post, "/my/own/api", [("Authorization", "Opaque sesame-open-now")], "{}")
        answer.expect(201, #"{"echo":null,"from":"Opaque sesame-open-now"}"#)
        #expect(!world.shown(answer.entry).contains("sesame"))
    }

    @Test("faults and failures apply to them") func faults() async throws {
        let world = try await world()
        try await world.arm(
            #"{"route": "basket.read", "call": 2, "when": {"path": "/my/own/api/17"}, "respond": {"status": 503}}"#)
        for status in [200, 503, 200] { expect(try await world.call(.get, "/my/own/api/17").status, is: status) }
        try await world.arm("method-not-allowed", at: "basket.write")
        let refused = try await world.call(.post, "/my/own/api")
        expect(refused.status, is: 405)
        expect(refused["allow"], is: "POST")
    }

    @Test(
        "a scenario of their own plays a session that expires until the app renews its token, which any text may be",
        arguments: [(token, "e30.eyJzdWIiOiJib2IifQ.c2lnbmF0dXJl"), ("opaque-one", "opaque-two")])
    func scenario(_ old: String, _ new: String) async throws {
        let world = try await world([
            "own/backend.yaml": Self.backend,
            "own/scenarios/expiry.yaml": """
            scenario: own-expiry
            about: The second read answers 401 until the app comes back with another token.
            vendor: own
            states:
              fresh: [{ on: basket.read, call: 2, respond: { status: 401 }, go: expired }]
              expired:
                - { on: basket.read, when: { token: newer }, go: fresh }
                - { on: "basket.*", respond: { status: 401 } }
            """,
        ])
        try await world.control(.put, "scenarios", #"{"scenario": "own-expiry"}"#).expect(200)
        var statuses: [Int] = []
        for token in [old, old, old, new, new] {
            let answer = try await world.call(.get, "/my/own/api/1", [("Authorization", "Bearer \(token)")])
            statuses.append(answer.status)
        }
        expect(statuses, is: [200, 401, 401, 200, 200])
    }

    @Test("verify, the list of vendors, coverage, metrics, OpenAPI and health know them") func lists() async throws {
        let world = try await world()
        _ = try await world.call(.get, "/my/own/api/17")
        try await world.verify(#"{"where": {"route": "basket.read"}, "exactly": 1}"#).expect(200)
        try await world.verify(#"{"where": {"vendor": "own"}, "exactly": 2}"#).expect(409)
        let vendors = try await world.control(.get, "vendors").json["vendors"]?.array ?? []
        expect(vendors.last?["id"], is: "own")
        let route = vendors.last?["routes"]?[0]
        expect(route?["route"], is: "basket.read")
        #expect(route?["source"]?.string?.hasSuffix("own/backend.yaml:4:11") == true, "\(route ?? nil)")
        let coverage = try await world.control(.get, "coverage?vendor=own").json["vendors"]?[0]
        expect(
            coverage?["routes"],
            is: ["met": 1, "all": 4, "never": ["basket.write", "everything", "shop.below.vendor"]])
        let document = try await world.control(.get, "openapi/own.json").json
        #expect(document["paths"]?["/my/own/api/{id}"]?["get"] != nil, "\(document.text)")
        let verdicts = try await world.control(.post, "tokens/explain", #"{"token": "\#(Self.token)"}"#).json
        expect(verdicts["verdicts"]?.array?.map { $0["vendor"] }.count, is: Catalog.vendors.count)
        let metrics = try await world.control(.get, "metrics").text
        #expect(
            metrics.contains(#"understudy_requests_total{vendor="own",route="basket.read",status="200",reason=""} 1"#))
        expect(try await world.control(.get, "health").json["vendors"]?.array?.last?["routes"], is: 4)
    }

    @Test("without a file nothing shows them") func nothing() async throws {
        let world = try await World(on: Stage(Emulator(fixtures: Repository.fixtures)))
        expect(world.emulator.vendors.map(\.identity.id), is: Catalog.vendors.map(\.identity.id))
        for path in ["vendors", "coverage", "metrics", "health", "settings", "state", "tokens", "openapi.json"] {
            let answer = try await world.control(.get, path)
            #expect(!answer.text.contains(#""own""#), "\(path)")
        }
        expect(try await world.control(.get, "coverage?vendor=own").status, is: 400)
    }

    @Test("a reload adds, changes and removes them; one that is wrong changes nothing") func reload() async throws {
        let world = try await world([:])
        func put(_ text: String) throws { try fixtures.write(text, to: "own/backend.yaml") }
        func answers(_ path: String) async throws -> String { try await world.call(.get, path).text }
        let nobody = try await answers("/a")
        try put("routes: { a: { method: GET, path: /a, respond: { body: one } } }")
        try world.emulator.reload(fixtures.store)
        expect(try await answers("/a"), is: "one")
        try put("routes: { b: { method: GET, path: /b, respond: { body: two } } }")
        try world.emulator.reload(fixtures.store)
        expect([try await answers("/a"), try await answers("/b")], is: [nobody, "two"])
        let coverage = try await world.control(.get, "coverage?vendor=own").json["vendors"]?[0]?["routes"]
        // What a reload took away counts until the server ends.
        expect(coverage, is: ["met": 2, "all": 2, "never": []])
        let metrics = try await world.control(.get, "metrics").text
        for route in ["a", "b"] {
            #expect(metrics.contains(#"{vendor="own",route="\#(route)",status="200",reason=""} 1"#), "\(metrics)")
        }
        try put("routes: { b: { method: GET, path: /_understudy/b, respond: {} } }")
        #expect(throws: FixtureProblem.self) { try world.emulator.reload(fixtures.store) }
        expect(try await answers("/b"), is: "two")
        try fixtures.remove("own/backend.yaml")
        try world.emulator.reload(fixtures.store)
        expect(try await answers("/b"), is: nobody)
        expect(world.emulator.vendors.map(\.identity.id), is: Catalog.vendors.map(\.identity.id))
    }

    /// What stops the start with these files.
    private func problem(_ files: [(name: String, text: String)], _ loaders: [VendorLoader]) throws -> String {
        for (name, text) in files { try fixtures.write(text, to: "own/\(name).yaml") }
        let problem = #expect(throws: FixtureProblem.self) {
            try Emulator(fixtures: fixtures.store, loaders: loaders)
        }
        return problem?.description.replacing(fixtures.path + "/own/", with: "") ?? ""
    }

    @Test(
        "a wrong file stops the start, with the place, what was found and what would be right",
        arguments: [
            ("route: {}", "1:1: unknown member “route”; did you mean “routes”?"),
            ("routes: { a: { method: GET, path: /a } }", "1:14: member “respond” is missing"),
            ("routes: { a: { path: /a, respond: {} } }", "1:14: member “method” is missing"),
            (
                "routes: { a: { method: GET, path: /a, response: {} } }",
                "1:39: unknown member “response”; did you mean “respond”?"
            ),
            (
                "routes: { a: { method: get, path: /a, respond: {} } }",
                "1:24: found the method “get”; expected one of GET, POST, PUT, PATCH, DELETE, OPTIONS"
            ),
            (
                "routes: { \"a b\": { method: GET, path: /a, respond: {} } }",
                "1:11: found the name “a b”; expected letters, digits, dots and hyphens"
            ),
            (
                "routes: { profile.read: { method: GET, path: /a, respond: {} } }",
                "1:46: found the name profile.read, which a route of comapi has; expected another"
            ),
            (
                "routes: { a: { method: GET, path: /a, respond: {} }, b: { method: GET, path: /a, respond: {} } }",
                "1:78: found GET /a, to which a answers; expected another method or path"
            ),
            (
                "routes: { a: { method: GET, path: /a, respond: { status: 99 } } }",
                "1:58: status 99 is not a number between 200 and 599"
            ),
        ])
    func refusals(_ text: String, _ problem: String) throws {
        let loaders = Catalog.mounted.filter { ["comapi", "own"].contains($0.identity.id) }
        expect(try self.problem([("backend", text)], loaders), is: "backend.yaml:\(problem)")
    }

    private static let form =
        " in the path; expected one such as /api/basket/{id}, or /api/{rest...}, without query and escapes"
    private static let reserved = ", which is the control API's or a sandbox's; expected another path"

    @Test(
        "a wrong path stops the start in the same way",
        arguments: [
            ("a", "“a”" + form), ("/a?b=c", "“a?b=c”" + form), ("/{rest...}/a", "“{rest...}”" + form),
            ("/{a}/{a}", "the same parameter twice in /{a}/{a}; expected another name"),
            ("/_understudy/journal", "/_understudy" + reserved), ("/~a/b", "/~a" + reserved),
            (
                "/apispaces/{space}/profiles/{id}",
                "GET /apispaces/{space}/profiles/{id}, to which profile.read of comapi answers; expected another path, or a fault with respond at that route"
            ),
        ])
    func wrongPaths(_ path: String, _ problem: String) throws {
        try refusals("routes: { a: { method: GET, path: \"\(path)\", respond: {} } }", "1:35: found \(problem)")
    }

    @Test("two files may not have a route of the same name") func names() throws {
        let files = [("one", "/a"), ("two", "/b")].map { name, path in
            (name: name, text: "routes: { a: { method: GET, path: \(path), respond: {} } }")
        }
        expect(try problem(files, [.own]), is: "two.yaml:1:11: found the name a a second time; expected another")
    }
}
