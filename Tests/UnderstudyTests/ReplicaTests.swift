import Emulation
import Expectations
import Foundation
import HTTPTypes
import JSON
import Support
import Testing
import Wire

@testable import Understudy

@Suite("Replicas", .timeLimit(.minutes(15))) struct ReplicaTests {
    let home: StoreHome
    let (a, b): (Stage, Stage)

    init() throws {
        home = try StoreHome(.postgres)
        (a, b) = (try Stage(keeping: home), try Stage(keeping: home))
    }

    private func keeper(_ stage: Stage) throws -> StateKeeper { try #require(stage.emulator.keeper) }

    private func name(_ stage: Stage) throws -> String { try #require(stage.emulator.replica) }

    /// The answer of a call that is repeated while it is told to be: on a busy machine the other one may take more than the
    /// five seconds for which a call waits, and a server of one second may lapse.
    private func patiently(_ call: () async throws -> ReceivedAnswer) async throws -> ReceivedAnswer {
        while true {
            let answer = try await call()
            if answer.status != 503 { return answer }
        }
    }

    private func bare(_ stage: Stage, _ path: String) async throws -> ReceivedAnswer {
        try await World(on: stage, at: nil).bare(.get, "/_understudy/" + path)
    }

    // MARK: One owner at a time

    @Test("hand a sandbox on with all that is in it") func handOver() async throws {
        let here = try await World(on: a)
        try await here.set(seed: 7)
        try await here.set("rezolve.device-check", "enforce")
        try await here.arm("service-unavailable", at: "rua.guest", call: 3)
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
            let answer = try await patiently { try await there.control(.get, path) }
            #expect(try answer["X-Understudy-Replica"] == name(b))
            expect(answer.text, is: before[path], "\(path)")
        }
        #expect(there.sandbox.identifiers.uuid() != id, "a seed's ids go on, and do not begin again")
        expect(try await there.call(.get, "/nowhere").entry?.id, is: 1001)
        let back = try await patiently { try await here.control(.get, "clock") }
        #expect(try back["X-Understudy-Replica"] == name(a))
        expect(back.text, is: before["clock"])
        expect(try await here.call(.get, "/nowhere").entry?.id, is: 2001)
        expect(here.sandbox.timeToLive, is: .seconds(7200))
        expect(try keeper(a).total.handedOver, is: 1)
        expect(try keeper(b).total.handedOver, is: 1)
    }

    @Test("lose no change, however they tear at a sandbox") func tearing() async throws {
        let here = try await World(on: a)
        let problems = try await withThrowingTaskGroup(of: String?.self) { group in
            for (side, stage) in [a, b].enumerated() {
                for number in 0..<15 {
                    group.addTask {
                        let user = #"{"login":"u\#(side)-\#(number)@example.test","password":"Not-A-Secret-1"}"#
                        // Whoever is told to repeat a call repeats it.
                        for _ in 0..<20 {
                            let answer = try await here.moved(to: stage).control(.post, "state/okta/add-user", user)
                            if answer.status == 200 { return nil }
                            guard answer.status == 503, answer["Retry-After"] == "1" else {
                                return "\(side) \(number): \(answer.status) \(answer.text)"
                            }
                        }
                        return "\(side) \(number): never answered"
                    }
                }
            }
            return try await group.reduce(into: [String]()) { if let problem = $1 { $0.append(problem) } }
        }
        expect(problems, is: [])
        let state = try await patiently { try await here.moved(to: b).control(.get, "state/okta") }
        let users = state.json["users"]?.array ?? []
        let added = users.compactMap { $0["login"]?.string }.filter { $0.hasPrefix("u") }
        let expected = [0, 1].flatMap { side in (0..<15).map { "u\(side)-\($0)@example.test" } }
        expect(added.sorted(), is: expected.sorted(), "in \(here.name)")
    }

    @Test("share the standard sandbox in the same way") func standard() async throws {
        let here = try await World(on: a, at: nil).named("default")
        let there = here.moved(to: b)
        try await here.freeze(at: 5)
        for world in [there, here] {
            expect(try await patiently { try await world.control(.get, "clock") }.json["unix"]?.int, is: 5)
        }
    }

    @Test("remove and bound sandboxes that others have") func removal() async throws {
        let here = try await World(on: a)
        let there = here.moved(to: b)
        let path = "sandboxes/" + here.name
        let bounded = try await patiently { try await there.control(.put, path, #"{"ttl":"1h"}"#) }
        #expect(try bounded.json["replica"] == .string(name(b)))
        let isFrozen = { try await patiently { try await here.control(.get, "clock") }.json["frozen"] }
        let delete = { try await patiently { try await there.bare(.delete, "/_understudy/" + path) }.status }
        expect(try await isFrozen(), is: true)
        expect(here.sandbox.timeToLive, is: .seconds(3600))
        expect(try await delete(), is: 204)
        expect(try await delete(), is: 404)
        expect(try await isFrozen(), is: false)
        // In use at the other one, though nothing of it is stored.
        expect(try await delete(), is: 204)
        expect(try keeper(a).store.rows(of: here.name), is: [])
    }

    @Test("close sockets of a sandbox that moves with 1001") func sockets() async throws {
        let board = try await SwitchboardWorld(.pipeline, keeper: StateKeeper(home.open()))
        let other = try await SwitchboardWorld(.pipeline, keeper: StateKeeper(home.open()))
        let socket = try await board.open("ada")
        let there = board.world.moved(to: other.world.stage)
        expect(try await patiently { try await there.control(.get, "clock") }.status, is: 200)
        expect(await socket.next(), is: .closed(WebSocketClosure(.goingAway, reason: "the sandbox is gone")))
    }

    // MARK: Those that go

    @Test("take over what one left that has ended without a word") func takingOver() async throws {
        let here = try await World(on: a)
        expect(try keeper(a).finish(), is: nil)
        try keeper(a).leave()
        let found = try await patiently { try await here.moved(to: b).control(.get, "clock") }
        expect(found.json["frozen"], is: true)
        expect(try keeper(b).total.takenOver, is: 1)
    }

    /// Two servers of which each is gone for the other if it does not show for a second that it is alive.
    private func mortal() throws -> (Stage, Stage) {
        func stage() throws -> Stage {
            let store = try PostgresStore(home.place, lease: .seconds(1), patience: .seconds(120))
            return try Stage(Emulator(fixtures: Repository.fixtures, keeper: StateKeeper(store)))
        }
        return (try stage(), try stage())
    }

    /// Keeps a server from showing that it is alive, until the returned connection ends its transaction.
    private func hold(_ stage: Stage) throws -> PostgresConnection {
        let brake = PostgresConnection(to: try PostgresAddress(home.place), patience: .seconds(120))
        try brake.run("SET idle_in_transaction_session_timeout = 0")
        try brake.run("BEGIN")
        try brake.run("SELECT * FROM understudy.servers WHERE id = $1 FOR UPDATE", [name(stage)])
        return brake
    }

    @Test("answer nothing from memory once others may have the sandbox, and take it back as it is then")
    func lapse() async throws {
        let (a, b) = try mortal()
        let here = try await World(on: a, at: nil)
        _ = try await patiently { try await here.control(.put, "clock", #"{"now":4,"freeze":true}"#) }
        while try keeper(a).finish() != nil { await Task.yield() }
        let old = here.sandbox
        let brake = try hold(a)
        while try keeper(a).mayAnswer(in: old) { await Task.yield() }
        let ready = try await bare(a, "health/ready")
        expect(ready.status, is: 503)
        let there = here.moved(to: b)
        let moved = try await patiently { try await there.control(.put, "clock", #"{"now":5,"freeze":true}"#) }
        expect(moved.status, is: 200)
        let refused = try await here.control(.get, "clock")
        expect(refused.status, is: 503)
        expect(refused["Retry-After"], is: "1")
        expect(refused.json["error"]?["code"], is: "sandbox-unavailable")
        try brake.run("ROLLBACK")
        let again = try await patiently { try await here.control(.get, "clock") }
        expect(again.json["unix"]?.int, is: 5)
        #expect(try again["X-Understudy-Replica"] == name(a))
        #expect(old.isSealed)
        #expect(here.sandbox !== old)
    }

    @Test("repeat a call that was carried out in a sandbox which another one has taken since, and no other")
    func lostCalls() async throws {
        let (here, moved) = (try await World(on: a), try await World(on: a))
        let (first, second) = (Response(status: .ok), Response(status: .accepted))
        let old = moved.sandbox
        a.emulator.sandboxes.handOver([old])
        for (sandbox, isLost) in [(here.sandbox, false), (old, false), (here.sandbox, true)] {
            if isLost { sandbox.lose() }
            let answer = await a.emulator.confirmed(in: sandbox, { first }, or: { second })
            expect(answer.status, is: (isLost ? .accepted : .ok))
        }
    }

    @Test("keep what they have in memory through a lapse that nobody used") func shortLapse() async throws {
        let (a, b) = try mortal()
        let here = try await World(on: a, at: nil)
        _ = try await patiently { try await here.control(.put, "clock", #"{"now":4,"freeze":true}"#) }
        let old = here.sandbox
        let lapses = try keeper(a).total.lapses
        let brake = try hold(a)
        while try keeper(a).mayAnswer(in: old) { await Task.yield() }
        try brake.run("ROLLBACK")
        while try keeper(a).total.lapses == lapses { await Task.yield() }
        let answer = try await patiently { try await here.control(.put, "clock", #"{"now":6,"freeze":true}"#) }
        expect(answer.status, is: 200)
        #expect(here.sandbox === old)
        while try keeper(a).finish() != nil { await Task.yield() }
        try keeper(a).leave()
        expect(try await patiently { try await here.moved(to: b).control(.get, "clock") }.json["unix"]?.int, is: 6)
    }

    @Test("leave their sandboxes to the others, and send their callers there") func draining() async throws {
        let here = try await World(on: a)
        let there = here.moved(to: b)
        let own = JSON.string(try name(a))
        expect(try await bare(a, "health/ready").json, is: ["ready": true, "replica": own, "reason": nil])
        a.emulator.beginDraining()
        let ready = try await bare(a, "health/ready")
        expect(ready.status, is: 503)
        expect(ready.json, is: ["ready": false, "replica": own, "reason": "the server is stopping"])
        expect(try await bare(a, "health/live").json, is: ["status": "ok"])
        expect(try await here.control(.get, "clock").json["frozen"], is: true)
        try keeper(a).handOverAll()
        for answer in [try await here.control(.get, "clock"), try await here.bare(.get, "/~\(here.name)/nowhere")] {
            expect(answer.status, is: 503)
            expect(answer["Retry-After"], is: "1")
            expect(answer.json["error"]?["code"], is: "sandbox-unavailable")
        }
        let found = try await patiently { try await there.control(.get, "clock") }
        expect(found.json["frozen"], is: true)
        expect(try keeper(b).total.takenOver, is: 0, "it was free")
    }

    // MARK: What they say of each other

    @Test("list the sandboxes of all of them, each once") func lists() async throws {
        let (here, there) = (try await World(on: a), try await World(on: b))
        for stage in [a, b] { expect(try keeper(stage).finish(), is: nil) }
        for (world, stage) in [(here, a), (there, b)] {
            let list = try await world.bare(.get, "/_understudy/sandboxes").json
            expect(list["sandboxes"]?.array?.map { $0["name"]?.string }, is: ["default", world.name])
            #expect(try list["replica"]?.string == name(stage))
            let stored = list["stored"]?.array?.filter { $0["name"] != "default" }
            #expect(
                try stored?.map { "\($0["name"]?.string ?? "") at \($0["replica"]?.string ?? "")" }
                    == ["\(here.name) at \(name(a))", "\(there.name) at \(name(b))"].sorted())
        }
    }

    @Test("tell who they are in health, metrics and journals") func names() async throws {
        let here = try await World(on: a)
        let own = try name(a)
        _ = try await here.call(.get, "/nowhere")
        expect(try await bare(a, "health").json["replica"], is: .string(own))
        let journal = try await here.control(.get, "journal").json
        expect(journal["replica"], is: .string(own))
        expect(journal["entries"]?[0]?["replica"], is: .string(own))
        expect(try await here.control(.get, "journal/1").json["replica"], is: .string(own))
        #expect(try await bare(a, "metrics").text.contains("understudy_replica_info{replica=\"\(own)\"} 1\n"))
        let alone = try Stage(keeping: StoreHome())
        expect(try await bare(alone, "health").json["replica"], is: nil)
        expect(try await bare(alone, "health/ready").json, is: ["ready": true, "replica": nil, "reason": nil])
        expect(try await bare(alone, "metrics").text.contains("replica"), is: false)
    }
}
