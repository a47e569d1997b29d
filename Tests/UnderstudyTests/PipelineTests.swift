import Emulation
import Expectations
import HTTPTypes
import JSON
import Support
import Testing
import Understudy

@Suite("The pipeline") struct PipelineTests {
    @Test(
        "what nobody owns is 404, and the journal names the nearest routes",
        arguments: [
            ("/nowhere", nil), ("/api/v1/partners/317", nil), ("*", nil),
            ("/v2/credential/ping", "rezolve rua.ping: GET /v2/credentials/ping"),
        ] as [(String, String?)])
    func unowned(_ path: String, _ expected: String?) async throws {
        let world = try await World()
        let answer = try await world.call(.get, path)
        answer.expect(
            404,
            #"{"error":{"code":"no-vendor","message":"No vendor owns this path; the journal names the nearest routes."}}"#
        )
        let entry = try #require(answer.entry)
        expect(entry.record.vendor, is: nil)
        expect(world.masked(entry)["response"]?["body"]?["error"]?["code"], is: "no-vendor")
        let nearest = world.masked(entry)["nearest_routes"]?.array ?? []
        // Nothing at all when nothing is near.
        expect(nearest.isEmpty, is: ["/nowhere", "*"].contains(path), "\(nearest)")
        if let expected { expect(nearest.first, is: .string(expected)) }
        let meant = expected.map { "; the nearest route is \($0)" } ?? ""
        expect(entry.explanation, is: "no vendor owns this path" + meant)
    }

    @Test("the vendors' answers are dated by the sandbox's clock, and by the machine's where it shows that")
    func date() async throws {
        let world = try await World(.socket)
        let paths =
            ["/nowhere"]
            + world.emulator.vendors.map { $0.routes[0].endpoints[0].pattern.replacing(/\{[^}]*\}/, with: "x") }
        for path in paths {
            try await world.freeze(at: World.exampleMoment)
            expect(try await world.call(.get, path)["Date"], is: "Fri, 15 Jan 2027 08:00:00 GMT", "\(path)")
            try await world.advance("31m")
            expect(try await world.call(.get, path)["Date"], is: "Fri, 15 Jan 2027 08:31:00 GMT", "\(path)")
            var days = [try await world.control(.delete, "clock")["Date"]?.prefix(16)]
            let answer = try await world.call(.get, path)
            days.append(try await world.control(.get, "clock")["Date"]?.prefix(16))
            #expect(days.contains(answer["Date"]?.prefix(16)), "\(path) \(days)")
        }
    }

    @Test(
        "the reason for a wrong path names the mistake and the route that was meant",
        arguments: [
            (
                "GET", "/oauth2/default/v1/token",
                ["; expected POST", "okta token.create: POST /oauth2/{server}/v1/token"]
            ),
            ("GET", "/oauth2/default/v1/introspect", ["okta token.introspect: POST /oauth2/{server}/v1/introspect"]),
            ("GET", "/oauth2/default/v1/token/", [": it has a slash too many, at its end;", "okta token.create"]),
            ("GET", "/oauth2/keys", ["okta keys.list: GET /oauth2/v1/keys"]),
            ("GET", "/.well-known/jwks.json", ["which names jwks_uri"]),
            ("GET", "/oauth2/default/.well-known/jwks.json", ["which names jwks_uri"]),
            ("GET", "/.well-known/openid-configuration/oauth2/default", ["which names jwks_uri"]),
            ("GET", "/oauth2/v1/clients", ["which is not emulated"]),
            ("GET", "/api/v1/apps", ["are emulated; expected"]),
            (
                "GET", "/oauth2/default/oauth2/default/.well-known/openid-configuration",
                [": it has /oauth2/default twice;", "okta discovery.custom"]
            ),
            ("POST", "/oauth2/default/oauth2/default/v1/token", ["/oauth2/default twice", "okta token.create"]),
            (
                "GET", "/oauth2/default//.well-known/openid-configuration",
                [": it has a slash too many, before .well-known;", "okta discovery.custom"]
            ),
            ("POST", "/sessions/start", ["comapi session.start"]),
            ("GET", "/apispaces//sessions/start", ["comapi session.start"]),
            ("GET", "/apispaces/b1f0c3d2/session/start", ["comapi session.start"]),
            ("OPTIONS", "/oauth2/default/v1/tokn", ["okta preflight: OPTIONS /oauth2/{server}/v1/token"]),
        ])
    func mistakes(_ method: String, _ path: String, _ phrases: [String]) async throws {
        let world = try await World()
        let answer = try await world.call(try #require(HTTPRequest.Method(method)), path)
        let reason = answer.entry?.explanation ?? ""
        for phrase in phrases { #expect(reason.contains(phrase), "\(reason)") }
    }

    @Test("no two routes of the mounted vendors clash") func noClash() async throws {
        try await World().emulator.routes.check()
    }

    @Test(
        "an encoded NUL makes a path that nobody owns: the vendor's 404, with the whole path in the journal",
        arguments: Depth.allCases)
    func encodedNUL(_ depth: Depth) async throws {
        let world = try await World(depth)
        for vendor in Catalog.vendors {
            let unknown = try await world.call(.get, (vendor.identity.prefixes.first ?? "") + "/nothing/here").failure
            #expect(unknown != nil, "\(vendor.identity.id)")
            let routes = try #require(world.emulator.vendors.first { $0.identity.id == vendor.identity.id }).routes
            // A socket adds only what it makes of the target, which is the same everywhere.
            let endpoints = routes.flatMap(\.endpoints).filter { $0.method == .get }
            for endpoint in endpoints.prefix(depth == .socket ? 4 : .max) {
                // In place of a parameter, after one, and where the rest of the path would be cut off.
                let real = endpoint.pattern.replacing(/\{[^}]*\}/, with: "x")
                for path in [real + "%00", real + "%00/a", endpoint.pattern.replacing(/\{[^}]*\}/, with: "x%00y")]
                where path.contains("%00") {
                    let answer = try await world.call(.get, path)
                    expect(answer.entry?.record.route, is: nil, "\(path)")
                    // Where the vendor owns one path and not what lies below it, nobody owns that path with more behind.
                    let isOwned = vendor.identity.prefixes.contains { path.hasPrefix($0 + "/") }
                    expect(answer.entry?.record.vendor, is: (isOwned ? vendor.identity.id : nil), "\(path)")
                    #expect((400..<500).contains(answer.status), "\(path) \(answer.status)")
                    expect(answer.failure, is: (isOwned ? unknown : nil), "\(path)")
                    expect(answer.entry?.request.target, is: path)
                }
            }
        }
        expect(try await world.call(.get, "/nobody%00").status, is: 404)
        expect(try await world.control(.get, "clock%00").status, is: 404)
        expect(try await world.control(.delete, "sandboxes/a%00b").status, is: 404)
        expect(try await world.bare(.get, "/~a%00b/v2/credentials/ping").status, is: 400)
        expect(try await world.call(.get, "/v2/credentials/ping?a=%00").failure, is: "rua-token-missing")
    }

    @Test("content over the limit is the vendor's 413 on its routes, and 404 where there is none")
    func bodyLimit() async throws {
        let world = try await World()
        let body = String(repeating: " ", count: Pipeline.standardBodyLimit + 1)
        let answer = try await world.call(.post, "/v2/credentials/login", [], body)
        answer.expect(413, #"{"type":"Bad Request","code":5,"message":"Request body too large"}"#, "body-too-large")
        expect(answer.entry?.record.route, is: "rua.login")
        expect(try await world.call(.post, "/v1/user/nothing", [], body).failure, is: "route-not-found")
        expect(try await world.call(.post, "/nowhere", [], body).status, is: 404)
    }

    @Test("an emulator begins with the settings that it is given, and comes back to them")
    func initialSettings() async throws {
        var settings = Settings()
        settings.profile = .observed
        settings.seed = 11
        let stage = try Stage(Emulator(fixtures: Repository.fixtures, settings: settings))
        let world = try await World(on: stage)
        let first = try await world.call(.post, "/v2/credentials/register/guest", [World.apiKey])
        expect(try await world.control(.get, "settings").json["profile"], is: "observed")
        try await world.set(profile: .documented)
        try await world.control(.post, "reset")
        try await world.freeze(at: World.exampleMoment)
        expect(try await world.call(.post, "/v2/credentials/register/guest", [World.apiKey]).text, is: first.text)
        expect(try await world.control(.get, "settings").json["profile"], is: "observed")
        let other = try await World(on: stage)
        expect(try await other.call(.post, "/v2/credentials/register/guest", [World.apiKey]).text, is: first.text)
    }
}

@Suite("The methods of a path") struct AllowTests {
    struct Place: Sendable, CustomStringConvertible {
        let path: String
        let route: String
        let method: HTTPRequest.Method

        var description: String { "\(method.rawValue) \(path)" }

        static let all: [Place] = {
            let vendors = (try? Stage.shared().emulator.vendors) ?? []
            return vendors.flatMap(\.routes).flatMap { route in
                route.endpoints.map { endpoint in
                    let path = endpoint.pattern.replacing(/\{[^}]*\}/, with: "x")
                    return Place(path: path, route: route.id, method: endpoint.method)
                }
            }
        }()
    }

    private static let methods: [HTTPRequest.Method] = [.get, .post, .put, .patch, .delete, .options]

    private func methods(at path: String, _ world: World) -> [HTTPRequest.Method] {
        Self.methods.filter {
            if case .route = world.emulator.routes.match($0, path[...]) { true } else { false }
        }
    }

    /// Expects each of the methods, once, in an answer that refuses another one.
    private func expectAllow(_ methods: [HTTPRequest.Method], in answer: ReceivedAnswer, to call: HTTPRequest.Method) {
        guard answer.status == 405 else { return }
        let listed = (answer["allow"] ?? "").split(separator: ",").map { $0.filter { $0 != " " } }
        expect(listed.sorted(), is: methods.map(\.rawValue).sorted(), call.rawValue)
    }

    @Test("a refused method is answered with each of the others, once", arguments: Place.all)
    func natural(_ place: Place) async throws {
        let world = try await World()
        let known = methods(at: place.path, world)
        for method in Self.methods where !known.contains(method) {
            expectAllow(known, in: try await world.call(method, place.path), to: method)
        }
    }

    @Test("an armed 405 says the same of its path", arguments: Place.all) func armed(_ place: Place) async throws {
        let world = try await World()
        let vendor = try #require(world.emulator.vendors.first { $0.routes.contains { $0.id == place.route } })
        guard vendor.failures.contains(where: { $0.name == "method-not-allowed" }),
            !place.path.hasSuffix("/x") || place.method != .options
        else { return }
        try await world.arm("method-not-allowed", at: place.route)
        let answer = try await world.call(place.method, place.path)
        expectAllow(methods(at: place.path, world), in: answer, to: place.method)
    }
}

@Suite("Selecting a sandbox") struct SandboxSelectionTests {
    private func selected(
        _ target: String, _ header: String?, host: String = "localhost"
    ) async throws -> ReceivedAnswer {
        let fields = [("host", host)] + (header.map { [("x-understudy-sandbox", $0)] } ?? [])
        return try await World(at: nil).bare(.get, target, fields)
    }

    @Test(
        "path prefix, header and a host below localhost name one, and without any it is the standard one",
        arguments: [
            ("", nil, "localhost", "default"), ("", "select-a", "localhost", "select-a"),
            ("/~select-b", nil, "localhost", "select-b"), ("/~0", nil, "localhost", "0"),
            ("/~select-c", "select-c", "localhost", "select-c"),
            ("/~select-d", "select-d", "select-d.localhost", "select-d"),
            ("", nil, "select-h.localhost", "select-h"), ("", nil, "select-h.localhost:8080", "select-h"),
            ("", nil, "Select-H.LOCALHOST", "select-h"), ("", nil, "localhost:8080", "default"),
            ("", nil, "127.0.0.1:8080", "default"), ("", nil, "[::1]:8080", "default"),
        ] as [(String, String?, String, String)])
    func names(_ prefix: String, _ header: String?, _ host: String, _ name: String) async throws {
        let answer = try await selected(prefix + "/_understudy/journal?count=0", header, host: host)
        answer.expect(200)
        expect(answer.json["sandbox"]?.string, is: name)
    }

    @Test(
        "any other host that is allowed names none",
        arguments: ["select-h.example.test", "select-h.localhost.example.test"])
    func otherHost(_ host: String) async throws {
        let stage = try Stage(Emulator(fixtures: Repository.fixtures, hostNames: [host]))
        let answer = try await World(on: stage, at: nil).bare(.get, "/_understudy/journal", [("host", host)])
        expect(answer.json["sandbox"], is: "default")
    }

    @Test(
        "two that disagree are refused",
        arguments: [
            ("/~a/x", "b", "localhost", "a and b"), ("/~a/x", nil, "b.localhost", "a and b"),
            ("/x", "a", "b.localhost", "a and b"), ("/~a/x", "a", "b.localhost", "a and b"),
        ] as [(String, String?, String, String)])
    func conflict(_ target: String, _ header: String?, _ host: String, _ names: String) async throws {
        try await selected(target, header, host: host).expectProblem(400, "sandbox-conflict", names)
    }

    @Test("a name that cannot be one is refused", arguments: ["", "A", "a%20b", "%c3%a4"])
    func invalid(_ name: String) async throws {
        try await selected("/~\(name)/_understudy/journal", nil)
            .expectProblem(400, "sandbox-name-invalid", "1 to 63 of a-z, 0-9 and hyphen")
    }

    @Test("whoever looks for a refused name finds it in the journal of the standard sandbox")
    func refusalIsKept() async throws {
        let stage = try Stage(Emulator(fixtures: Repository.fixtures))
        _ = try await World(on: stage, at: nil).bare(.get, "/~Shop/api/v1/x")
        let entries = stage.emulator.sandboxes.standard.journal.entries()
        expect(entries.map(\.request.target), is: ["/~Shop/api/v1/x"])
        expect(entries.map(\.response.status.code), is: [400])
        expect(entries.first?.explanation, is: "“Shop” is not a sandbox name: 1 to 63 of a-z, 0-9 and hyphen.")
        expect(stage.emulator.sandboxes.count, is: 1)
        // Control calls are in no journal.
        for target in ["/~Shop/_understudy/clock", "/_understudy/clock"] {
            try await World(on: stage, at: nil).bare(.get, target, [("x-understudy-sandbox", "Shop")])
                .expectProblem(400, "sandbox-name-invalid", "is not a sandbox name")
        }
        expect(stage.emulator.sandboxes.standard.journal.entries().count, is: 1)
    }

    @Test("an invalid name in the header or the host is refused") func invalidElsewhere() async throws {
        for (header, host) in [("A", "localhost"), ("", "localhost"), (nil, "a.b.localhost")] as [(String?, String)] {
            try await selected("/x", header, host: host)
                .expectProblem(400, "sandbox-name-invalid", "is not a sandbox name")
        }
        try await World(at: nil).bare(.get, "/x", [("x-understudy-sandbox", "a"), ("x-understudy-sandbox", "a")])
            .expectProblem(400, "sandbox-name-invalid", "a, a")
    }

    @Test(
        "the prefix is not a part of what vendor and journal see",
        arguments: [("/nowhere?q=1", "/nowhere?q=1"), ("?q=1", "/?q=1"), ("//x", "//x"), ("/~other/x", "/~other/x")])
    func prefix(_ rest: String, _ seen: String) async throws {
        let world = try await World()
        try await world.bare(.get, "/~\(world.name)\(rest)").expect(404)
        expect(world.sandbox.journal.entries().map(\.request.target), is: [seen])
    }
}
