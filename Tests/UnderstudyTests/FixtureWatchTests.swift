import Emulation
import Foundation
import JSON
import Support
import Testing
import Understudy

/// The watch over fixture files, checked by explicit calls so that no test has to wait.
@Suite("Fixtures that are watched")
struct FixtureWatchTests {
    private static let failures = "rezolve/failures.yaml"

    private struct Watched {
        let fixtures: OwnFixtures
        let world: World
        let watch: FixtureWatch

        init() async throws {
            fixtures = try OwnFixtures()
            let emulator = try Emulator(fixtures: fixtures.store)
            world = try await World(on: Stage(emulator))
            watch = FixtureWatch(emulator, over: fixtures.store)
        }

        /// A change takes effect at the second look.
        func lookTwice() {
            watch.look()
            watch.look()
        }

        func reload() async throws -> JSON? { try await world.control(.get, "health").json["reload"] }
        func refusal() async throws -> String? {
            try await world.call(.get, "/api/v1/partner/317/customer/entity123/wallet").json["message"]?.string
        }
    }

    @Test("nothing changes, nothing happens")
    func quiet() async throws {
        let watched = try await Watched()
        for _ in 0..<3 { watched.lookTwice() }
        #expect(
            try await watched.reload() == ["watching": true, "count": 0, "at": nil, "problem": nil])
        let unwatched = try await World().control(.get, "health").json["reload"]
        #expect(unwatched?["watching"] == false)
    }

    @Test("a changed file is taken over once it has come to rest")
    func change() async throws {
        let watched = try await Watched()
        let fingerprint = watched.world.emulator.fixtureFingerprint
        try watched.fixtures.put(Self.failures, [("Access is denied.", "No, said the first.")])
        watched.watch.look()
        #expect(try await watched.refusal() == "Access is denied.", "it may still be in the middle of being written")
        try watched.fixtures.put(Self.failures, [("Access is denied.", "No, said the second one.")])
        watched.watch.look()
        #expect(try await watched.refusal() == "Access is denied.")
        watched.watch.look()
        #expect(try await watched.refusal() == "No, said the second one.")
        let reload = try await watched.reload()
        #expect(reload?["count"] == 1)
        #expect(reload?["problem"] == .null)
        #expect(reload?["at"]?.string?.hasSuffix("Z") == true)
        #expect(watched.world.emulator.fixtureFingerprint != fingerprint)
        #expect(
            try await watched.world.control(.get, "health").json["fixtures"]
                == .string(watched.world.emulator.fixtureFingerprint))
        try watched.fixtures.remove(Self.failures)
        watched.lookTwice()
        #expect(try await watched.refusal() == "Access is denied.", "the file of the layer below counts again")
        #expect(try await watched.reload()?["count"] == 2)
    }

    @Test("a broken file leaves the old rules running and says so until it is repaired")
    func broken() async throws {
        let watched = try await Watched()
        try watched.fixtures.put(Self.failures, [("Access is denied.", "No.")])
        watched.lookTwice()
        try watched.fixtures.write("failures:\n  token-expird: {}\n", to: Self.failures)
        watched.lookTwice()
        #expect(try await watched.refusal() == "No.")
        let health = try await watched.world.control(.get, "health")
        #expect(health.status == 200)
        #expect(health.json["status"] == "ok")
        #expect(health.json["reload"]?["count"] == 1)
        let problem = try #require(health.json["reload"]?["problem"]?.string)
        #expect(
            problem.hasSuffix(
                "rezolve/failures.yaml:2:3: unknown failure “token-expird”; did you mean “token-expired”?"),
            "\(problem)")
        watched.lookTwice()
        #expect(try await watched.reload()?["problem"]?.string == problem)
        // Reverted: there is nothing to replace and no problem left.
        try watched.fixtures.put(Self.failures, [("Access is denied.", "No.")])
        watched.lookTwice()
        #expect(try await watched.reload()?["problem"] == .null)
        #expect(try await watched.reload()?["count"] == 1)
        // Broken again, then fixed by a different version.
        try watched.fixtures.write("[", to: Self.failures)
        watched.lookTwice()
        #expect(try await watched.reload()?["problem"] != .null)
        try watched.fixtures.put(Self.failures, [("Access is denied.", "Not at all.")])
        watched.lookTwice()
        #expect(try await watched.reload()?["problem"] == .null)
        #expect(try await watched.refusal() == "Not at all.")
    }

    @Test("what changed between the start and the watch is not missed")
    func gap() async throws {
        let fixtures = try OwnFixtures()
        let emulator = try Emulator(fixtures: fixtures.store)
        try fixtures.put(Self.failures, [("Access is denied.", "No.")])
        let watch = FixtureWatch(emulator, over: fixtures.store)
        watch.look()
        watch.look()
        let world = try await World(on: Stage(emulator))
        #expect(
            try await world.call(.get, "/api/v1/partner/317/customer/entity123/wallet").json["message"] == "No.")
    }

    @Test("a folder that is gone lets nothing show through from below, and is named until it is back")
    func gone() async throws {
        let watched = try await Watched()
        try watched.fixtures.put(Self.failures, [("Access is denied.", "No.")])
        watched.lookTwice()
        let folder = try #require(watched.fixtures.store.layers.first)
        try FileManager.default.moveItem(atPath: folder, toPath: folder + "-away")
        watched.lookTwice()
        #expect(try await watched.refusal() == "No.")
        let problem = try await watched.reload()?["problem"]?.string
        #expect(problem?.hasSuffix("the folder of fixtures is gone") == true, "\(problem ?? "none")")
        try FileManager.default.moveItem(atPath: folder + "-away", toPath: folder)
        watched.lookTwice()
        #expect(try await watched.reload()?["problem"] == .null)
        #expect(try await watched.refusal() == "No.")
    }
}
