import Contracts
import Foundation
import JSON
import Mutations
import Support
import Understudy

/// Export and import are an identity, whatever happened before, and a store holds what memory holds: tested with generated
/// sequences of calls.
struct Property {
    /// A sequence whose state did not survive.
    struct Failure: CustomStringConvertible {
        let seed: UInt64
        let difference: String
        let steps: [Step]

        var description: String {
            """
            seed \(seed): \(difference)
            after \(steps.count) steps:
            \(steps.map(\.description).joined(separator: "\n"))
            """
        }
    }

    /// One for each engine that stores sandboxes.
    private let heres: [Stage]
    private let there: Stage
    private let files: [HurlFile]

    /// Separate servers, so that other tests need not wait for exports of their sandboxes.
    init() throws {
        heres = try StoreEngine.allCases.map { try Stage(keeping: StoreHome($0)) }
        there = try Stage(Emulator(fixtures: Repository.fixtures))
        files = try ContractFile.all.map { try $0.read() }
    }

    /// Tests one sequence, and shortens it if it fails.
    func failure(seed: UInt64) async throws -> Failure? {
        PropertyLog.begin(seed: seed)
        let world = try await World(on: here(seed), at: nil)
        var writer = CourseWriter(seed: seed, in: world, files)
        try await writer.write()
        guard let difference = try await difference(of: world, writer.steps) else { return nil }
        return try await shortened(Failure(seed: seed, difference: difference, steps: writer.steps))
    }

    private func here(_ seed: UInt64) -> Stage { heres[Int(seed % UInt64(heres.count))] }

    private func difference(of world: World, _ steps: [Step]) async throws -> String? {
        defer {
            for stage in [world.stage, there] { _ = try? stage.emulator.sandboxes.remove(world.name) }
        }
        if let difference = try storedDifference(of: world) { return difference }
        if let difference = try await Restart(of: world, on: there).difference(steps) { return difference }
        return try storedDifference(of: world)
    }

    /// The first difference between what is stored of a sandbox and what it holds.
    private func storedDifference(of world: World) throws -> String? {
        guard let keeper = world.emulator.keeper else { return nil }
        let document = try keeper.exportState()
        var stored = document["sandboxes"]?.array?.first { $0["name"]?.string == world.name }?.object ?? [:]
        stored["name"] = nil
        return Restart.difference(.object(stored), StateDocument.entry(of: world)).map { "stored differently: \($0)" }
    }

    /// Removes steps, many at first, as long as it still fails.
    private func shortened(_ failure: Failure) async throws -> Failure {
        var failure = failure
        var length = max(1, failure.steps.count / 2)
        let deadline = ContinuousClock.now + .seconds(20)
        while true {
            var start = 0
            while start < failure.steps.count, .now < deadline {
                var steps = failure.steps
                steps.removeSubrange(start..<min(start + length, steps.count))
                let world = try await World(on: here(failure.seed), at: nil)
                for step in steps { try await step.perform(in: world) }
                if let difference = try await difference(of: world, steps) {
                    failure = Failure(seed: failure.seed, difference: difference, steps: steps)
                } else {
                    start += length
                }
            }
            if length == 1 || .now >= deadline { return failure }
            length = max(1, length / 2)
        }
    }
}

/// Keeps the current sequence in a file, in case the process crashes.
enum PropertyLog {
    private static let path = ProcessInfo.processInfo.environment["UNDERSTUDY_PROPERTY_LOG"]

    static func begin(seed: UInt64) {
        guard let path else { return }
        _ = FileManager.default.createFile(atPath: path, contents: Data("seed \(seed)\n".utf8))
    }

    static func note(_ step: Step) {
        guard let path, let file = FileHandle(forWritingAtPath: path) else { return }
        _ = try? file.seekToEnd()
        try? file.write(contentsOf: Data("\(step)\n".utf8))
        try? file.close()
    }
}
