import Emulation
import Expectations
import Foundation
import JSON
import Support
import Testing
import Wire

@testable import Understudy

/// What is stored of sandboxes, when, and what becomes of rows that somebody else wrote.
@Suite("Stored sandboxes", .timeLimit(.minutes(15))) struct StateKeeperTests {
    private static let newUser = #"{"login":"zoe@example.test","password":"Not-A-Secret-1"}"#

    private func save(_ stage: Stage) { expect(stage.emulator.keeper?.finish(), is: nil) }

    private func health(_ stage: Stage) async throws -> JSON {
        try await World(on: stage, at: nil).bare(.get, "/_understudy/health").json
    }

    private func store(_ stage: Stage) throws -> any StateStore { try #require(stage.emulator.keeper).store }

    private func stored(_ world: World) throws -> JSON {
        save(world.stage)
        return StateRow.document(of: try store(world.stage).rows(of: world.name)) { _ in }
    }

    // MARK: What is stored

    @Test("keep clock, settings, faults, scenarios, time to live and ids", arguments: StoreEngine.allCases)
    func conditions(_ engine: StoreEngine) async throws {
        let stage = try Stage(keeping: StoreHome(engine))
        let world = try await World(on: stage, at: nil)
        try await world.set(seed: 7)
        try await world.set(profile: .observed)
        try await world.set("rezolve.device-check", "enforce")
        try await world.advance("90s")
        try await world.control(.put, "sandboxes/" + world.name, #"{"ttl":"2h"}"#)
        try await world.arm("service-unavailable", at: "rua.guest", call: 3)
        try await world.control(.put, "scenarios", #"{"scenario":"rezolve-busy-backend"}"#).expect(200)
        for _ in 1...2 { _ = try await world.call(.post, "/v2/credentials/register/guest") }
        let next = world.moved(to: try stage.restarted())
        for path in ["clock", "settings", "faults", "scenarios"] {
            expect(try await next.control(.get, path).text, is: try await world.control(.get, path).text)
        }
        expect(next.sandbox.timeToLive, is: .seconds(7200))
        expect(next.sandbox.created, is: world.sandbox.created)
        expect(next.sandbox.identifiers.uuid(), is: world.sandbox.identifiers.uuid())
        let before = try await world.call(.post, "/v2/credentials/register/guest")
        let after = try await next.call(.post, "/v2/credentials/register/guest")
        expect("\(after.status) \(after.text)", is: "\(before.status) \(before.text)")
    }

    @Test("are let go with the emulator that keeps them", arguments: StoreEngine.allCases)
    func letGo(_ engine: StoreEngine) async throws {
        weak var keeper: StateKeeper?
        do {
            let world = try await World(on: Stage(keeping: StoreHome(engine)), at: nil)
            try await world.set(seed: 7)
            save(world.stage)
            keeper = world.stage.emulator.keeper
        }
        // Whoever still works for it ends soon.
        while keeper != nil { await Task.yield() }
    }

    @Test("are none in which nothing changed, nor those that were removed", arguments: StoreEngine.allCases)
    func unchanged(_ engine: StoreEngine) async throws {
        let stage = try Stage(keeping: StoreHome(engine))
        let (read, reset, removed) = (
            try await World(on: stage, at: nil), try await World(on: stage), try await World(on: stage)
        )
        _ = try await read.call(.get, "/nowhere")
        expect(try stored(read), is: [:])
        expect(try stored(removed)["clock"]?["frozen_at"], is: 1_800_000_000)
        try await reset.control(.post, "reset")
        expect(try await removed.control(.delete, "sandboxes/" + removed.name).status, is: 204)
        // A reset leaves a mark in one vendor's state: tokens that were minted before it do not count any more.
        let kept = try stored(reset).object
        expect(kept?.map(\.name), is: ["state", "created_at", "journal_number"])
        expect(kept?["state"]?.object?.map(\.name), is: ["comapi"])
        expect(try store(stage).rows(of: removed.name), is: [])
        expect(try await World(on: stage, at: nil).control(.delete, "sandboxes/" + removed.name).status, is: 404)
    }

    @Test("never issue an id twice, even one that only an answer's header field named", arguments: StoreEngine.allCases)
    func answerIDs(_ engine: StoreEngine) async throws {
        let stage = try Stage(keeping: StoreHome(engine))
        let world = try await World(on: stage, at: nil)
        try await world.set(seed: 7)
        var positions: Set<JSON> = []
        for _ in 1...3 {
            let answer = try await world.call(.get, "/api/v1/apps")
            expect(answer.status, is: 404)
            #expect(answer["X-Okta-Request-Id"] != nil)
            // Written before the next call, so that only the id can be what is new.
            let position = try stored(world)["ids"]?["position"]
            expect(position?.string, is: world.sandbox.identifiers.position.map { String($0) })
            positions.insert(try #require(position))
        }
        expect(positions.count, is: 3)
    }

    @Test("give every journal number once, whether the server ended or was killed", arguments: StoreEngine.allCases)
    func numbers(_ engine: StoreEngine) async throws {
        let stage = try Stage(keeping: StoreHome(engine))
        let world = try await World(on: stage)
        for _ in 1...3 { _ = try await world.call(.get, "/nowhere") }
        _ = try stored(world)
        // As after a kill: more was answered than is written.
        for _ in 1...3 { _ = try await world.call(.get, "/nowhere") }
        let next = world.moved(to: try Stage(keeping: #require(stage.home).copy()))
        expect(try await next.control(.get, "journal").json["entries"], is: [])
        expect(try await next.call(.get, "/nowhere").entry?.id, is: 1001)
    }

    @Test("are written by themselves soon after a change", arguments: StoreEngine.allCases)
    func promptness(_ engine: StoreEngine) async throws {
        let stage = try Stage(keeping: StoreHome(engine))
        let world = try await World(on: stage)
        // The test's own time limit ends a vain wait.
        while try store(stage).rows(of: world.name).isEmpty { await Task.yield() }
        #expect(try store(stage).rows(of: world.name).contains { $0.name.part == "clock" })
    }

    @Test("cost a row for each record that changes", arguments: StoreEngine.allCases)
    func rows(_ engine: StoreEngine) async throws {
        let stage = try Stage(keeping: StoreHome(engine))
        let world = try await World(on: stage)
        for number in 1...50 {
            let user = #"{"login":"u\#(number)@example.test","password":"Not-A-Secret-1"}"#
            expect(try await world.control(.post, "state/okta/add-user", user).status, is: 200)
        }
        let before = try stored(world)
        let bytes = try #require(stage.emulator.keeper).total.bytes
        try await world.control(.post, "state/okta/add-user", Self.newUser)
        let after = try stored(world)
        expect(
            after["state"]?["okta"]?["users"]?.array?.dropLast(), is: before["state"]?["okta"]?["users"]?.array?[...])
        #expect(try #require(stage.emulator.keeper).total.bytes - bytes < 2000)
        let next = world.moved(to: try stage.restarted())
        #expect(try await next.control(.get, "state/okta").text == world.control(.get, "state/okta").text)
        // Whoever only reads reserves the next numbers of entries, and writes nothing else.
        save(next.stage)
        #expect(try #require(next.stage.emulator.keeper).total.bytes < 100)
    }

    @Test("can be read by the file's owner alone") func permissions() async throws {
        let home = try StoreHome()
        let stage = try Stage(keeping: home)
        _ = try stored(try await World(on: stage))
        for path in [home.place, home.place + "-wal"] {
            let facts = try FileManager.default.attributesOfItem(atPath: path)
            let mode = try #require(facts[.posixPermissions] as? Int)
            expect(mode, is: 0o600, "\(path) has mode \(String(mode, radix: 8))")
        }
    }

    @Test("are read only where a sandbox is named", arguments: StoreEngine.allCases)
    func laziness(_ engine: StoreEngine) async throws {
        let stage = try Stage(keeping: StoreHome(engine))
        let (world, other) = (try await World(on: stage), try await World(on: stage))
        for world in [world, other] { _ = try stored(world) }
        let next = try Stage(keeping: #require(stage.home).copy())
        _ = try await world.moved(to: next).control(.get, "clock")
        expect(next.emulator.keeper?.total.read, is: 1)
        let list = try await world.moved(to: next).bare(.get, "/_understudy/sandboxes").json
        expect(list["sandboxes"]?.array?.map { $0["name"]?.string }, is: ["default", world.name])
        expect(list["stored"]?.array?.compactMap { $0["name"]?.string }, is: [world.name, other.name].sorted())
    }

    @Test("leave memory where there is no room, and come back", arguments: StoreEngine.allCases)
    func room(_ engine: StoreEngine) async throws {
        let home = try StoreHome(engine)
        let emulator = try Emulator(
            fixtures: Repository.fixtures, sandboxes: SandboxLimits(capacity: 3), keeper: StateKeeper(home.open()))
        let small = try Stage(emulator, keeping: home)
        var worlds: [World] = []
        for second in 1...9 { worlds.append(try await World(on: small, at: World.exampleMoment + second)) }
        #expect(emulator.sandboxes.count <= 4)
        for (index, world) in worlds.enumerated() {
            let clock = try await world.control(.get, "clock").json
            expect(clock["unix"]?.int, is: World.exampleMoment + index + 1)
        }
    }

    @Test("go when their time to live is over, even while no server runs", arguments: StoreEngine.allCases)
    func expiry(_ engine: StoreEngine) async throws {
        let stage = try Stage(keeping: StoreHome(engine))
        let (world, other) = (try await World(on: stage), try await World(on: stage))
        for world in [world, other] {
            try await world.control(.put, "sandboxes/" + world.name, #"{"ttl":"2h"}"#)
            _ = try stored(world)
        }
        for (age, isThere) in [(3600.0, true), (7201.0, false)] {
            let home = try #require(stage.home).copy()
            let keeper = StateKeeper(try home.open()) { SandboxClock.machine + .seconds(age) }
            let next = try Stage(Emulator(fixtures: Repository.fixtures, keeper: keeper), keeping: home)
            let clock = try await world.moved(to: next).control(.get, "clock").json
            expect(clock["frozen"], is: .bool(isThere), "\(age) seconds later")
            keeper.tidy()
            expect(try keeper.store.rows(of: other.name).isEmpty, is: !isThere, "\(age) seconds later")
        }
    }

    @Test("are fetched again by a call that meets one on its way out", arguments: StoreEngine.allCases)
    func handOver(_ engine: StoreEngine) async throws {
        let stage = try Stage(keeping: StoreHome(engine))
        let world = try await World(on: stage)
        let old = world.sandbox
        stage.emulator.sandboxes.handOver([old])
        #expect(old.isSealed)
        // Whoever still has the old one is told that it has moved.
        let vendor = try #require(stage.emulator.vendor("rezolve"))
        let request = Request(method: .get, target: "/v2/credentials/ping", authority: "a", fields: FieldLines([]))
        let match = stage.emulator.routes.match(request.method, request.path)
        guard case .moved = old.vendor(vendor).answer(old.beginExchange(request), at: match) else {
            throw StoreProblem("a sealed sandbox has answered")
        }
        expect(try await world.control(.get, "clock").json["frozen"], is: true)
        #expect(world.sandbox !== old)
    }

    @Test("include what a file brought at the start, and go into the next file", arguments: StoreEngine.allCases)
    func imported(_ engine: StoreEngine) async throws {
        let world = try await World(on: Stage(keeping: StoreHome()))
        expect(try await world.control(.post, "state/okta/add-user", Self.newUser).status, is: 200)
        let stage = try Stage(keeping: StoreHome(engine))
        _ = try stage.emulator.restoreState(world.emulator.exportState(), from: "a file")
        #expect(try await world.moved(to: stage).control(.get, "state/okta").text.contains("zoe@example.test"))
        #expect(try stored(world.moved(to: stage)).text.contains("zoe@example.test"))
        // Also of sandboxes that are not in memory.
        stage.emulator.sandboxes.handOver([world.moved(to: stage).sandbox])
        let exported = try #require(stage.emulator.keeper).exportState()
        expect(exported["sandboxes"], is: world.emulator.exportState()["sandboxes"])
    }

    @Test("belong to one start, so that sessions of apps outlive the server", arguments: StoreEngine.allCases)
    func start(_ engine: StoreEngine) async throws {
        let stage = try Stage(keeping: StoreHome(engine))
        let next = try Stage(keeping: #require(stage.home).copy())
        let starts = try [stage, next].map { try $0.emulator.sandboxes.fetch("a").identity.start }
        expect(starts[0], is: starts[1])
        #expect(try starts[0] != StoreHome(engine).open().start)
    }

    // MARK: Rows that cannot be read

    /// A copy of the place, with other documents in some of the sandbox's rows, and with more rows.
    private func altered(
        _ world: World, adding added: [StateRow] = [], _ alter: (StateRow) -> String? = { _ in nil }
    ) throws -> StoreHome {
        _ = try stored(world)
        let copy = try #require(world.stage.home).copy()
        let store = try copy.open()
        let (claim, rows, _, _) = try store.claimed(world.name)
        let changed = rows.compactMap { row in alter(row).map { StateRow(row.name, document: Array($0.utf8)) } }
        expect(try store.put(changed + added, in: claim), is: [])
        try store.release([claim])
        store.leave()
        return copy
    }

    @Test("are set aside record by record, and kept for a release that can read them", arguments: StoreEngine.allCases)
    func records(_ engine: StoreEngine) async throws {
        let stage = try Stage(keeping: StoreHome(engine))
        let world = try await World(on: stage)
        expect(try await world.control(.post, "state/okta/add-user", Self.newUser).status, is: 200)
        try await world.arm("service-unavailable", at: "rua.guest")
        let home = try altered(world) { row in
            let text = String(decoding: row.document, as: UTF8.self)
            switch row.name.part {
            case "state/okta/users": return text.replacing(#""status":"ACTIVE""#, with: #""status":"ASLEEP""#)
            case "interventions": return text.replacing(#""route":"rua.guest""#, with: #""route":"rua.visitor""#)
            case "created_at": return "no JSON"
            default: return nil
            }
        }
        var next = world.moved(to: try Stage(keeping: home))
        for round in 1...2 {
            expect(try await next.control(.get, "clock").json["unix"]?.int, is: (round == 1 ? 1_800_000_000 : 5))
            expect(try await next.control(.get, "faults").json["faults"], is: [])
            let parts = try #require(try await health(next.stage)["set_aside"]?["parts"]?.array)
            expect(parts.map { $0["record"]?.string }, is: ["created_at", "users[0]", "interventions.faults[0]"])
            expect(parts[0]["problem"]?.string, is: "kept.created_at: is not JSON")
            expect(parts[1]["problem"]?.string?.contains("ASLEEP"), is: true, "\(parts[1].text)")
            expect(parts[2]["problem"]?.string?.contains("rua.visitor"), is: true, "\(parts[2].text)")
            try await next.freeze(at: 5)
            let kept = try stored(next)
            expect(kept["set_aside"]?.array?.count, is: 3)
            expect(kept["set_aside"]?[1]?["value"]?["status"], is: "ASLEEP")
            expect(kept["clock"], is: ["frozen_at": 5])
            next = world.moved(to: try next.stage.restarted())
        }
    }

    @Test("are set aside as a whole where a newer release has more of them", arguments: StoreEngine.allCases)
    func unknownPart(_ engine: StoreEngine) async throws {
        let world = try await World(on: Stage(keeping: StoreHome(engine)))
        let next = world.moved(to: try Stage(keeping: altered(world, adding: [StateRow("moods", "", 99, "{}")])))
        expect(try await next.control(.get, "clock").json["frozen"], is: false)
        let told = try #require(try await health(next.stage)["set_aside"]?["parts"]?[0])
        expect(told["sandbox"], is: .string(world.name))
        expect(told["problem"]?.string?.contains("moods"), is: true, "\(told.text)")
        let aside = try #require(try stored(next)["set_aside"]?[0]?["value"])
        expect(aside["clock"], is: ["frozen_at": 1_800_000_000])
    }

    // MARK: Files that cannot be written

    /// Puts another file in the place of the database.
    private func block(_ stage: Stage) throws -> String {
        let place = try #require(stage.home).place
        try FileManager.default.moveItem(atPath: place, toPath: place + ".away")
        try Data("in the way".utf8).write(to: URL(filePath: place))
        return place
    }

    @Test("are written by themselves once nothing is in the way any more") func retries() async throws {
        let stage = try Stage(keeping: StoreHome())
        let world = try await World(on: stage, at: nil)
        let obstacle = try block(stage)
        try await world.freeze(at: 5)
        // The test's own time limit ends vain waits.
        while try await health(stage)["state"]?["problem"] == .null { await Task.yield() }
        try FileManager.default.removeItem(atPath: obstacle)
        while try await health(stage)["state"]?["problem"] != .null { await Task.yield() }
        expect(try stored(world)["clock"], is: ["frozen_at": 5])
    }

    @Test("stay in memory while they cannot be written, and nothing of them is lost") func blocked() async throws {
        let stage = try Stage(keeping: StoreHome())
        let (world, other) = (try await World(on: stage, at: nil), try await World(on: stage))
        _ = try stored(other)
        let obstacle = try block(stage)
        for moment in 5...7 {
            try await world.freeze(at: moment)
            let problem = try #require(stage.emulator.keeper?.finish())
            expect(problem, is: "\(obstacle) was replaced while it was in use; remove the file that is there now")
            expect(try await health(stage)["state"], is: ["store": .string(obstacle), "problem": .string(problem)])
        }
        expect(try await other.control(.delete, "sandboxes/" + other.name).status, is: 204)
        expect(try await world.control(.get, "clock").json["frozen"], is: true)
        stage.emulator.sandboxes.handOver([world.sandbox])
        #expect(!world.sandbox.isSealed)
        try FileManager.default.removeItem(atPath: obstacle)
        expect(try stored(world)["clock"], is: ["frozen_at": 7])
        expect(try store(stage).rows(of: other.name), is: [], "it was removed while nothing could be written")
        expect(try await health(stage)["state"]?["problem"], is: .null)
    }

    // MARK: Files that cannot be used

    @Test("lie in no file of another kind, and say so") func foreignFiles() throws {
        let folder = try TemporaryFolder([
            "letter.txt": "Dear Ada, this is no database, and longer than its head is.", "other.db": "",
        ])
        let other = try SQLite("\(folder.path)/other.db")
        try other.run("CREATE TABLE letters(text)")
        let newer = try SQLiteStore("\(folder.path)/newer.db")
        newer.leave()
        let sqlite = try SQLite("\(folder.path)/newer.db")
        try sqlite.run("PRAGMA user_version = 99")
        sqlite.close()
        other.close()
        for (name, problem) in [
            ("letter.txt", " cannot be used: file is not a database"),
            ("other.db", " is a database of another program; name another file"),
            ("newer.db", " was written by a newer release: its schema is 99, and this release reads up to 1"),
            ("", " is a folder; expected a file, such as \(folder.path)//understudy.db"),
            ("no/folder.db", " cannot be used: No such file or directory"),
        ] {
            let path = "\(folder.path)/\(name)"
            do {
                _ = try SQLiteStore(path)
                Issue.record("\(path) was opened")
            } catch let StateLock.Failure.system(failure) {
                expect("\(path) cannot be used: \(failure)", is: path + problem)
            } catch {
                expect("\(error)", is: path + problem)
            }
        }
        #expect(try folder.text(of: "letter.txt").hasPrefix("Dear Ada"))
    }
}
