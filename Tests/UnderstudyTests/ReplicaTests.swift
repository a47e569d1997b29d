import Emulation
import Foundation
import HTTPTypes
import JSON
import Support
import Testing
import Wire

@testable import Understudy

/// Servers that share a folder of states.
@Suite("Replicas", .timeLimit(.minutes(15)))
struct ReplicaTests {
    let folder: TemporaryFolder
    let (a, b): (Stage, Stage)

    init() throws {
        folder = try TemporaryFolder()
        a = try Stage(keeping: folder, as: "a")
        b = try Stage(keeping: folder, as: "b")
    }

    private func keeper(_ stage: Stage) throws -> StateKeeper { try #require(stage.emulator.keeper) }

    private func replica(_ stage: Stage) throws -> Replica { try #require(try keeper(stage).replica) }

    private func bare(_ stage: Stage, _ path: String) async throws -> ReceivedAnswer {
        try await World(on: stage, at: nil).bare(.get, "/_understudy/" + path)
    }

    // MARK: One owner at a time

    @Test("hand a sandbox on with all that is in it", arguments: Depth.allCases)
    func handOver(_ depth: Depth) async throws {
        let here = try await World(depth, on: a)
        try await here.set(seed: 7)
        try await here.set("rezolve.device-check", "enforce")
        try await here.control(.put, "faults", #"{"route":"rua.guest","call":3,"fail":"service-unavailable"}"#)
        try await here.control(.put, "scenarios", #"{"scenario":"rezolve-busy-backend"}"#)
        try await here.control(.put, "sandboxes/" + here.name, #"{"ttl":"2h"}"#)
        try await here.control(
            .post, "state/okta/add-user", #"{"login":"zoe@example.test","password":"Not-A-Secret-1"}"#)
        let id = here.sandbox.identifiers.uuid()
        for _ in 1...2 { _ = try await here.call(.post, "/v2/credentials/register/guest") }
        var before: [String: String] = [:]
        let paths = ["clock", "settings", "faults", "scenarios", "state/okta", "state/rezolve", "keys"]
        for path in paths { before[path] = try await here.control(.get, path).text }
        let there = here.moved(to: b)
        for path in paths {
            let answer = try await there.control(.get, path)
            #expect(answer["X-Understudy-Replica"] == "b")
            #expect(answer.text == before[path], "\(path)")
        }
        #expect(there.sandbox.identifiers.uuid() != id, "a seed's ids go on, and do not begin again")
        #expect(try await there.call(.get, "/nowhere").entry?.id == 1001)
        let back = try await here.control(.get, "clock")
        #expect(back["X-Understudy-Replica"] == "a")
        #expect(back.text == before["clock"])
        #expect(try await here.call(.get, "/nowhere").entry?.id == 2001)
        #expect(here.sandbox.timeToLive == .seconds(7200))
        #expect(try keeper(a).total.handedOver == 1)
        #expect(try keeper(b).total.handedOver == 1)
    }

    @Test("lose no change, however they tear at a sandbox")
    func tearing() async throws {
        let here = try await World(on: a)
        let name = here.name
        let problems = await withTaskGroup(of: String?.self) { group -> [String] in
            for (side, stage) in [a, b].enumerated() {
                for number in 0..<15 {
                    group.addTask {
                        do {
                            let world = here.moved(to: stage)
                            let user = #"{"login":"u\#(side)-\#(number)@example.test","password":"Not-A-Secret-1"}"#
                            // Whoever is told to repeat a call repeats it.
                            for _ in 0..<20 {
                                let answer = try await world.control(.post, "state/okta/add-user", user)
                                if answer.status == 200 { return nil }
                                guard answer.status == 503, answer["Retry-After"] == "1" else {
                                    return "\(side) \(number): \(answer.status) \(answer.text)"
                                }
                            }
                            return "\(side) \(number): never answered"
                        } catch {
                            return "\(error)"
                        }
                    }
                }
            }
            return await group.reduce(into: []) { if let problem = $1 { $0.append(problem) } }
        }
        #expect(problems == [])
        let users = try await here.moved(to: b).control(.get, "state/okta").json["users"]?.array ?? []
        let added = users.compactMap { $0["login"]?.string }.filter { $0.hasPrefix("u") }
        let expected = [0, 1].flatMap { side in (0..<15).map { "u\(side)-\($0)@example.test" } }
        #expect(Set(added) == Set(expected), "in \(name)")
        #expect(added.count == expected.count, "in \(name)")
    }

    @Test("share the standard sandbox in the same way")
    func standard() async throws {
        let (here, there) = (
            try await World(on: a, at: nil).named("default"), try await World(on: b, at: nil).named("default")
        )
        try await here.freeze(at: 5)
        #expect(try await there.control(.get, "clock").json["unix"]?.int == 5)
        #expect(try await here.control(.get, "clock").json["unix"]?.int == 5)
    }

    @Test("remove and bound sandboxes that others have")
    func removal() async throws {
        let here = try await World(on: a)
        let there = here.moved(to: b)
        #expect(try await there.control(.put, "sandboxes/" + here.name, #"{"ttl":"1h"}"#).json["replica"] == "b")
        #expect(try await here.control(.get, "clock").json["frozen"] == true)
        #expect(here.sandbox.timeToLive == .seconds(3600))
        let removed = try await there.bare(.delete, "/_understudy/sandboxes/" + here.name)
        #expect(removed.status == 204, "\(removed.text)")
        #expect(try await there.bare(.delete, "/_understudy/sandboxes/" + here.name).status == 404)
        #expect(try await here.control(.get, "clock").json["frozen"] == false)
        // In use at the other one, though nothing of it is written.
        #expect(try await there.bare(.delete, "/_understudy/sandboxes/" + here.name).status == 204)
        #expect(try folder.files.filter { $0.contains(here.name) }.isEmpty)
    }

    @Test("close sockets of a sandbox that moves with 1001")
    func sockets() async throws {
        let home = try TemporaryFolder()
        let board = try await SwitchboardWorld(.pipeline, keeper: StateKeeper(folder: home.path, replica: "a"))
        let other = try await SwitchboardWorld(.pipeline, keeper: StateKeeper(folder: home.path, replica: "b"))
        let socket = try await board.open("ada")
        #expect(try await board.world.moved(to: other.world.stage).control(.get, "clock").status == 200)
        #expect(await socket.next() == .closed(WebSocketClosure(.goingAway, reason: "the sandbox is gone")))
    }

    // MARK: Those that go

    @Test("take over what one left that has ended without a word")
    func takingOver() async throws {
        let here = try await World(on: a)
        #expect(try keeper(a).finish() == nil)
        // Its lease ends as with its process; what it has in memory is another matter.
        try replica(a).finish()
        #expect(try await here.moved(to: b).control(.get, "clock").json["frozen"] == true)
        #expect(try keeper(b).total.takenOver == 1)
    }

    /// Takes the lease of `a` away, as if the process had not run for a while.
    private func endLease() throws {
        try FileManager.default.removeItem(atPath: "\(folder.path)/replicas/\(replica(a).lease.session)")
    }

    /// Waits until `a` has noticed that its lease has lapsed. The test's own time limit ends a vain wait.
    private func awaitLapse() async throws { while try keeper(a).total.lapses == 0 { await Task.yield() } }

    @Test("answer nothing from memory once others may have the sandbox, and take it back as it is then")
    func lapse() async throws {
        let here = try await World(on: a)
        let there = here.moved(to: b)
        #expect(try keeper(a).finish() == nil)
        let old = here.sandbox
        // Whoever holds this keeps the replica from looking whether the sandbox is still its own.
        let turn = try #require(try keeper(a).state.withLock { $0.places[here.name] }).turn
        turn.wait()
        try endLease()
        try await there.freeze(at: 5)
        try await awaitLapse()
        #expect(try !keeper(a).mayAnswer(in: old))
        turn.signal()
        let again = try await here.control(.get, "clock")
        #expect(again.json["unix"]?.int == 5)
        #expect(again["X-Understudy-Replica"] == "a")
        #expect(old.isSealed)
        #expect(here.sandbox !== old)
    }

    @Test("keep what they have in memory through a lapse that nobody used")
    func shortLapse() async throws {
        let here = try await World(on: a)
        let old = here.sandbox
        try endLease()
        try await awaitLapse()
        #expect(try await here.control(.get, "clock").json["frozen"] == true)
        #expect(here.sandbox === old)
        try await here.freeze(at: 6)
        #expect(try keeper(a).finish() == nil)
        #expect(
            try folder.text(of: #require(folder.files.first { $0.contains("/\(here.name).2.json") })).contains(":6}"))
    }

    @Test("keep what they have in memory when the folder is removed")
    func removedFolder() async throws {
        let here = try await World(on: a)
        #expect(try keeper(a).finish() == nil)
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
            try FileManager.default.removeItem(atPath: "\(folder.path)/\(name)")
        }
        #expect(try await here.control(.get, "clock").json["frozen"] == true)
        // The beats fail now; the lease begins again in a folder made anew.
        try await awaitLapse()
        try await here.freeze(at: 5)
        while try !folder.files.contains(where: { $0.contains("/\(here.name).") && $0.hasSuffix(".json") }) {
            await Task.yield()
        }
        #expect(try await here.control(.get, "clock").json["unix"]?.int == 5)
    }

    @Test("leave their sandboxes to the others, and send their callers there", arguments: Depth.allCases)
    func draining(_ depth: Depth) async throws {
        let here = try await World(depth, on: a)
        let there = here.moved(to: b)
        #expect(try await bare(a, "health/ready").json == ["ready": true, "replica": "a", "reason": nil])
        a.emulator.beginDraining()
        let ready = try await bare(a, "health/ready")
        #expect(ready.status == 503)
        #expect(ready.json == ["ready": false, "replica": "a", "reason": "the server is stopping"])
        #expect(try await bare(a, "health/live").json == ["status": "ok"])
        #expect(try await here.control(.get, "clock").json["frozen"] == true)
        a.emulator.handOverAll()
        for answer in [try await here.control(.get, "clock"), try await here.bare(.get, "/~\(here.name)/nowhere")] {
            #expect(answer.status == 503)
            #expect(answer["Retry-After"] == "1")
            #expect(answer.json["error"]?["code"] == "sandbox-unavailable")
        }
        #expect(try await there.control(.get, "clock").json["frozen"] == true)
        #expect(try keeper(b).total.takenOver == 0, "it was free")
    }

    // MARK: What they say of each other

    @Test("list the sandboxes of all of them, each once")
    func lists() async throws {
        let bases = ["http://127.0.0.1:\(b.port)", "http://127.0.0.1:1", "http://localhost:\(b.port)"]
        let c = try Stage(
            Emulator(
                fixtures: Repository.fixtures, keeper: StateKeeper(folder: folder.path, replica: "c"), peers: bases))
        let (here, there) = (try await World(on: c), try await World(on: b))
        let list = try await here.bare(.get, "/_understudy/sandboxes?replicas=all").json
        let found = list["sandboxes"]?.array?.map {
            "\($0["name"]?.string ?? "") at \($0["replica"]?.string ?? "")"
        }
        #expect(found?.first?.hasPrefix("default at ") == true)
        #expect(found?.dropFirst() == ["\(here.name) at c", "\(there.name) at b"].sorted()[...])
        let replicas = list["replicas"]?.array ?? []
        #expect(replicas.map { $0["name"]?.string } == ["c", nil, "b"])
        #expect(replicas[1]["base"] == "http://127.0.0.1:1")
        #expect(replicas[1]["problem"]?.string?.hasPrefix("127.0.0.1:1 cannot be reached") == true)
        #expect(try await here.bare(.get, "/_understudy/sandboxes").json["sandboxes"]?.array?.count == 2)
        #expect(try await here.bare(.get, "/_understudy/sandboxes?replicas=some").status == 400)
    }

    @Test("tell who they are in health, metrics and journals")
    func names() async throws {
        let here = try await World(on: a)
        _ = try await here.call(.get, "/nowhere")
        #expect(try await bare(a, "health").json["replica"] == "a")
        let journal = try await here.control(.get, "journal").json
        #expect(journal["replica"] == "a")
        #expect(journal["entries"]?[0]?["replica"] == "a")
        #expect(try await here.control(.get, "journal/1").json["replica"] == "a")
        #expect(try await bare(a, "metrics").text.contains("understudy_replica_info{replica=\"a\"} 1\n"))
        let alone = try Stage(keeping: TemporaryFolder())
        #expect(try await bare(alone, "health").json["replica"] == nil)
        #expect(try await bare(alone, "health/ready").json == ["ready": true, "replica": nil, "reason": nil])
        #expect(try await bare(alone, "metrics").text.contains("replica") == false)
    }

    // MARK: Who may use the folder

    @Test("can all start at once in a folder that is not there yet")
    func starting() async throws {
        let home = try TemporaryFolder()
        let starts = await withTaskGroup(of: Result<String, any Error>.self) { group -> [Result<String, any Error>] in
            for number in 0..<8 {
                group.addTask { Result { try StateKeeper(folder: home.path + "/new", replica: "r\(number)").start } }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(Set(try starts.map { try $0.get() }).count == 1, "\(starts)")
    }

    @Test("keep out a server that wants the folder alone, and one of the same name")
    func admission() throws {
        #expect(throws: StateLock.Failure.self) { _ = try StateKeeper(folder: folder.path) }
        let error = #expect(throws: ReplicaProblem.self) { _ = try StateKeeper(folder: folder.path, replica: "a") }
        #expect(
            error?.description.hasSuffix("has that name; give each replica its own") == true,
            "\(error?.description ?? "")")
        let alone = try TemporaryFolder()
        let keeper = try StateKeeper(folder: alone.path)
        #expect(throws: StateLock.Failure.self) { _ = try StateKeeper(folder: alone.path, replica: "a") }
        withExtendedLifetime(keeper) {}
    }
}
