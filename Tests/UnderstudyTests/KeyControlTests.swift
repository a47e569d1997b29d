import Emulation
import JSON
import Support
import Testing
import Understudy

@Suite("Control: keys")
struct KeyControlTests {
    private func world(_ depth: Depth = .pipeline) async throws -> World {
        let folder = try Notary.fixtures("x")
        let emulator = try Emulator(fixtures: FixtureStore(layers: [folder.path]), loaders: [VendorLoader(Notary.self)])
        return try await World(depth, on: Stage(emulator))
    }

    private func kids(_ world: World, _ issuer: String = "plain") async throws -> [String] {
        let answer = try await world.call(.get, "/notary/\(issuer)/jwks")
        #expect(answer.status == 200)
        return answer.json["keys"]?.array?.compactMap { $0["kid"]?.string } ?? []
    }

    private func accepts(_ token: String, _ world: World) async throws -> Bool {
        let answer = try await world.call(.get, "/notary/whoami", [("authorization", "Bearer " + token)])
        #expect(answer.status == 200 || answer.failure == "token-wrong")
        return answer.status == 200
    }

    @discardableResult
    private func drill(_ name: String, _ world: World, _ issuer: String = "plain") async throws -> JSON {
        let answer = try await world.control(.post, "keys/notary/\(issuer)/\(name)")
        #expect(answer.status == 200, "\(answer.text)")
        return answer.json
    }

    @Test("overlap: another key signs, both are published; retire: the old one leaves", arguments: Depth.allCases)
    func overlap(_ depth: Depth) async throws {
        let world = try await world(depth)
        let old = try await world.mint("notary/seal")
        #expect(try await kids(world) == ["first"])
        let answer = try await drill("overlap", world)
        #expect(answer["keys"]?.array?.map { $0["role"] } == ["signing", "old"])
        let both = try await kids(world)
        #expect(both.count == 2 && both[1] == "first")
        let new = try await world.mint("notary/seal")
        #expect(try await accepts(old, world))
        #expect(try await accepts(new, world))
        try await drill("retire", world)
        #expect(try await kids(world) == [both[0]])
        #expect(try await !accepts(old, world))
        #expect(try await accepts(new, world))
    }

    @Test("replace: another key signs, and the old ones leave at once")
    func replace() async throws {
        let world = try await world()
        let old = try await world.mint("notary/seal")
        try await drill("overlap", world)
        try await drill("replace", world)
        let kids = try await kids(world)
        #expect(kids.count == 1 && kids != ["first"])
        #expect(try await !accepts(old, world))
        #expect(try await accepts(world.mint("notary/seal"), world))
    }

    @Test("same-kid: new material under the old name, so that what a client has kept fits nothing any more")
    func sameKID() async throws {
        let world = try await world()
        let old = try await world.mint("notary/seal")
        let before = try await world.call(.get, "/notary/plain/jwks").json
        try await drill("same-kid", world)
        let after = try await world.call(.get, "/notary/plain/jwks").json
        #expect(after["keys"]?[0]?["kid"] == "first")
        #expect(after != before)
        #expect(try await !accepts(old, world))
        #expect(try await accepts(world.mint("notary/seal"), world))
    }

    @Test("break and repair: the key set answers the vendor's error, and every time is counted")
    func broken() async throws {
        let world = try await world()
        try await drill("break", world)
        let refused = try await world.call(.get, "/notary/plain/jwks")
        #expect(refused.status == 500)
        #expect(refused.failure == "keys-broken")
        let listed = try await world.control(.get, "keys").json["issuers"]?[0]
        #expect(listed?["broken"] == true)
        #expect(listed?["fetches"] == 1)
        try await drill("repair", world)
        #expect(try await kids(world) == ["first"])
        #expect(try await world.control(.get, "keys").json["issuers"]?[0]?["fetches"] == 2)
    }

    @Test("an issuer that announces its next key lets that one sign, and ready pairs go first")
    func announcing() async throws {
        let world = try await world()
        #expect(try await kids(world, "announcing") == ["first", "second"])
        let answer = try await drill("overlap", world, "announcing")
        #expect(answer["keys"]?.array?.map { $0["role"] } == ["signing", "next", "old"])
        #expect(try await kids(world, "announcing") == ["second", "spare", "first"])
        try await drill("replace", world, "announcing")
        let kids = try await kids(world, "announcing")
        #expect(kids.count == 2 && kids[0] == "spare")
    }

    @Test("overlap keeps one old key, however often it is done")
    func overlaps() async throws {
        let world = try await world()
        for (issuer, roles) in [("plain", ["signing", "old"]), ("announcing", ["signing", "next", "old"])] {
            for _ in 1...3 {
                let keys = try await drill("overlap", world, issuer)["keys"]?.array ?? []
                #expect(keys.compactMap { $0["role"]?.string } == roles)
            }
        }
    }

    @Test("the list shows public parts only, of every sandbox its own; a reset brings the first keys back")
    func list() async throws {
        let world = try await world()
        try await drill("overlap", world)
        let answer = try await world.control(.get, "keys")
        let issuers = try #require(answer.json["issuers"]?.array)
        #expect(issuers.map { $0["issuer"] } == ["plain", "announcing"])
        #expect(issuers[0]["vendor"] == "notary")
        #expect(issuers[0]["algorithm"] == "ES256")
        let key = try #require(issuers[0]["keys"]?[0]?["jwk"]?.object)
        #expect(key.map(\.name) == ["kty", "crv", "x", "y", "kid", "use", "alg"])
        #expect(!answer.text.contains("\"d\""))
        let other = try await world.bare(.get, "/_understudy/keys").json["issuers"]?[0]?["keys"]?.array
        #expect(other?.count == 1)
        try await world.control(.post, "reset")
        #expect(try await kids(world) == ["first"])
    }

    @Test("with a seed new keys have the same names")
    func seeded() async throws {
        var names: Set<[String]> = []
        for _ in 0..<2 {
            let world = try await world()
            try await world.set(seed: 7)
            try await drill("overlap", world)
            names.insert(try await kids(world))
        }
        #expect(names.count == 1)
    }

    @Test(
        "an unknown vendor, issuer or drill is 404 and names the nearest",
        arguments: [
            ("notry/plain/overlap", "no-such-vendor", "did you mean “notary”?"),
            ("notary/plan/overlap", "no-such-issuer", "notary has no issuer plan; did you mean “plain”?"),
            ("notary/plain/overlab", "no-such-drill", "no drill is called overlab; did you mean “overlap”?"),
        ])
    func unknown(_ path: String, _ code: String, _ message: String) async throws {
        try await world().control(.post, "keys/" + path).expectProblem(404, code, message)
    }

    @Test("a vendor whose partners share secrets lists those by length alone, and has nothing to drill")
    func secrets() async throws {
        let world = try await World()
        let answer = try await world.control(.get, "keys").json
        func listed(_ name: String) -> [JSON] {
            answer[name]?.array?.filter { $0["vendor"] == "rezolve" } ?? []
        }
        #expect(listed("issuers") == [])
        #expect(listed("fetched") == [])
        #expect(
            listed("secrets") == [
                ["vendor": "rezolve", "owner": "partner 317", "algorithm": "HS512", "bytes": 88],
                ["vendor": "rezolve", "owner": "partner 3", "algorithm": "HS512", "bytes": 6],
            ])
        try await world.control(.post, "keys/rezolve/317/overlap").expectProblem(
            404, "no-such-issuer",
            "rezolve has no issuer that publishes keys; it shares secrets with those who sign")
    }
}
