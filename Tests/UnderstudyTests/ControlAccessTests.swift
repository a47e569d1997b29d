import Expectations
import HTTPTypes
import JSON
import Support
import Testing
import Understudy
import Wire

/// Requests that a web page on another origin can send, and requests of clients that are not browsers.
@Suite("Control: who may call") struct ControlAccessTests {
    private typealias Fields = World.Fields

    private static func problem(_ code: String, _ message: String) -> String {
        #"{"error":{"code":"\#(code)","message":"\#(message)"}}"#
    }

    private static func foreignOrigin(_ origin: String, _ own: String) -> String {
        problem(
            "foreign-origin",
            "Origin is \(origin), not that of this server, \(own); only this server's own web pages may make control calls."
        )
    }

    /// Calls a server that was started with `--host` and `--allow-host` names.
    private func clock(
        _ fields: Fields, by method: HTTPRequest.Method = .get, hostNames: Set<String> = []
    ) async throws -> ReceivedAnswer {
        let stage = hostNames.isEmpty ? nil : try Stage(Emulator(fixtures: Repository.fixtures, hostNames: hostNames))
        let world = try await World(on: stage, at: nil)
        return try await world.control(method, "clock", method == .get ? "" : #"{"advance":"1s"}"#, fields: fields)
    }

    /// Expects that neither a reading call nor a changing one is carried out.
    private func expectRefusal(of fields: Fields, _ problem: String) async throws {
        for method in [HTTPRequest.Method.get, .put] { try await clock(fields, by: method).expect(403, problem) }
    }

    // MARK: Host

    @Test(
        "a host that is not a name of this server is refused",
        arguments: [
            ("evil.example", "evil.example"), ("evil.example:8080", "evil.example"), ("EVIL.Example.", "evil.example"),
            ("127.0.0.1.evil.example", "127.0.0.1.evil.example"), ("localhost.evil.example", "localhost.evil.example"),
            ("notlocalhost.example", "notlocalhost.example"), ("127.0.0.1.nip.io:80", "127.0.0.1.nip.io"),
            ("1.2.3.4a", "1.2.3.4a"), ("a.localhost.x:1", "a.localhost.x"),
        ])
    func foreignHost(_ host: String, _ name: String) async throws {
        let problem = Self.problem(
            "foreign-host",
            "Host is \(host), which is not a name of this server; control calls accept an IP address, localhost, "
                + "NAME.localhost, a name without a dot, or one allowed with --allow-host \(name).")
        try await expectRefusal(of: [("host", host)], problem)
    }

    @Test(
        "addresses, localhost and names without a dot are the server's own, with any port",
        arguments: [
            "127.0.0.1", "127.0.0.1:1", "10.0.2.2:8080", "127.1", "[::1]", "[fe80::1]:8080", "localhost",
            "LOCALHOST.:80", "understudy", "understudy:8080", "build_7",
        ])
    func ownHost(_ host: String) async throws { expect(try await clock([("host", host)]).status, is: 200) }

    @Test(
        "names that the server was given are its own, in any case and with any port",
        arguments: ["qa.example.test", "QA.Example.Test:8080", "qa.example.test.", "mocks.internal"])
    func allowedHost(_ host: String) async throws {
        let names: Set<String> = ["qa.example.test", "Mocks.Internal."]
        try await clock([("host", host)], hostNames: names).expect(200)
        try await clock([("host", "x.\(host)")], hostNames: names).expect(403)
    }

    @Test("a request of HTTP/1.0 without a host is answered") func noHost() async throws {
        let stage = try Stage.shared()
        let request = Request(method: .get, target: "/_understudy/health", version: .http1_0)
        expect(await Pipeline(stage.emulator).response(to: request).status, is: .ok)
    }

    // MARK: Origin and site

    @Test(
        "a call from a page of another origin is refused",
        arguments: [
            ("127.0.0.1:8080", "http://evil.example"), ("127.0.0.1:8080", "null"), ("127.0.0.1:8080", ""),
            ("127.0.0.1:8080", "https://127.0.0.1:8080"), ("127.0.0.1:8080", "http://127.0.0.1"),
            ("127.0.0.1:8080", "http://127.0.0.1:8081"), ("127.0.0.1:8080", "http://localhost:8080"),
            ("127.0.0.1:8080", "http://127.0.0.1:8080, http://evil.example"), ("localhost", "https://localhost"),
            ("127.0.0.1:8080", "http://127.0.0.1:8080.evil.example"),
        ])
    func foreignOrigin(_ host: String, _ origin: String) async throws {
        let problem = Self.foreignOrigin(origin, "http://\(host)")
        try await expectRefusal(of: [("host", host), ("origin", origin)], problem)
    }

    @Test(
        "a page of this very server may call",
        arguments: [
            ("127.0.0.1:8080", "http://127.0.0.1:8080"), ("localhost", "http://localhost"),
            ("localhost:80", "http://localhost"), ("[::1]:8080", "http://[::1]:8080"),
            ("LocalHost:8080", "http://localhost:8080"),
        ])
    func ownOrigin(_ host: String, _ origin: String) async throws {
        for site in [nil, "same-origin"] as [String?] {
            let fields = [("host", host), ("origin", origin)] + (site.map { [("sec-fetch-site", $0)] } ?? [])
            expect(try await clock(fields, by: .put).status, is: 200)
        }
    }

    @Test("behind a proxy that ends TLS the browser's word decides about the scheme, and about nothing else")
    func secureProxy() async throws {
        let names: Set<String> = ["qa.example.test"]
        let fields = [("host", "qa.example.test"), ("origin", "https://qa.example.test")]
        try await clock(fields, by: .put, hostNames: names)
            .expect(403, Self.foreignOrigin("https://qa.example.test", "http://qa.example.test"))
        let said = [("sec-fetch-site", "same-origin")]
        expect(try await clock(fields + said, by: .put, hostNames: names).status, is: 200)
        let other = [("host", "qa.example.test"), ("origin", "https://qa.example.test:8443")] + said
        expect(try await clock(other, by: .put, hostNames: names).status, is: 403)
    }

    @Test(
        "what a browser says of its page decides: another site, another port, another name of this machine",
        arguments: ["cross-site", "same-site", "Same-Origin", "", "same-origin, same-origin"])
    func foreignSite(_ site: String) async throws {
        let problem = Self.problem(
            "foreign-site",
            "Sec-Fetch-Site is \(site); only this server's own web pages may make control calls (same-origin). "
                + "A typed address (none) and clients other than browsers are accepted.")
        try await expectRefusal(of: [("sec-fetch-site", site)], problem)
    }

    @Test("an address that a person typed is answered") func typed() async throws {
        expect(try await clock([("sec-fetch-site", "none"), ("sec-fetch-mode", "navigate")]).status, is: 200)
    }

    // MARK: Content type

    @Test(
        "a changing call with the content type of a form is refused",
        arguments: [
            ("text/plain", "text/plain", []), ("TEXT/Plain;charset=UTF-8", "text/plain", []),
            ("text/plain , application/json", "text/plain", []),
            ("multipart/form-data; boundary=x", "multipart/form-data", []),
            ("multipart/form-data", "multipart/form-data", [("user-agent", "node")]),
            ("text/plain", "text/plain", [("user-agent", "Mozilla/5.0 (X11; Linux) node")]),
            ("text/plain", "text/plain", [("user-agent", "curl/8.5.0")]),
        ] + marksOfBrowsers.map { ("application/x-www-form-urlencoded", "application/x-www-form-urlencoded", [$0]) })
    func formContent(_ value: String, _ type: String, _ fields: [(String, String)]) async throws {
        let world = try await World()
        let problem = Self.problem(
            "form-content",
            "Content-Type is \(type), which a form of any web page can send; a control call's content is "
                + "application/json, or of no type at all.")
        let all = fields + [("content-type", value), ("host", "127.0.0.1:8080")]
        for (method, call) in [(HTTPRequest.Method.put, "clock"), (.post, "reset"), (.delete, "journal")] {
            try await world.control(method, call, #"{"advance":"1h"}"#, fields: all).expect(403, problem)
        }
        expect(world.sandbox.now.unixSeconds, is: Double(World.exampleMoment))
    }

    private static let marksOfBrowsers = [
        ("origin", "http://127.0.0.1:8080"), ("sec-fetch-site", "same-origin"), ("referer", "http://127.0.0.1:8080/x"),
        ("user-agent", "Mozilla/5.0 (X11; Linux x86_64; rv:60.0) Gecko/20100101 Firefox/60.0"),
    ]

    @Test(
        "clients that are no browsers may call their JSON what they are used to",
        arguments: [
            ("application/x-www-form-urlencoded", "curl/8.5.0"), ("application/x-www-form-urlencoded", nil),
            ("application/x-www-form-urlencoded; charset=utf-8", "App/1 CFNetwork/1494.0.7 Darwin/23.4.0"),
            ("application/x-www-form-urlencoded", "Mozilla/5.0 (Windows NT; en-US) WindowsPowerShell/5.1.19041"),
            ("text/plain;charset=UTF-8", "node"), ("text/plain;charset=UTF-8", "undici"),
            ("text/plain;charset=UTF-8", "Deno/2.1.4"), ("text/plain;charset=utf-8", "Bun/1.1.42"),
            ("application/json", "Mozilla/5.0 (X11)"), ("text/x-own", nil), (nil, nil),
        ] as [(String?, String?)])
    func otherClients(_ type: String?, _ agent: String?) async throws {
        let fields = [("content-type", type), ("user-agent", agent)].compactMap { name, value in
            value.map { (name, $0) }
        }
        expect(try await clock(fields, by: .put).status, is: 200)
    }

    @Test("a call that changes nothing may have any content type", arguments: [HTTPRequest.Method.get, .head])
    func reading(_ method: HTTPRequest.Method) async throws {
        try await clock([("content-type", "text/plain")], by: method).expect(200)
    }

    // MARK: All calls

    @Test("every call is refused, health, unknown ones and preflights among them", arguments: Depth.allCases)
    func everyCall(_ depth: Depth) async throws {
        let world = try await World(depth, at: nil)
        for (method, call) in [
            (HTTPRequest.Method.get, "health"), (.get, "openapi.json"), (.get, "nothing"), (.patch, "clock"),
            (.options, "clock"), (.head, "journal"), (.post, "state/rezolve/remove-customer"),
            (.post, "keys/ims/demo/replace"),
        ] {
            let answer = try await world.control(method, call, fields: [("origin", "http://evil.example")])
            expect(answer.status, is: 403, "\(call): \(answer.text)")
            #expect(answer.fields.allSatisfy { !$0.name.lowercased().hasPrefix("access-control-") })
        }
    }

    @Test("the token excuses nobody, and is not looked at before") func token() async throws {
        let stage = try Stage(Emulator(fixtures: Repository.fixtures, controlToken: "steer"))
        let world = try await World(on: stage, at: nil)
        for token in ["steer", "wrong"] {
            try await world.control(.get, "clock", fields: [("authorization", "Bearer \(token)"), ("origin", "null")])
                .expect(403, Self.foreignOrigin("null", "http://127.0.0.1"))
        }
    }

    @Test(
        "content of a call that is refused is not waited for beyond the limit of other calls",
        arguments: [
            (nil, [:], true), (nil, ["origin": "null"], false), (nil, ["content-type": "text/plain"], false),
            ("steer", ["authorization": "Bearer steer"], true), ("steer", [:], false),
        ] as [(String?, FieldLines, Bool)])
    func bodyLimit(_ token: String?, _ fields: FieldLines, _ isAdmitted: Bool) throws {
        let pipeline = Pipeline(try Emulator(fixtures: Repository.fixtures, controlToken: token))
        let request = Request(
            method: .put, target: "/_understudy/state/rezolve", authority: "127.0.0.1", fields: fields)
        let limit = isAdmitted ? Emulator.standardStateLimit : Pipeline.standardBodyLimit
        expect(pipeline.bodyLimit(for: request), is: limit)
    }

    // MARK: Sandboxes

    @Test(
        "a call that is refused makes no sandbox, nor does one that is about none",
        arguments: [
            (.get, "clock", [("origin", "null")], "", 403), (.get, "clock", [("host", "evil.example")], "", 403),
            (.get, "clock", [("sec-fetch-site", "cross-site")], "", 403),
            (.post, "reset", [("content-type", "text/plain")], "", 403),
            (.get, "clock", [("authorization", "x")], "", 401),
            (.get, "nothing", [], "", 404), (.patch, "clock", [], "", 405), (.get, "clock?x=1", [], "", 400),
            (.put, "clock", [], "[]", 400), (.get, "journal/1", [], "", 404), (.get, "state/nobody", [], "", 404),
            (.get, "health", [], "", 200), (.get, "openapi.json", [], "", 200), (.get, "metrics", [], "", 200),
            (.get, "sandboxes", [], "", 200), (.get, "tokens", [], "", 200), (.delete, "sandboxes/other", [], "", 404),
        ] as [(HTTPRequest.Method, String, [(String, String)], String, Int)])
    func noSandbox(
        _ method: HTTPRequest.Method, _ call: String, _ fields: [(String, String)], _ body: String, _ status: Int
    ) async throws {
        let stage = try Stage(Emulator(fixtures: Repository.fixtures, controlToken: "steer"))
        let right = fields.contains { $0.0 == "authorization" } ? [] : [("authorization", "Bearer steer")]
        let world = try await World(on: stage, at: nil)
        try await world.bare(method, "/~fresh/_understudy/\(call)", fields + right, body).expect(status)
        expect(stage.emulator.sandboxes.all.map(\.name), is: ["default"])
        try await world.bare(.get, "/~fresh/_understudy/clock", [("authorization", "Bearer steer")]).expect(200)
        expect(stage.emulator.sandboxes.all.map(\.name), is: ["default", "fresh"])
    }

    // MARK: Answer headers for browsers

    private static let closed = [
        "x-content-type-options": "nosniff", "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
        "x-frame-options": "DENY", "cross-origin-resource-policy": "same-origin",
    ]

    @Test(
        "each answer of a control call is closed to pages, refusals and text among them",
        arguments: [
            ("/_understudy/health", 200), ("/_understudy/metrics", 200), ("/_understudy/journal", 200),
            ("/_understudy/nothing", 404), ("/_understudy/clock?x=1", 400), ("/~A/_understudy/clock", 400),
        ])
    func closed(_ target: String, _ status: Int) async throws {
        let answer = try await World(at: nil).bare(.get, target)
        expect(answer.status, is: status)
        for (name, value) in Self.closed { expect(answer[name], is: value, "\(name)") }
        expect(answer.fields.count, is: 5, "\(answer.fields)")
        let refused = try await World(at: nil).bare(.get, target, [("origin", "null")])
        for (name, value) in Self.closed { expect(refused[name], is: value, "\(name)") }
    }

    @Test(
        "a vendor's answer can be in no frame, and says so to nobody else",
        arguments: [
            ([("sec-fetch-dest", "iframe")], true), ([("sec-fetch-dest", "frame")], true),
            ([("sec-fetch-dest", "embed")], true), ([("sec-fetch-dest", "object")], true),
            ([("upgrade-insecure-requests", "1")], true),
            ([("sec-fetch-dest", "document"), ("upgrade-insecure-requests", "1")], false),
            ([("sec-fetch-dest", "empty")], false), ([], false),
        ] as [([(String, String)], Bool)])
    func frames(_ fields: [(String, String)], _ isRefused: Bool) async throws {
        let world = try await World()
        for target in ["/v1/user/x", "/apispaces/nowhere", "/nobody/owns/this"] {
            let plain = try await world.call(.get, target)
            let answer = try await world.call(.get, target, fields)
            let added = answer.fields.dropFirst(plain.fields.count).map { "\($0.name): \($0.value)" }
            let expected = ["X-Frame-Options: DENY", "Content-Security-Policy: frame-ancestors 'none'"]
            expect(added, is: (isRefused ? expected : []))
            #expect((answer.status, answer.text) == (plain.status, plain.text))
            expect(answer.entry?.response.fields.contains { $0.name.rawName == "X-Frame-Options" }, is: isRefused)
        }
    }
}
