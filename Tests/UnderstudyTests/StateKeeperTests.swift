import Emulation
import Foundation
import JSON
import Support
import Testing
import Wire

@testable import Understudy

/// A folder of states: what is in it, when, and what becomes of files that somebody else wrote.
@Suite("A state folder")
struct StateKeeperTests {
    let folder: TemporaryFolder
    let stage: Stage

    init() throws {
        folder = try TemporaryFolder()
        stage = try Stage(keeping: folder)
    }

    /// What lies in the folder besides its own files.
    private func sandboxFiles() throws -> [String] {
        try folder.files.filter { $0.hasPrefix("sandboxes/") || $0.hasPrefix("set-aside/") }
    }

    private func file(of sandbox: String) throws -> String {
        try #require(try sandboxFiles().first { $0.contains("/\(sandbox).") })
    }

    private func save() { #expect(stage.emulator.keeper?.finish() == nil) }

    private func health(_ stage: Stage) async throws -> JSON {
        try await World(on: stage, at: nil).bare(.get, "/_understudy/health").json
    }

    // MARK: What is kept

    @Test("gives back clock, settings, faults, scenarios, time to live and ids", arguments: Depth.allCases)
    func conditions(_ depth: Depth) async throws {
        let world = try await World(depth, on: stage, at: nil)
        try await world.set(seed: 7)
        try await world.set(profile: .observed)
        try await world.set("rezolve.device-check", "enforce")
        try await world.advance("90s")
        try await world.control(.put, "sandboxes/" + world.name, #"{"ttl":"2h"}"#)
        let fault = #"{"route":"rua.guest","call":3,"fail":"service-unavailable"}"#
        try await world.control(.put, "faults", fault)
        let chosen = try await world.control(.put, "scenarios", #"{"scenario":"rezolve-busy-backend"}"#)
        #expect(chosen.status == 200)
        for _ in 1...2 { _ = try await world.call(.post, "/v2/credentials/register/guest") }
        let next = world.moved(to: try stage.restarted())
        for path in ["clock", "settings", "faults", "scenarios"] {
            let (before, after) = (try await world.control(.get, path), try await next.control(.get, path))
            #expect(after.text == before.text)
        }
        #expect(next.sandbox.timeToLive == .seconds(7200))
        #expect(next.sandbox.created == world.sandbox.created)
        #expect(next.sandbox.identifiers.uuid() == world.sandbox.identifiers.uuid())
        let (before, after) = (
            try await world.call(.post, "/v2/credentials/register/guest"),
            try await next.call(.post, "/v2/credentials/register/guest")
        )
        #expect(after.status == before.status)
        #expect(after.text == before.text)
    }

    @Test("gives every journal number once, whether the server ended or was killed")
    func numbers() async throws {
        let world = try await World(on: stage)
        for _ in 1...3 { _ = try await world.call(.get, "/nowhere") }
        save()
        let written = stage.emulator.keeper?.total.written
        for _ in 1...3 { _ = try await world.call(.get, "/nowhere") }
        save()
        #expect(stage.emulator.keeper?.total.written == written, "entries alone are no reason to write")
        // As after a kill: more was answered than is written.
        let next = world.moved(to: try Stage(keeping: folder.copy()))
        #expect(try await next.call(.get, "/nowhere").entry?.id == 1001)
        #expect(next.sandbox.journal.entries().map(\.id) == [1001])
    }

    @Test("has no file of a sandbox in which nothing changed, nor of one that was reset or removed")
    func unchanged() async throws {
        let (read, reset, removed) = (
            try await World(on: stage, at: nil), try await World(on: stage), try await World(on: stage)
        )
        _ = try await read.call(.get, "/nowhere")
        save()
        let names = { Set(try sandboxFiles().compactMap { $0.split(separator: "/").last.map(String.init) }) }
        #expect(try names() == ["\(removed.name).1.json", "\(reset.name).1.json"])
        try await reset.control(.post, "reset")
        #expect(try await removed.control(.delete, "sandboxes/" + removed.name).status == 204)
        save()
        // A reset leaves a mark in one vendor's state: tokens that were minted before it do not count any more.
        #expect(try names() == ["\(reset.name).1.json"])
        let kept = try JSON.parse(Array(folder.text(of: file(of: reset.name)).utf8))["kept"]?.object
        #expect(kept?.map(\.name) == ["state", "created_at", "journal_number"])
        #expect(kept?["state"]?.object?.map(\.name) == ["comapi"])
        #expect(try await World(on: stage, at: nil).control(.delete, "sandboxes/" + removed.name).status == 404)
    }

    @Test("is written by itself soon after a change")
    func promptness() async throws {
        let world = try await World(on: stage)
        let isThere = { try self.sandboxFiles().contains { $0.contains("/\(world.name).") } }
        // The test's own time limit ends a vain wait.
        while try !isThere() { await Task.yield() }
        #expect(try folder.text(of: try file(of: world.name)).contains(#""clock":{"frozen_at":1800000000}"#))
    }

    @Test("can be read by its owner alone")
    func permissions() async throws {
        let world = try await World(on: stage)
        save()
        for path in ["", "UNDERSTUDY-STATE", try file(of: world.name)] {
            let facts = try FileManager.default.attributesOfItem(atPath: "\(folder.path)/\(path)")
            let mode = try #require(facts[.posixPermissions] as? Int)
            // The test made the folder itself.
            #expect(path.isEmpty || mode == 0o600, "\(path) has mode \(String(mode, radix: 8))")
        }
    }

    @Test("is read only where a sandbox is named")
    func laziness() async throws {
        let (world, other) = (try await World(on: stage), try await World(on: stage))
        save()
        let copy = try folder.copy()
        try copy.write("no JSON", to: try file(of: other.name))
        let next = try Stage(keeping: copy)
        _ = try await world.moved(to: next).control(.get, "clock")
        #expect(next.emulator.keeper?.total.read == 1)
        #expect(try await health(next)["set_aside"]?["count"] == 0)
    }

    @Test("takes sandboxes for which there is no room in memory, and gives them back")
    func room() async throws {
        let emulator = try Emulator(
            fixtures: Repository.fixtures, sandboxes: SandboxLimits(capacity: 3),
            keeper: StateKeeper(folder: TemporaryFolder().path + "/new"))
        let small = try Stage(emulator)
        var worlds: [World] = []
        for second in 1...9 { worlds.append(try await World(on: small, at: World.exampleMoment + second)) }
        #expect(emulator.sandboxes.count <= 4)
        for (index, world) in worlds.enumerated() {
            let clock = try await world.control(.get, "clock").json
            #expect(clock["unix"]?.int == World.exampleMoment + index + 1)
        }
    }

    @Test("forgets a sandbox whose time to live is over, even while no server runs")
    func expiry() async throws {
        let world = try await World(on: stage)
        try await world.control(.put, "sandboxes/" + world.name, #"{"ttl":"10s"}"#)
        save()
        for (age, isFrozen) in [(5.0, true), (11.0, false)] {
            let copy = try folder.copy()
            let keeper = try StateKeeper(folder: copy.path) { SandboxClock.machine + .seconds(age) }
            let next = try Stage(Emulator(fixtures: Repository.fixtures, keeper: keeper), in: copy)
            let clock = try await world.moved(to: next).control(.get, "clock").json
            #expect(clock["frozen"] == .bool(isFrozen), "\(age) seconds later")
        }
    }

    @Test("repeats a call that meets a sandbox on its way to the disk", arguments: Depth.allCases)
    func handOver(_ depth: Depth) async throws {
        let world = try await World(depth, on: stage)
        let old = world.sandbox
        stage.emulator.sandboxes.handOver([old])
        #expect(old.isSealed)
        // Whoever still has the old one is told that it has moved.
        let vendor = try #require(stage.emulator.vendor("rezolve"))
        let request = Request(method: .get, target: "/api/v2/ping", authority: "a", fields: FieldLines([]))
        let match = stage.emulator.routes.match(request.method, request.path)
        if case .moved = old.vendor(vendor).answer(old.beginExchange(request), at: match) {
        } else if case .route = match {
            Issue.record("a sealed sandbox has answered")
        }
        #expect(try await world.control(.get, "clock").json["frozen"] == true)
        #expect(world.sandbox !== old)
    }

    @Test("keeps what a file brought at the start")
    func imported() async throws {
        let world = try await World(on: Stage(keeping: TemporaryFolder()))
        let order = #"{"login":"zoe@example.test","password":"Not-A-Secret-1"}"#
        #expect(try await world.control(.post, "state/okta/add-user", order).status == 200)
        _ = try stage.emulator.restoreState(world.emulator.exportState(), from: "a file")
        #expect(try await world.moved(to: stage).control(.get, "state/okta").text.contains("zoe@example.test"))
        save()
        #expect(try folder.text(of: try file(of: world.name)).contains("zoe@example.test"))
    }

    // MARK: Files that cannot be read

    /// Another content of a sandbox's file, and what is said of it.
    struct Foreign: Sendable, CustomStringConvertible {
        let content: @Sendable (String) -> String
        let problem: String
        var description: String { problem }

        init(_ problem: String, _ content: @escaping @Sendable (String) -> String) {
            (self.content, self.problem) = (content, problem)
        }
    }

    static let foreign = [
        Foreign("1:1: not JSON: the text ends inside a value") { _ in "" },
        Foreign("not JSON: the text ends inside a value") { String($0.dropLast(40)) },
        Foreign("expected a mapping") { _ in "[1]" },
        Foreign("understudy_sandbox: the file has another form than 1, which this release reads") {
            $0.replacing(#""understudy_sandbox":1"#, with: #""understudy_sandbox":2"#)
        },
        Foreign("the file is of the sandbox other, not of case-") {
            $0.replacing(/"name":"[^"]*"/, with: #""name":"other""#)
        },
        Foreign("member “kept” is missing") { _ in
            #"{"understudy_sandbox":1,"name":"NAME","used_at":1}"#
        },
    ]

    @Test("sets aside what it cannot read, says so, and begins anew", arguments: foreign)
    func foreignFile(_ foreign: Foreign) async throws {
        let (world, other) = (try await World(on: stage), try await World(on: stage))
        save()
        let copy = try folder.copy()
        let path = try file(of: world.name)
        let content = foreign.content(try folder.text(of: path)).replacing("NAME", with: world.name)
        try copy.write(content, to: path)
        let next = try Stage(keeping: copy)
        #expect(try await world.moved(to: next).control(.get, "clock").json["frozen"] == false)
        #expect(try await other.moved(to: next).control(.get, "clock").json["frozen"] == true)
        let aside = "set-aside/\(world.name).1.json"
        #expect(try copy.text(of: aside) == content)
        let told = try #require(try await health(next)["set_aside"]?["parts"]?[0])
        #expect(told["sandbox"] == .string(world.name))
        #expect(told["problem"]?.string?.contains(foreign.problem) == true, "\(told.text)")
        #expect(told["problem"]?.string?.hasSuffix("the file is kept as \(copy.path)/\(aside)") == true, "\(told.text)")
        // What happens from then on is kept beside it.
        try await world.moved(to: next).freeze(at: 5)
        #expect(next.emulator.keeper?.finish() == nil)
        #expect(try copy.files.contains { $0.hasSuffix("/\(world.name).2.json") })
        #expect(try copy.text(of: aside) == content)
    }

    @Test("sets aside single records, and keeps them for a release that can read them")
    func records() async throws {
        let world = try await World(on: stage)
        let order = #"{"login":"zoe@example.test","password":"Not-A-Secret-1"}"#
        #expect(try await world.control(.post, "state/okta/add-user", order).status == 200)
        try await world.arm("service-unavailable", at: "rua.guest")
        save()
        let copy = try folder.copy()
        let path = try file(of: world.name)
        let damaged = try folder.text(of: path)
            .replacing(#""status":"ACTIVE""#, with: #""status":"ASLEEP""#)
            .replacing(#""route":"rua.guest""#, with: #""route":"rua.visitor""#)
        try copy.write(damaged, to: path)
        let next = world.moved(to: try Stage(keeping: copy))
        #expect(try await next.control(.get, "clock").json["frozen"] == true)
        #expect(try await next.control(.get, "faults").json["faults"] == [])
        let parts = try #require(try await health(next.stage)["set_aside"]?["parts"]?.array)
        #expect(parts.map { $0["record"]?.string } == ["users[0]", "interventions.faults[0]"])
        #expect(parts[0]["problem"]?.string?.contains("ASLEEP") == true, "\(parts[0].text)")
        #expect(parts[1]["problem"]?.string?.contains("rua.visitor") == true, "\(parts[1].text)")
        try await next.freeze(at: 5)
        #expect(next.emulator.keeper?.finish() == nil)
        let again = try JSON.parse(Array(copy.text(of: path).utf8), maximumDepth: Emulator.documentDepth)
        #expect(again["set_aside"]?.array?.count == 2)
        #expect(again["set_aside"]?[0]?["value"]?["status"] == "ASLEEP")
        #expect(again["kept"]?["clock"] == ["frozen_at": 5])
    }

    @Test("reads the files of every release", arguments: ["sandbox-1.json"])
    func formats(_ name: String) async throws {
        let path = Repository.root + "/Tests/UnderstudyTests/States/" + name
        let copy = try TemporaryFolder()
        let empty = try Stage(keeping: copy)
        let world = try await World(on: empty, at: nil).named("of-a-release")
        try await world.freeze(at: 5)
        #expect(empty.emulator.keeper?.finish() == nil)
        let place = try #require(try copy.files.first { $0.hasSuffix("/of-a-release.1.json") })
        let again = try copy.copy()
        try again.write(String(contentsOfFile: path, encoding: .utf8), to: place)
        let next = world.moved(to: try Stage(keeping: again))
        #expect(try await next.control(.get, "clock").json["unix"]?.int == 1_800_000_090)
        #expect(try await health(next.stage)["set_aside"]?["count"] == 0)
        #expect(try await next.control(.get, "settings").json["seed"] == 7)
        #expect(try await next.control(.get, "faults").json["faults"]?[0]?["calls"] == 1)
        #expect(try await next.control(.get, "scenarios").json["active"]?[0]?["scenario"] == "rezolve-busy-backend")
        #expect(try await next.control(.get, "state/okta").text.contains("zoe@example.test"))
    }

    // MARK: Folders that cannot be written

    /// Puts a file where the folder for a sandbox's file would be.
    ///
    /// - Returns: its path.
    private func block(_ world: World) throws -> String {
        let hash = String(SandboxDirectory.hash(world.name) >> 52, radix: 16)
        let bucket = "sandboxes/" + String(repeating: "0", count: 3 - hash.count) + hash
        try folder.write("in the way", to: bucket)
        return "\(folder.path)/\(bucket)"
    }

    @Test("is written by itself once nothing is in the way any more")
    func retries() async throws {
        let world = try await World(on: stage, at: nil)
        let obstacle = try block(world)
        try await world.freeze(at: 5)
        // The test's own time limit ends vain waits.
        while try await health(stage)["state"]?["problem"] == .null { await Task.yield() }
        try FileManager.default.removeItem(atPath: obstacle)
        while try await health(stage)["state"]?["problem"] != .null { await Task.yield() }
        #expect(try folder.text(of: try file(of: world.name)).contains(#""clock":{"frozen_at":5}"#))
    }

    @Test("keeps in memory what it cannot write, says why, and writes it once it can")
    func blocked() async throws {
        let world = try await World(on: stage, at: nil)
        let obstacle = try block(world)
        try await world.freeze(at: 5)
        let problem = try #require(stage.emulator.keeper?.finish())
        #expect(problem == "1 sandboxes are not written to \(folder.path): Not a directory")
        #expect(try await health(stage)["state"]?["problem"] == .string(problem))
        #expect(try await world.control(.get, "clock").json["frozen"] == true)
        #expect(stage.emulator.sandboxes.handOver([world.sandbox]) == ())
        #expect(!world.sandbox.isSealed)
        try FileManager.default.removeItem(atPath: obstacle)
        save()
        #expect(try await health(stage)["state"]?["problem"] == .null)
        #expect(try folder.text(of: try file(of: world.name)).contains(#""clock":{"frozen_at":5}"#))
    }

    @Test("that was removed is made anew with all that is in memory")
    func removed() async throws {
        let (world, other) = (try await World(on: stage), try await World(on: stage))
        save()
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
            try FileManager.default.removeItem(atPath: "\(folder.path)/\(name)")
        }
        try await world.freeze(at: 5)
        // The first save finds out, the second one writes all others.
        save()
        save()
        #expect(try folder.files.contains("UNDERSTUDY-STATE"))
        #expect(try folder.text(of: try file(of: world.name)).contains(#""clock":{"frozen_at":5}"#))
        #expect(try folder.text(of: try file(of: other.name)).contains(#""frozen_at":1800000000"#))
    }

    @Test("is used by one server")
    func secondServer() throws {
        #expect {
            _ = try StateKeeper(folder: folder.path)
        } throws: { error in
            guard case StateLock.Failure.taken(by: let owner) = error else { return false }
            return owner == Int(ProcessInfo.processInfo.processIdentifier)
        }
    }

    @Test("is no folder with other things in it")
    func foreignFolder() throws {
        let documents = try TemporaryFolder(["letter.txt": "Dear"])
        let error = #expect(throws: StateFolderProblem.self) { _ = try StateKeeper(folder: documents.path) }
        #expect(
            error?.description
                == "\(documents.path) holds letter.txt and is no folder of states; name an empty or a new one")
        #expect(try documents.files == ["letter.txt"])
    }

    @Test("gives sandboxes the same start, so that sessions of apps outlive the server")
    func start() async throws {
        let next = try Stage(keeping: folder.copy())
        let starts = try [stage, next].map { try $0.emulator.sandboxes.fetch("a").identity.start }
        #expect(starts[0] == starts[1])
        #expect(starts[0] != (try Stage(keeping: TemporaryFolder())).emulator.sandboxes.standard.identity.start)
    }
}
