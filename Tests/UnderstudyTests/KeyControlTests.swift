import Emulation
import Expectations
import JSON
import Support
import Testing
import Understudy

@Suite("Control: keys") struct KeyControlTests {
    private let world: World

    init() async throws {
        let folder = try Notary.fixtures("x")
        let emulator = try Emulator(fixtures: FixtureStore(layers: [folder.path]), loaders: [VendorLoader(Notary.self)])
        world = try await World(on: Stage(emulator))
    }

    private func kids(_ issuer: String = "plain") async throws -> [String] {
        let answer = try await world.call(.get, "/notary/\(issuer)/jwks")
        answer.expect(200)
        return answer.json["keys"]?.array?.compactMap { $0["kid"]?.string } ?? []
    }

    private func accepts(_ token: String) async throws -> Bool {
        let answer = try await world.call(.get, "/notary/whoami", [("authorization", "Bearer " + token)])
        #expect(answer.status == 200 || answer.failure == "token-wrong")
        return answer.status == 200
    }

    @discardableResult
    private func drill(_ name: String, _ issuer: String = "plain") async throws -> JSON {
        let answer = try await world.control(.post, "keys/notary/\(issuer)/\(name)")
        answer.expect(200)
        return answer.json
    }

    @Test("overlap: another key signs, both are published; retire: the old one leaves") func overlap() async throws {
        let old = try await world.mint("notary/seal")
        expect(try await kids(), is: ["first"])
        let answer = try await drill("overlap")
        expect(answer["keys"]?.array?.map { $0["role"] }, is: ["signing", "old"])
        let both = try await kids()
        #expect(both.count == 2 && both[1] == "first")
        let new = try await world.mint("notary/seal")
        #expect(try await accepts(old))
        #expect(try await accepts(new))
        try await drill("retire")
        expect(try await kids(), is: [both[0]])
        #expect(try await !accepts(old))
        #expect(try await accepts(new))
    }

    @Test("replace: another key signs, and the old ones leave at once") func replace() async throws {
        let old = try await world.mint("notary/seal")
        try await drill("overlap")
        try await drill("replace")
        let kids = try await kids()
        #expect(kids.count == 1 && kids != ["first"])
        #expect(try await !accepts(old))
        #expect(try await accepts(world.mint("notary/seal")))
    }

    @Test("same-kid: new material under the old name, so that what a client has kept fits nothing any more")
    func sameKID() async throws {
        let old = try await world.mint("notary/seal")
        let before = try await world.call(.get, "/notary/plain/jwks").json
        try await drill("same-kid")
        let after = try await world.call(.get, "/notary/plain/jwks").json
        expect(after["keys"]?[0]?["kid"], is: "first")
        #expect(after != before)
        #expect(try await !accepts(old))
        #expect(try await accepts(world.mint("notary/seal")))
    }

    @Test("break and repair: the key set answers the vendor's error, and every time is counted")
    func broken() async throws {
        try await drill("break")
        try await world.call(.get, "/notary/plain/jwks")
            .expect(500, #"{"code":"keys-broken","motto":"x"}"#, "keys-broken")
        let listed = try await world.control(.get, "keys").json["issuers"]?[0]
        expect(["broken", "fetches"].map { listed?[$0] }, is: [true, 1])
        try await drill("repair")
        expect(try await kids(), is: ["first"])
        expect(try await world.control(.get, "keys").json["issuers"]?[0]?["fetches"], is: 2)
    }

    @Test("an issuer that announces its next key lets that one sign, and ready pairs go first")
    func announcing() async throws {
        expect(try await kids("announcing"), is: ["first", "second"])
        let answer = try await drill("overlap", "announcing")
        expect(answer["keys"]?.array?.map { $0["role"] }, is: ["signing", "next", "old"])
        expect(try await kids("announcing"), is: ["second", "spare", "first"])
        try await drill("replace", "announcing")
        let kids = try await kids("announcing")
        #expect(kids.count == 2 && kids[0] == "spare")
    }

    @Test("the list shows public parts only, of every sandbox its own; a reset brings the first keys back")
    func list() async throws {
        try await drill("overlap")
        let answer = try await world.control(.get, "keys")
        let issuers = try #require(answer.json["issuers"]?.array)
        expect(issuers.map { $0["issuer"] }, is: ["plain", "announcing"])
        expect(["vendor", "algorithm"].map { issuers[0][$0] }, is: ["notary", "ES256"])
        let key = try #require(issuers[0]["keys"]?[0]?["jwk"]?.object)
        expect(key.map(\.name), is: ["kty", "crv", "x", "y", "kid", "use", "alg"])
        #expect(!answer.text.contains("\"d\""))
        let other = try await world.bare(.get, "/_understudy/keys").json["issuers"]?[0]?["keys"]?.array
        expect(other?.count, is: 1)
        try await world.control(.post, "reset")
        expect(try await kids(), is: ["first"])
    }

    @Test(
        "an unknown vendor, issuer or drill is 404 and names the nearest",
        arguments: [
            ("notry/plain/overlap", "no-such-vendor", "did you mean “notary”?"),
            ("notary/plan/overlap", "no-such-issuer", "notary has no issuer plan; did you mean “plain”?"),
            ("notary/plain/overlab", "no-such-drill", "no drill is called overlab; did you mean “overlap”?"),
        ])
    func unknown(_ path: String, _ code: String, _ message: String) async throws {
        try await world.control(.post, "keys/" + path).expectProblem(404, code, message)
    }

    @Test("a vendor whose partners share secrets lists those by length alone, and has nothing to drill")
    func secrets() async throws {
        let world = try await World()
        let answer = try await world.control(.get, "keys").json
        func listed(_ name: String) -> [JSON] { answer[name]?.array?.filter { $0["vendor"] == "rezolve" } ?? [] }
        expect(listed("issuers"), is: [])
        expect(listed("fetched"), is: [])
        expect(
            listed("secrets"),
            is: [
                ["vendor": "rezolve", "owner": "partner 317", "algorithm": "HS512", "bytes": 88],
                ["vendor": "rezolve", "owner": "partner 3", "algorithm": "HS512", "bytes": 6],
            ])
        try await world.control(.post, "keys/rezolve/317/overlap").expectProblem(
            404, "no-such-issuer",
            "rezolve has no issuer that publishes keys; it shares secrets with those who sign")
    }
}

@Suite("The pace of key fetches") struct KeyFetchPaceTests {
    private let start = ContinuousClock.now
    private let url = "https://keys.example.test/jwks.json"

    private func admitted(_ count: Int, _ pace: KeyFetchPace, _ url: String, after time: Duration) -> Int {
        (0..<count).count { _ in pace.admits(url, at: start + time) }
    }

    @Test("lets a burst pass and then one after each interval, and an hour later a burst again") func burst() {
        let pace = KeyFetchPace(burst: 5, interval: .milliseconds(100))
        expect(admitted(100, pace, url, after: .zero), is: 5)
        expect(admitted(10, pace, url, after: .milliseconds(99)), is: 0)
        expect(admitted(10, pace, url, after: .milliseconds(100)), is: 1)
        expect(admitted(10, pace, url, after: .milliseconds(350)), is: 2)
        expect(admitted(100, pace, url, after: .seconds(3600)), is: 5)
    }

    @Test("is kept for each URL by itself") func urls() {
        let pace = KeyFetchPace(burst: 2, interval: .seconds(1))
        expect(admitted(10, pace, url, after: .zero), is: 2)
        expect(admitted(10, pace, url + "?other", after: .zero), is: 2)
    }

    @Test(
        "is not kept for URLs of this machine, unless that is wanted",
        arguments: [
            ("http://127.0.0.1:9000/jwks.json", true), ("http://[::1]/", true), ("https://localhost/", true),
            ("http://keys.localhost:1/", true), ("http://127.1.2.3/", true), ("http://10.0.0.1/", false),
            ("http://localhost.example.test/", false), ("http://keycloak:8080/", false), ("no URL", false),
        ])
    func thisMachine(_ url: String, _ isSpared: Bool) {
        let pace = KeyFetchPace(burst: 1, interval: .seconds(1))
        expect(admitted(10, pace, url, after: .zero), is: (isSpared ? 10 : 1))
        let strict = KeyFetchPace(burst: 1, interval: .seconds(1), sparesThisMachine: false)
        expect(admitted(10, strict, url, after: .zero), is: 1)
    }

    @Test("is one for all that go beyond a thousand URLs, until those have recovered") func manyURLs() {
        let pace = KeyFetchPace(burst: 1, interval: .seconds(1))
        let all = (0..<1100).count { pace.admits(url + "?\($0)", at: start) }
        expect(all, is: 1001)
        expect((0..<1100).count { pace.admits(url + "?new\($0)", at: start + .seconds(1)) }, is: 1001)
    }

    @Test("of a process is wide enough for some hundred sandboxes that begin at the same time") func process() {
        let url = "https://process.example.test/jwks.json"
        expect(admitted(1000, .ofProcess, url, after: .zero), is: 300)
        expect(admitted(1000, .ofProcess, url, after: .seconds(1)), is: 10)
    }
}
