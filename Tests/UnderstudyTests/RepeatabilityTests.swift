import Contracts
import Emulation
import JSON
import Support
import Synchronization
import Testing
import Understudy

/// With a seed, the same calls produce the same journal in every process.
@Suite("A seed")
struct RepeatabilityTests {
    private final class Lines: Sendable {
        private let lines = Mutex<[String]>([])

        var all: [String] { lines.withLock { $0 } }

        func add(_ line: String) { lines.withLock { $0.append(line) } }
    }

    private static func stage(seed: UInt64) throws -> Stage {
        var settings = Settings()
        settings.seed = seed
        return try Stage(Emulator(fixtures: Repository.fixtures, settings: settings))
    }

    /// Two emulators that start alike; ids are each sandbox's own, so all files can share them.
    private static let alike = Result { try [stage(seed: 7), stage(seed: 7)] }

    /// The entries of all exchanges of a file's cases, in a sandbox with that name.
    private func journal(_ file: ContractFile, in world: World) async throws -> [String] {
        let lines = Lines()
        let runner = ContractRunner(isPreparation: ContractRun.steers) { (request) throws(ContractSendingProblem) in
            let answer = try await ContractRun.send(request, world)
            if !ContractRun.steers(request.url), let entry = world.sandbox.journal.entries().last {
                lines.add(Self.withoutKeys(world.masked(entry)).text)
            }
            return answer
        }
        let result = await runner.run(
            try file.read(), variables: ContractVariables(["base": .string("http://understudy/~\(world.name)")]))
        #expect(result.hasPassed, "\(result.lines.joined(separator: "\n"))")
        return lines.all
    }

    /// Removes key pairs: each process generates its own, since private keys must not be predictable.
    private static func withoutKeys(_ value: JSON) -> JSON {
        switch value {
        case .object(let object):
            .object(
                JSONObject(object.map { ($0.name, $0.name == "public_key" ? "a key" : withoutKeys($0.value)) }))
        case .array(let elements): .array(elements.map(withoutKeys))
        case .null, .bool, .number, .string: value
        }
    }

    /// Files whose cases let the clock run see other times each time.
    private static let files = ContractFile.all.filter { file in
        guard let bytes = try? Repository.fixtures.file(file.description).bytes else { return true }
        return !String(decoding: bytes, as: UTF8.self).contains(#""freeze":false"#)
    }

    @Test("has two emulators write the same journals, of all vendors", arguments: files)
    func journals(_ file: ContractFile) async throws {
        var journals: [[String]] = []
        let name = file.description.map { $0.isLetter ? String($0) : "-" }.joined()
        for stage in try Self.alike.get() {
            journals.append(try await journal(file, in: World(on: stage, at: nil).named(name)))
        }
        #expect(journals[0].count == journals[1].count)
        for (first, second) in zip(journals[0], journals[1]) { #expect(first == second) }
    }

    @Test("yields other identifiers than another seed, and none yields others each time")
    func seeds() throws {
        let starts = try [7, 7, 8].map { try Self.stage(seed: $0).emulator.sandboxes.standard.identity.start }
        #expect(starts[0] == starts[1])
        #expect(starts[0] != starts[2])
        let drawn = try (1...2).map { _ in
            try Stage(Emulator(fixtures: Repository.fixtures)).emulator.sandboxes.standard.identity.start
        }
        #expect(drawn[0] != drawn[1])
    }
}
