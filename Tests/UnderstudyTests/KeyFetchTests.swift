import Emulation
import Expectations
import JSON
import Support
import Testing
import Tokens
import Understudy

@Suite("Published keys") struct KeyFetchTests {
    /// A busy machine may need longer for an answer than the five seconds that users wait.
    private static func pace(burst: Int, interval: Duration, sparesThisMachine: Bool = true) -> KeyFetchPace {
        KeyFetchPace(burst: burst, interval: interval, sparesThisMachine: sparesThisMachine, timeLimit: .seconds(600))
    }

    private let world: World

    init() async throws { world = try await Self.world() }

    private static func world(
        _ depth: Depth = .pipeline, _ urls: [String: String] = ["own": "{self}/notary/plain/jwks"],
        pace: KeyFetchPace = Self.pace(burst: 300, interval: .milliseconds(100))
    ) async throws -> World {
        let folder = try Subscriber.fixtures(urls)
        let emulator = try Emulator(
            fixtures: FixtureStore(layers: [folder.path]),
            loaders: [VendorLoader(Notary.self), VendorLoader(Subscriber.self)], keyFetchPace: pace)
        return try await World(depth, on: Stage(emulator))
    }

    private func read(_ token: String, _ world: World, _ issuer: String = "own") async throws -> ReceivedAnswer {
        try await world.call(.get, "/subscriber/\(issuer)", [("authorization", "Bearer " + token)])
    }

    private func fetches(_ world: World, _ issuer: String = "own") async throws -> Int? {
        let listing = try await world.control(.get, "keys").json
        return listing["fetched"]?.array?.first { $0["issuer"]?.string == issuer }?["fetches"]?.int
    }

    /// A token that is signed with a new key of that name.
    private func forged(_ kid: String = "unknown") throws -> String {
        let key = try SigningKey.generateEC(.p256, id: kid)
        let draft = TokenDraft(header: ["alg": "ES256", "kid": .string(kid)], claims: [:])
        let moment = Moment(unixSeconds: Double(World.exampleMoment))
        return try UnsignedToken(draft, key: key, algorithm: .es256).signed(at: moment)
    }

    private func delayKeys(_ delay: String, _ world: World) async throws {
        try await world.arm(#"{"vendor":"notary","route":"jwks","times":"always","fault":{"delay":"\#(delay)"}}"#)
    }

    /// How many of so many calls at once are answered with each status.
    private func statuses(
        _ count: Int, _ call: @escaping @Sendable () async throws -> ReceivedAnswer
    ) async throws -> [Int: Int] {
        try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<count { group.addTask { try await call().status } }
            return try await group.reduce(into: [Int: Int]()) { $0[$1, default: 0] += 1 }
        }
    }

    @Test("are asked for before the first use, in the same sandbox, and kept") func firstUse() async throws {
        let token = try await world.mint("notary/seal")
        expect(try await fetches(world), is: 0)
        let first = try await read(token, world)
        first.expect(200)
        let finding = first.findings.first { $0.check == "keys-fetched" }
        expect(finding?.outcome, is: .passed)
        expect(finding?.found, is: .text("200, 1 key: first"))
        expect(world.sandbox.journal.entries().map(\.record.route), is: ["jwks", "read"])
        let second = try await read(token, world)
        second.expect(200)
        expect(second.outcome(of: "keys-fetched"), is: nil)
        expect(try await fetches(world), is: 1)
        let listed = try await world.control(.get, "keys").json["fetched"]?[0]
        expect(
            listed,
            is: [
                "vendor": "subscriber", "issuer": "own", "url": "{self}/notary/plain/jwks", "kids": ["first"],
                "fetches": 1, "fetched_at": 1_800_000_000, "expires_at": 1_800_000_600, "problem": nil,
            ])
    }

    @Test("are told apart by who asked for them and who waited") func passengers() async throws {
        try await delayKeys("1s", world)
        let token = try forged()
        expect(try await statuses(10) { try await read(token, world) }, is: [401: 10])
        let reads = world.sandbox.journal.entries().filter { $0.record.route == "read" }
        let findings = reads.flatMap(\.record.findings)
        expect(findings.filter { $0.check == "keys-fetched" }.map(\.outcome), is: [.passed])
        let waiting = findings.filter { $0.check == "keys-awaited" }
        // A request delayed on a busy machine finds the keys present and records nothing.
        #expect((1...9).contains(waiting.count))
        expect(waiting.first?.found, is: .text("200, 1 key: first"))
        expect(waiting.first?.note, is: "Another request fetched the keys, and this one waited for them.")
        expect(try await fetches(world), is: 1)
    }

    @Test("are asked for once, whatever number of requests name a key that is not there", arguments: Depth.allCases)
    func stampede(_ depth: Depth) async throws {
        let world = try await Self.world(depth)
        expect(try await read(try await world.mint("notary/seal"), world).status, is: 200)
        try await world.advance("30s")
        let token = try forged()
        let count = depth == .pipeline ? 2000 : 200
        expect(try await statuses(count) { try await read(token, world) }, is: [401: count])
        expect(try await fetches(world), is: 2)
    }

    @Test("of an unknown name are not asked for again before the cool-down is over") func coolDown() async throws {
        let old = try await world.mint("notary/seal")
        expect(try await read(old, world).status, is: 200)
        try await world.control(.post, "keys/notary/plain/overlap")
        let new = try await world.mint("notary/seal")
        try await read(new, world).expect(401, #"{"code":"key-unknown"}"#, "key-unknown")
        try await world.advance("29s")
        expect(try await read(new, world).status, is: 401)
        expect(try await fetches(world), is: 1)
        try await world.advance("1s")
        expect(try await read(new, world).status, is: 200)
        expect(try await read(old, world).status, is: 200)
        expect(try await fetches(world), is: 2)
    }

    @Test("without a cool-down are asked for once for each request, and no more") func noCoolDown() async throws {
        try await world.set("subscriber.cool-down", "0")
        let token = try forged()
        for number in 1...3 {
            expect(try await read(token, world).failure, is: "key-unknown")
            expect(try await fetches(world), is: number)
        }
        try await world.control(.post, "keys/notary/plain/break")
        try await world.advance("700s")
        expect(try await read(token, world).failure, is: "key-unknown")
        expect(try await fetches(world), is: 4)
    }

    @Test("that cannot be had are a failure of their own, until they can be had again") func broken() async throws {
        let token = try await world.mint("notary/seal")
        try await world.control(.post, "keys/notary/plain/break")
        let first = try await read(token, world)
        first.expect(503, #"{"code":"keys-unavailable"}"#, "keys-unavailable")
        expect(first.findings.first?.found, is: .text("status 500; expected 200"))
        expect(try await read(token, world).failure, is: "keys-unavailable")
        expect(try await fetches(world), is: 1)
        try await world.control(.post, "keys/notary/plain/repair")
        try await world.advance("30s")
        expect(try await read(token, world).status, is: 200)
        expect(try await fetches(world), is: 2)
    }

    @Test("serve for a day beyond their lifetime while fresh ones cannot be had") func stale() async throws {
        let token = try await world.mint("notary/seal")
        expect(try await read(token, world).status, is: 200)
        try await world.control(.post, "keys/notary/plain/break")
        try await world.advance("600s")
        let stale = try await read(token, world)
        expect(stale.status, is: 200)
        expect(stale.outcome(of: "keys-fetched"), is: .noted)
        try await world.advance("86400s")
        expect(try await read(token, world).failure, is: "keys-unavailable")
        expect(try await fetches(world), is: 3)
    }

    @Test(
        "are not had when what is armed at their route cuts the answer short", arguments: ["reset", "empty", "garbage"])
    func faults(_ fault: String) async throws {
        let token = try await world.mint("notary/seal")
        try await world.arm(#"{"vendor":"notary","route":"jwks","fault":{"\#(fault)":true}}"#)
        expect(try await read(token, world).failure, is: "keys-unavailable")
    }

    @Test("are asked for over HTTP where the URL leads elsewhere, and where nobody listens the reason says so")
    func elsewhere() async throws {
        let stage = try Stage.shared()
        let world = try await Self.world(
            .pipeline,
            ["nobody": "http://127.0.0.1:1/jwks", "text": "http://127.0.0.1:\(stage.port)/_understudy/health"])
        let token = try forged()
        let refused = try await read(token, world, "nobody")
        expect(refused.failure, is: "keys-unavailable")
        let found = refused.findings.first.flatMap(\.found).map { "\($0)" } ?? ""
        #expect(found.contains("127.0.0.1:1 cannot be reached"), "\(found)")
        let other = try await read(token, world, "text")
        expect(other.failure, is: "keys-unavailable")
        let form = other.findings.first.flatMap(\.found).map { "\($0)" } ?? ""
        #expect(form.contains("expected an object with an array “keys”"), "\(form)")
    }

    @Test("of a URL that all sandboxes together have asked too often are not asked for, and old ones serve")
    func pace() async throws {
        let publisher = try await Self.world(.socket)
        let url = "http://127.0.0.1:\(publisher.stage.port)/~\(publisher.sandbox.name)/notary/plain/jwks"
        let pace = Self.pace(burst: 1, interval: .seconds(3600), sparesThisMachine: false)
        let world = try await Self.world(.pipeline, ["far": url], pace: pace)
        let token = try await publisher.mint("notary/seal")
        expect(try await read(token, world, "far").status, is: 200)
        try await world.advance("600s")
        let stale = try await read(token, world, "far")
        expect(stale.status, is: 200)
        let refusal =
            "not requested: this process requests a URL at most 1 times at once and then "
            + "once every 3600.0 seconds, for all sandboxes together"
        let finding = stale.findings.first { $0.check == "keys-fetched" }
        expect(finding?.outcome, is: .noted)
        expect(finding?.found, is: .text(refusal))
        expect(try await fetches(world, "far"), is: 1)
        try await world.control(.post, "reset")
        let forgotten = try await read(token, world, "far")
        forgotten.expect(503, #"{"code":"keys-unavailable"}"#, "keys-unavailable")
        expect(forgotten.findings.first?.found, is: .text(refusal))
        expect(try await fetches(publisher), is: 0)
        expect(publisher.sandbox.journal.entries().count { $0.record.route == "jwks" }, is: 1)
    }

    @Test("can be asked for by a handler, which goes on with what came") func handler() async throws {
        let answer = try await world.call(.post, "/subscriber/own/ask")
        expect(answer.text, is: #"{"problem":null,"kids":["first"],"skipped":[]}"#)
        expect(answer.outcome(of: "keys-fetched"), is: .passed)
        expect(try await fetches(world), is: 1)
        expect(try await read(try await world.mint("notary/seal"), world).status, is: 200)
        expect(try await fetches(world), is: 1)
    }

    @Test("are forgotten with the sandbox's state") func reset() async throws {
        expect(try await read(try await world.mint("notary/seal"), world).status, is: 200)
        try await world.control(.post, "reset")
        expect(try await fetches(world), is: 0)
    }

    @Test("that were on their way when the state was replaced are asked for again", arguments: ["reset", "state"])
    func replaced(_ what: String) async throws {
        let token = try await world.mint("notary/seal")
        let forged = try forged("first")
        try await delayKeys("200ms", world)
        async let good = read(token, world)
        async let bad = read(forged, world)
        // Theirs, and that for the keys.
        while world.sandbox.exchanges < 3 { await Task.yield() }
        let subscriber = try #require(world.emulator.vendors.firstIndex { $0.identity.id == "subscriber" })
        let cell = world.sandbox.vendor(subscriber)
        // Resetting the sandbox would also remove the notary's delay.
        cell.reset()
        if what == "reset" { try await world.control(.put, "faults", #"{"faults":[]}"#) }
        expect(try await good.status, is: 200)
        try await bad.expect(401, #"{"code":"signature-wrong"}"#, "signature-wrong")
        expect(try await fetches(world), is: 1)
    }

    @Test("that several handlers want at once are asked for once for all of them") func handlersShare() async throws {
        try await delayKeys("1s", world)
        expect(try await statuses(10) { try await world.call(.post, "/subscriber/own/ask") }, is: [200: 10])
        // A request delayed on a busy machine may fetch again.
        #expect(try await fetches(world) ?? 0 <= 2)
    }

    @Test("A client's own rules are shown beside the server's verdict") func clients() async throws {
        let answer = try await world.control(.post, "tokens/explain", #"{"token":"x","vendor":"subscriber"}"#)
        let client = answer.json["verdicts"]?[0]?["clients"]?[0]
        expect(client?["client"], is: "subscriber-app")
        expect(client?["usable"], is: false)
        expect(client?["result"], is: ["margin": 60])
        expect(client?["findings"]?.array?.isEmpty, is: false)
    }
}
