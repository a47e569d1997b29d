import Expectations
import HTTPTypes
import Testing

@testable import Emulation

@Suite("Route tables") struct RouteTableTests {
    private typealias Routes = KeyValuePairs<String, [Endpoint]>

    private static func member(
        _ id: String, _ prefixes: [String], _ routes: Routes, _ slashes: PathRules.RepeatedSlashes = .collapse,
        ignoresTrailingSlash: Bool = true, rewrite: (@Sendable (inout [Substring]) -> Void)? = nil
    ) -> RouteTable.Member {
        RouteTable.Member(
            identity: VendorIdentity(
                id: id, title: id, prefixes: prefixes, repeatedSlashes: slashes,
                ignoresTrailingSlash: ignoresTrailingSlash, rewrite: rewrite),
            routes: routes.map { (id: $0.key, endpoints: $0.value) })
    }

    private func table(_ members: RouteTable.Member...) throws -> RouteTable {
        let table = RouteTable(members)
        try table.check()
        return table
    }

    /// The routes of one vendor below `/a`.
    private func table(_ routes: Routes) throws -> RouteTable { try table(Self.member("one", ["/a"], routes)) }

    /// The match on one line: `vendor.route name=value …`, `vendor: GET PUT`, `vendor: unknown`, or `unowned`.
    private func found(_ path: String, in table: RouteTable, by method: String = "GET") throws -> String {
        let method = try #require(HTTPRequest.Method(method))
        return switch table.match(method, path[...]) {
        case .route(let vendor, let route, let parameters):
            (["\(vendor).\(route)"] + parameters.all.map { "\($0.name)=\($0.value)" }).joined(separator: " ")
        case .otherMethods(let vendor, let methods): "\(vendor): \(methods.map(\.rawValue).joined(separator: " "))"
        case .unknown(let vendor): "\(vendor): unknown"
        case .unowned: "unowned"
        }
    }

    @Test(
        "a path leads to its route, its vendor or nobody",
        arguments: [
            ("GET", "/a/things", "0.0"), ("POST", "/a/things", "0.1"), ("GET", "/a/things/mine", "0.2"),
            ("GET", "/a/things/7", "0.3 id=7"), ("DELETE", "/a/things/mine", "0.4 id=mine"),
            ("HEAD", "/a/things", "0.0"), ("PUT", "/a/things", "0: GET POST"),
            ("PUT", "/a/things/mine", "0: GET DELETE"), ("GET", "/a", "0: unknown"), ("GET", "/a/other", "0: unknown"),
            ("GET", "/a/things/7/x", "0: unknown"), ("GET", "/ab/things", "unowned"), ("GET", "/", "unowned"),
            ("GET", "", "unowned"), ("GET", "*", "unowned"), ("GET", "/b/x", "1.0"), ("GET", "/A/things", "unowned"),
        ])
    func match(_ method: String, _ path: String, _ expected: String) throws {
        let routes: Routes = [
            "list": [.get("/a/things")], "create": [.post("/a/things")], "mine": [.get("/a/things/mine")],
            "get": [.get("/a/things/{id}")], "delete": [.delete("/a/things/{id}")],
        ]
        let table = try table(Self.member("one", ["/a"], routes), Self.member("two", ["/b"], ["x": [.get("/b/x")]]))
        expect(try found(path, in: table, by: method), is: expected)
    }

    @Test(
        "a parameter for the rest takes what nothing else takes, and makes no path known",
        arguments: [
            ("OPTIONS", "/a/things", "0.2 rest=things"), ("OPTIONS", "/a", "0.2 rest="),
            ("OPTIONS", "/a/x/y%2Fz/", "0.2 rest=x/y/z"), ("OPTIONS", "/a/own", "0.3"), ("GET", "/a/things", "0.0"),
            ("PUT", "/a/things", "0: GET POST OPTIONS"), ("GET", "/a/other", "0: unknown"), ("GET", "/a", "0: unknown"),
        ])
    func rest(_ method: String, _ path: String, _ expected: String) throws {
        let table = try table([
            "list": [.get("/a/things")], "create": [.post("/a/things")], "any": [.options("/a/{rest...}")],
            "own": [.options("/a/own")],
        ])
        expect(try found(path, in: table, by: method), is: expected)
    }

    @Test("a vendor may give decoded segments the spelling of its routes", arguments: ["/a/THINGS", "/a/%54hings"])
    func rewrite(_ path: String) throws {
        let one = Self.member("one", ["/a"], ["list": [.get("/a/things")], "get": [.get("/a/{id}")]]) { segments in
            if let last = segments.last { segments[segments.count - 1] = last.lowercased()[...] }
        }
        let table = try table(one)
        expect(try found(path, in: table), is: "0.0")
    }

    @Test(
        "a segment is split off first and decoded once",
        arguments: [
            ("/a/x%2Fy", "0.0 id=x/y"), ("/a/x%252Fy", "0.0 id=x%2Fy"), ("/a/x+y", "0.0 id=x+y"),
            ("/a/%C3%A4", "0.0 id=ä"), ("/%61/x", "0.0 id=x"), ("/a/%zz", "0.0 id=%zz"), ("/a/%FF", "0.0 id=%FF"),
            ("/a/%", "0.0 id=%"), ("/a/x%2", "0.0 id=x%2"), ("/a%2Fx", "unowned"), ("/a/..", "0.0 id=.."),
        ])
    func decoding(_ path: String, _ expected: String) throws {
        expect(try found(path, in: table(["get": [.get("/a/{id}")]])), is: expected)
    }

    @Test(
        "repeated slashes and one at the end are as the vendor reads them",
        arguments: [
            ("//a///x//y/", "0.0", "0: unknown", "0: unknown"), ("//a/x/y", "0.0", "0.0", "0.0"),
            ("/a/x/y/", "0.0", "0.0", "0: unknown"), ("/a//x/y", "0.0", "0: unknown", "0.0"),
        ])
    func slashes(_ path: String, _ collapsing: String, _ leading: String, _ exactEnd: String) throws {
        let routes: Routes = ["xy": [.get("/a/x/y")]]
        let tables = [
            try table(routes), try table(Self.member("one", ["/a"], routes, .collapseLeading)),
            try table(Self.member("one", ["/a"], routes, ignoresTrailingSlash: false)),
        ]
        expect(try tables.map { try found(path, in: $0) }, is: [collapsing, leading, exactEnd])
    }

    @Test("an empty segment is no parameter") func emptySegment() throws {
        let routes: Routes = ["get": [.get("/a/{id}/x")]]
        let table = try table(Self.member("one", ["/a"], routes, .collapseLeading, ignoresTrailingSlash: false))
        expect(try found("/a//x", in: table), is: "0: unknown")
    }

    @Test("a literal goes before a parameter, and a dead end is left again") func backtracking() throws {
        let table = try table(["literal": [.get("/a/x/y")], "parameter": [.get("/a/{p}/z")]])
        expect(try found("/a/x/y", in: table), is: "0.0")
        expect(try found("/a/x/z", in: table), is: "0.1 p=x")
    }

    @Test("two patterns of one shape name their parameters each in its own way") func parameterNames() throws {
        let table = try table(["get": [.get("/a/{id}")], "put": [.put("/a/{name}")]])
        expect(try found("/a/7", in: table), is: "0.0 id=7")
        expect(try found("/a/7", in: table, by: "PUT"), is: "0.1 name=7")
    }

    @Test("several endpoints may lead to one route") func endpoints() throws {
        let table = try table(["x": [.get("/a/x"), .post("/a/y")]])
        expect(try found("/a/x", in: table), is: "0.0")
        expect(try found("/a/y", in: table, by: "POST"), is: "0.0")
    }

    private static let clashes: [(members: [RouteTable.Member], message: String)] = [
        (
            [member("one", ["/a"], ["x": [.get("/a/{id}")], "y": [.get("/a/{name}")]])],
            "x and y both answer to GET /a/{name}"
        ),
        (
            [member("one", ["/a"], ["x": [.options("/a/{rest...}")], "y": [.options("/a/{all...}")]])],
            "x and y both answer to OPTIONS /a/{all...}"
        ),
        ([member("one", ["/a"], ["x": [.get("/a/x")], "y": [.get("/a//x")]])], "x and y both answer to GET /a//x"),
        ([member("one", ["/a"], ["x": [.get("/b/x")]])], "x at GET /b/x lies under no prefix of one"),
        ([member("one", ["/a"], ["x": [.get("/ab")]])], "x at GET /ab lies under no prefix of one"),
        ([member("one", ["/a"], [:]), member("two", ["/a/b"], [:])], "one owns /a, below which two owns /a/b"),
        ([member("one", ["/a/b"], [:]), member("two", ["/a"], [:])], "two owns /a, below which one owns /a/b"),
        ([member("one", ["/a"], [:]), member("two", ["/a"], [:])], "two owns /a, below which one owns /a"),
    ]

    @Test("a clash is named", arguments: clashes.indices) func clash(_ index: Int) {
        let (members, message) = Self.clashes[index]
        #expect { try RouteTable(members).check() } throws: { "\($0)" == message }
    }

    @Test("prefixes that only begin alike do not clash, nor do those of one vendor") func neighbours() throws {
        _ = try table(Self.member("one", ["/a", "/a/b"], [:]), Self.member("two", ["/ab"], [:]))
    }

    @Test("the nearest routes come first, a wrong method counting less than a wrong word") func nearest() throws {
        let table = try table([
            "list": [.get("/a/things")], "create": [.post("/a/things")], "get": [.get("/a/{id}/parts/{part}")],
        ])
        expect(
            table.guide.nearest(to: .get, "/a/thing"),
            is: ["one list: GET /a/things", "one create: POST /a/things", "one get: GET /a/{id}/parts/{part}"])
        expect(table.guide.nearest(to: .get, "/a/7/part/8", count: 1), is: ["one get: GET /a/{id}/parts/{part}"])
    }

    @Test("a browser's question is farther than the call itself, and a parameter than a word") func questions() throws {
        let routes: Routes = [
            "ask": [.options("/a/token")], "create": [.post("/a/token")], "keys": [.get("/a/v1/keys")],
            "any": [.get("/b/c/a/{id}")],
        ]
        let table = try table(Self.member("one", ["/a", "/b"], routes))
        expect(table.guide.nearest(to: .get, "/a/token", count: 1), is: ["one create: POST /a/token"])
        expect(table.guide.nearest(to: .get, "/a/keys", count: 1), is: ["one keys: GET /a/v1/keys"])
    }

    @Test("routes of another vendor are suggested when none of the path's own comes close") func ownFirst() throws {
        let table = try table(
            Self.member("one", ["/a"], ["list": [.get("/a/things/all")]]),
            Self.member("two", ["/b"], ["list": [.get("/b/things")]]))
        expect(table.guide.nearest(to: .get, "/a/things", of: "one"), is: ["one list: GET /a/things/all"])
        expect(table.guide.nearest(to: .get, "/a/things", of: "two", count: 1), is: ["two list: GET /b/things"])
        #expect(table.guide.nearest(to: .get, "/c/elsewhere", of: "one").isEmpty)
    }

    private static let cards = "one cards: GET /api/v1/partner/{partner}/customer/{id}/cards"
    private static let me = "two me: GET /two/v1/me"
    private static let ping = "one ping: GET /v2/ping"

    @Test(
        "the route that a person means is nearest: of base addresses that lack, double or mistake a prefix",
        arguments: [
            ("/v1/partner/3/customer/7/cards", cards), ("/api/api/v1/partner/3/customer/7/cards", cards),
            ("/api/v1/api/v1/partner/3/customer/7/cards", cards), ("/two/api/v1/partner/3/customer/7/cards", cards),
            ("/API/v1/partner/3/customer/7/cards", cards), ("/me", me), ("/v1/me", me), ("/api/v1/me", me),
            ("//two//v1/me/", me), ("/two/v1/two/v1/me", me), ("/two/v2/me", me), ("/ping", ping),
            ("/api/v2/ping", ping), ("/favicon.ico", nil), ("/", nil), ("/robots.txt", nil),
            ("/a/b/c/d/e/f/g/h", nil),
        ] as [(String, String?)])
    func meant(_ path: String, _ expected: String?) throws {
        let one: Routes = [
            "cards": [.get("/api/v1/partner/{partner}/customer/{id}/cards")],
            "card": [.get("/api/v1/partner/{partner}/customer/{id}/cards/{card}")],
            "add": [.post("/api/v1/partner/{partner}/customer/{id}/cards")], "ping": [.get("/v2/ping")],
        ]
        let two: Routes = ["me": [.get("/two/v1/me")], "any": [.post("/two/v1/{name}")]]
        let table = try table(Self.member("one", ["/api/v1", "/v2"], one), Self.member("two", ["/two"], two))
        expect(table.guide.closest(to: .get, path[...])?.text, is: expected)
    }
}
