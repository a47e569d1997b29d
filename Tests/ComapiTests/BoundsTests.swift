import Expectations
import JSON
import Support
import Testing
import Understudy

@testable import Comapi
@testable import Emulation

@Suite("Comapi's bounds") struct BoundsTests {
    private static let space = ComapiID("space")

    private static func challenge(_ number: Int, expires: Double = 1000) -> ComapiChallenge {
        ComapiChallenge(
            id: "c\(number)", space: space, nonce: "n\(number)", issued: Moment(unixSeconds: 0),
            expires: Moment(unixSeconds: expires))
    }

    @Test("10,000 challenges are kept: of more, expired ones go first, then the oldest") func challenges() {
        var challenges = ComapiChallengeStore()
        let now = Moment(unixSeconds: 500)
        for number in 0..<ComapiChallengeStore.capacity {
            challenges.add(Self.challenge(number, expires: number == 7000 ? 100 : 1000), at: now)
        }
        expect(challenges.count, is: 10_000)
        challenges.add(Self.challenge(10_000), at: now)
        #expect(challenges["c7000"] == nil)
        #expect(challenges["c0"] == nil)
        #expect(challenges["c98"] == nil)
        #expect(challenges["c99"] != nil)
        #expect(challenges["c10000"] != nil)
        #expect(challenges[named: "n0"] == nil)
        expect(challenges[named: "n99"]?.id, is: "c99")
        expect(challenges.count, is: 9901)
    }

    @Test("a challenge stays a day after its end, and no longer") func remembrance() {
        var challenges = ComapiChallengeStore()
        challenges.add(Self.challenge(1, expires: 1000), at: Moment(unixSeconds: 0))
        challenges.add(Self.challenge(2, expires: 2000), at: Moment(unixSeconds: 87_399))
        #expect(challenges["c1"] != nil)
        challenges.add(Self.challenge(3, expires: 90_000), at: Moment(unixSeconds: 87_400))
        #expect(challenges["c1"] == nil)
        #expect(challenges["c2"] != nil)
    }

    private static func id(_ text: String) -> ComapiSessionID { ComapiSessionID(text, in: space) }

    @Test("ended sessions are remembered within a bound") func ended() {
        var sessions = ComapiSessionStore()
        for number in 0...ComapiSessionStore.endedCapacity { sessions.noteEnd(of: Self.id("e\(number)")) }
        #expect(!sessions.ended.contains(Self.id("e0")))
        #expect(sessions.ended.contains(Self.id("e\(ComapiSessionStore.endedCapacity)")))
    }

    @Test("the next deadline is that of the first session with a socket") func deadlines() {
        var sockets = ComapiOpenSockets()
        let (a, b) = (Self.id("a"), Self.id("b"))
        sockets.add(b, expires: Moment(unixSeconds: 20))
        sockets.add(a, expires: Moment(unixSeconds: 10))
        sockets.add(a, expires: Moment(unixSeconds: 10))
        expect(sockets.earliest, is: Moment(unixSeconds: 10))
        expect(sockets.over(at: Moment(unixSeconds: 10)), is: [a])
        sockets.remove(a)
        expect(sockets.earliest, is: Moment(unixSeconds: 10))
        sockets.remove(a)
        expect(sockets.earliest, is: Moment(unixSeconds: 20))
        sockets.setExpiry(of: b, Moment(unixSeconds: 5))
        expect(sockets.earliest, is: Moment(unixSeconds: 5))
        sockets.forget(b)
        sockets.remove(b)
        expect(sockets.earliest, is: nil)
    }

    private static func message(_ id: Int) -> ComapiMessage {
        let event = ComapiEvent(id: id, eventID: "e\(id)", actor: ComapiID("mira"), messageID: "m\(id)")
        return ComapiMessage(sentBy: event, from: [:])
    }

    @Test("a log keeps its newest events, and pages of what is left end as if it were all") func log() {
        var (log, least) = (ComapiEventLog(), Int.max)
        for id in 1...(ComapiEventLog.capacity + 1) {
            log.append(Self.message(id))
            if id == 1 { least = log.byteCount }
        }
        expect(log.firstID, is: 101)
        expect(log.events.count, is: log.messages.count)
        expect(log.byteCount, is: 9901 * least)
        #expect(log[100] == nil)
        expect(log[101]?.messageID, is: "m101")
        let page = ComapiMessagePage(log, from: 102, limit: 5)
        expect(page.messages.map(\.id), is: ["m102", "m101"])
        expect(page.earliestEventID, is: 0)
        #expect(ComapiMessagePage(log, from: 50, limit: 5).messages.isEmpty)
    }

    @Test("a page of nothing", arguments: [nil, 0, 7]) func emptyPage(_ from: Int?) {
        let page = ComapiMessagePage(ComapiEventLog(), from: from, limit: 5)
        expect(page.latestEventID, is: 0)
        expect(page.earliestEventID, is: 0)
        #expect(page.messages.isEmpty && page.orphans.isEmpty)
        var log = ComapiEventLog()
        log.append(Self.message(1))
        let zero = ComapiMessagePage(log, from: 0, limit: 5)
        #expect((zero.latestEventID, zero.earliestEventID) == (0, 0))
    }

    @Test("what calls add counts as long as it is there, and those who leave a conversation give their room back")
    func size() async throws {
        let world = try await World.comapi()
        let state = try #require(
            world.emulator.vendors.indices.lazy.compactMap { world.sandbox.vendor($0) as? SandboxedVendor<Comapi> }
                .first)
        func size() -> StateSize { state.content.withLock { $0.loaded.vendor.size(of: $0.state) } }
        expect(size(), is: StateSize())
        let (mira, _) = try await world.trip()
        // Two sessions, two profiles and a conversation.
        let before = size()
        expect(before.records, is: 5)
        let path = Example.path("/conversations/trip-42/participants")
        for _ in 0..<3 {
            try await world.call(.post, path, mira.fields, #"[{"id":"zoe"},{"id":"ann"}]"#).expect(201)
            expect(size(), is: before + StateSize(bytes: 2 * (3 + 128)))
            try await world.call(.delete, path + "?id=zoe&id=ann", mira.fields).expect(204)
            expect(size(), is: before)
        }
        let body = String(repeating: "x", count: 5000)
        try await world.call(.post, Example.path("/content"), mira.fields, body).expect(200)
        expect(size().records, is: 6)
        #expect(size().bytes > before.bytes + 5000)
        let exported = try await world.control(.get, "state/comapi").text
        let counted = size()
        expect(try await world.control(.put, "state/comapi", exported).status, is: 200)
        expect(size(), is: counted)
    }

    @Test("the uploads of all sandboxes have 128 MB; more are refused until sandboxes give theirs back")
    func uploads() async throws {
        let world = try await World(on: Stage(Emulator(fixtures: Repository.fixtures)), at: Example.moment)
        let other = world.named("other")
        try await other.control(.put, "clock", "{\"now\":\(Example.moment),\"freeze\":true}")
        let (mira, others) = (try await world.session(), try await other.session())
        let bytes = [UInt8](repeating: 7, count: 10 << 20)
        func upload(_ world: World, _ session: Session) async throws -> ReceivedAnswer {
            try await world.call(.post, Example.path("/content"), session.fields, bytes: bytes)
        }
        for _ in 0..<7 { try await upload(world, mira).expect(200) }
        for _ in 0..<6 { try await upload(other, others).expect(200) }
        // The second refusal names the same sum: the first has added nothing.
        for _ in 0..<2 {
            let refused = try await upload(other, others)
            refused.expect(413, #"{"message":"Payload Too Large"}"#, "body-too-large")
            expect(
                refused.entry?.record.reason,
                is: "the uploads of all sandboxes have 136318767 bytes; expected fewer than 134217728 before anything "
                    + "is added: delete or reset sandboxes that are no longer used")
        }
        // What is no upload goes on.
        try await other.call(.post, Example.path("/conversations"), others.fields, Example.trip).expect(201)
        let small = #"{"contents":[{"id":"c","space":"s","name":"n","type":"t","data":"aGk="}]}"#
        let imported = try await world.named("third").control(.put, "state/comapi", small)
        expect(imported.status, is: 400)
        #expect(
            imported.text.contains(
                "with it the uploads of all sandboxes have 136319033 bytes; at most 134217728 are kept"),
            "\(imported.text)")
        try await world.control(.post, "reset")
        try await upload(other, others).expect(200)
        try await other.delete()
        expect(try await world.named("third").control(.put, "state/comapi", small).status, is: 200)
        let again = try await world.session()
        for _ in 0..<13 { try await upload(world, again).expect(200) }
        try await upload(world, again).expect(413, #"{"message":"Payload Too Large"}"#, "body-too-large")
    }

    @Test("of pushes the newest thousand are kept") func pushes() {
        var space = ComapiSpaceState()
        for number in 0..<1001 { space.note(push: JSON(number)) }
        expect(space.pushes.count, is: 1000)
        expect(space.pushes.first, is: 1)
    }

    @Test("a query has a hundred values at most, in one list or in many terms, of 256 bytes at most")
    func terms() async throws {
        let world = try await World.comapi()
        let mira = try await world.session()
        let refusal = Example.fault("query", "is not valid")
        for name in ["a", "a[]"] {
            let values = (0..<100).map { "\(name)=!\($0)" }.joined(separator: "&")
            try await world.call(.get, Example.path("/profiles?\(values)"), mira.fields).expect(200)
            try await world.call(.get, Example.path("/profiles?\(values)&a=1"), mira.fields)
                .expect(400, refusal, "invalid-parameter")
        }
        let longest = String(repeating: "%C3%BC", count: 128)
        try await world.call(.get, Example.path("/profiles?a=\(longest)"), mira.fields).expect(200, "[]")
        try await world.call(.get, Example.path("/profiles?a=\(longest)x"), mira.fields)
            .expect(400, refusal, "invalid-parameter")
    }

    @Test("a hundred newcomers a call, and whoever is there already counts for nothing") func newcomers() async throws {
        let world = try await World.comapi()
        let (mira, _) = try await world.trip()
        let path = Example.path("/conversations/trip-42")
        func add(_ range: Range<Int>) async throws -> ReceivedAnswer {
            let ids = ["bob"] + range.map { "user-\($0)" }
            let body = JSON.array(ids.map { ["id": .string($0)] })
            return try await world.call(.post, path + "/participants", mira.fields, body.text)
        }
        try await add(0..<101).expect(400, Example.fault("body", "is not valid"), "invalid-parameter")
        expect(try await world.call(.get, path, mira.fields).json["participantCount"], is: 2)
        try await add(0..<100).expect(201, "")
        expect(try await world.call(.get, path, mira.fields).json["participantCount"], is: 102)
        try await add(50..<150).expect(201, "")
        expect(try await world.call(.get, path, mira.fields).json["participantCount"], is: 152)
    }

    @Test("of what a call says of somebody the last word counts, and nobody hears of the others")
    func repeated() async throws {
        let world = try await World.comapi()
        let (mira, _) = try await world.trip()
        let path = Example.path("/conversations/trip-42")
        func add(_ roles: [(String, String)]) async throws -> ReceivedAnswer {
            let body = JSON.array(roles.map { ["id": .string($0.0), "role": .string($0.1)] })
            return try await world.call(.post, path + "/participants", mira.fields, body.text)
        }
        let socket = try await world.socket(mira)
        try await add(Array(repeating: [("bob", "owner"), ("bob", "participant")], count: 300).flatMap(\.self))
            .expect(201, "")
        try await add([("zoe", "participant"), ("bob", "participant"), ("zoe", "owner")]).expect(201, "")
        let frame = await socket.frame()
        expect(frame["name"], is: "conversation.participantAdded")
        expect(frame["payload"]?["profileId"], is: "zoe")
        expect(frame["payload"]?["role"], is: "owner")
        try await add((0..<100).map { ("user-\($0)", "participant") }).expect(201, "")
        let owners = (0..<100).map { ("user-\($0)", "owner") }
        try await add(owners + [("bob", "owner")]).expect(
            400, Example.fault("body", "is not valid"), "invalid-parameter")
    }

    @Test("a hundred who leave a call, and whoever is not there counts for nothing") func leavers() async throws {
        let world = try await World.comapi()
        let mira = try await world.session()
        let people = JSON.array((0..<101).map { ["id": .string("user-\($0)")] })
        try await world.call(
            .post, Example.path("/conversations"), mira.fields, #"{"id":"trip-42","participants":\#(people.text)}"#
        ).expect(201)
        let path = Example.path("/conversations/trip-42")
        func remove(_ range: Range<Int>) async throws -> ReceivedAnswer {
            let ids = JSON.array(range.map { .string("user-\($0)") })
            return try await world.call(.delete, path + "/participants", mira.fields, ids.text)
        }
        try await remove(0..<101).expect(400, Example.fault("id", "is not valid"), "invalid-parameter")
        expect(try await world.call(.get, path, mira.fields).json["participantCount"], is: 102)
        try await remove(1..<300).expect(204, "")
        expect(try await world.call(.get, path, mira.fields).json["participantCount"], is: 2)
    }

    @Test("a conversation begins with a thousand at most") func beginners() async throws {
        let world = try await World.comapi()
        let mira = try await world.session()
        func create(_ count: Int) async throws -> ReceivedAnswer {
            let people = JSON.array((0..<count).map { ["id": .string("user-\($0)")] })
            let body = #"{"id":"crowd","participants":\#(people.text)}"#
            return try await world.call(.post, Example.path("/conversations"), mira.fields, body)
        }
        try await create(1001).expect(400, Example.fault("participants", "is not valid"), "invalid-parameter")
        let created = try await create(1000)
        created.expect(201)
        expect(created.json["participantCount"], is: 1001)
    }

    @Test("a list of status updates that change nothing is remarked a hundred times, and answered")
    func statusNotes() async throws {
        let world = try await World.comapi()
        let (mira, bob) = try await world.trip()
        let path = Example.path("/conversations/trip-42/messages")
        let sent = try await world.call(.post, path, mira.fields, Example.message)
        let ids = (0..<150).map { JSON.string("none-\($0)") } + [sent.json["id"] ?? nil]
        let updates: JSON = [["messageIds": .array(ids), "status": "read"]]
        let answer = try await world.call(.post, path + "/statusupdates", bob.fields, updates.text)
        answer.expect(200, "OK")
        expect(answer.findings.count { $0.check == "status-skipped" && $0.outcome == .noted }, is: 100)
        let page = try await world.call(.get, path, mira.fields)
        expect(page.json["messages"]?[0]?["statusUpdates"]?["bob"]?["status"], is: "read")
    }
}
