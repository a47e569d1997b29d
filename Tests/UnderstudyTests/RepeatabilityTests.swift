import Contracts
import Emulation
import JSON
import Support
import Testing
import Understudy

/// With a seed, the same calls produce the same journal in every process.
@Suite("A seed")
struct RepeatabilityTests {
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
        let run = try await ContractRun.once(file)
        let other = try await ContractRun(file, in: World.seeded(for: file, on: Stage.seeded[1].get()))
        #expect(other.result.hasPassed, "\(other.result.lines.joined(separator: "\n"))")
        let journals = [run, other].map { $0.occurrences.shown.map { Self.withoutKeys($0).text } }
        #expect(journals[0].count == journals[1].count)
        for (first, second) in zip(journals[0], journals[1]) { #expect(first == second) }
    }

    @Test("yields other identifiers than another seed, and none yields others each time")
    func seeds() throws {
        let (alike, shared) = (try Stage.seeded.map { try $0.get() }, try Stage.shared())
        var other = Settings()
        other.seed = 8
        let starts = try (alike + [Stage(Emulator(fixtures: Repository.fixtures, settings: other))]).map {
            $0.emulator.sandboxes.standard.identity.start
        }
        #expect(starts[0] == starts[1])
        #expect(starts[0] != starts[2])
        let drawn = try [shared, Stage(Emulator(fixtures: Repository.fixtures))].map {
            $0.emulator.sandboxes.standard.identity.start
        }
        #expect(drawn[0] != drawn[1])
    }
}
