import Contracts
import Foundation
import HTTPTypes
import JSON
import Mutations
import Support
import Testing
import Understudy

@testable import Emulation

/// Export and import are an identity, whatever happened before, and a store holds what memory holds: tested with generated
/// sequences of calls.
struct Property {
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

    private func storedDifference(of world: World) throws -> String? {
        guard let keeper = world.emulator.keeper else { return nil }
        let document = try keeper.exportState()
        var stored = document["sandboxes"]?.array?.first { $0["name"]?.string == world.name }?.object ?? [:]
        stored["name"] = nil
        // Read, since some lists have an order of their own.
        let after = world.moved(to: there)
        _ = try there.emulator.sandboxes.remove(world.name)
        defer { _ = try? there.emulator.sandboxes.remove(world.name) }
        _ = after.sandbox.adjustSettings { $0 = world.sandbox.settings }
        _ = try after.emulator.restoreState(StateDocument.of(.object(stored), sandbox: world.name), from: "the store")
        return Restart.difference(StateDocument.entry(of: after), StateDocument.entry(of: world)).map {
            "stored differently: \($0)"
        }
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

@Suite("Export and import") struct PropertyTests {
    private static func setting(_ name: String, or standard: Int) -> Int {
        ProcessInfo.processInfo.environment["UNDERSTUDY_PROPERTY_" + name].flatMap { Int($0) } ?? standard
    }

    @Test("are an identity after any course of calls, actions, clocks, settings and imports")
    func identity() async throws {
        let property = try Property()
        let first = UInt64(Self.setting("SEED", or: 1))
        let (least, seconds) = (UInt64(Self.setting("COURSES", or: 20)), Self.setting("SECONDS", or: 0))
        let most = Self.setting("FAILURES", or: 1)
        let deadline = ContinuousClock.now + .seconds(seconds)
        var (seed, failures) = (first, 0)
        while failures < most, seed < first + least || .now < deadline {
            if let failure = try await property.failure(seed: seed) {
                failures += 1
                Issue.record("\(failure)")
            }
            seed += 1
        }
        print("Tried \(seed - first) courses, from seed \(first) on.")
    }
}

enum Step: Sendable {
    /// A vendor or control call; the sandbox is selected by header.
    case call(HTTPRequest.Method, String, World.Fields, String)
    /// Imports a state file as at a start; its one sandbox is the current one.
    case importing(JSON)

    /// Performs the step.
    ///
    /// - Returns: the answer; `nil` if there is none.
    @discardableResult
    func perform(in world: World) async throws -> ReceivedAnswer? {
        switch self {
        case .call(let method, let target, let fields, let body):
            return try await world.bare(method, target, fields + [("X-Understudy-Sandbox", world.name)], body)
        case .importing(let state):
            let document = StateDocument.of(state, sandbox: world.name)
            // A rejected import has changed nothing.
            _ = try? world.emulator.importState(FixtureNode(document, from: "a mutated file"))
            return nil
        }
    }

    var isRead: Bool {
        if case .call(.get, let target, _, _) = self { !target.contains("/_understudy/") } else { false }
    }

    /// Whether it changes nothing but a vendor's state: a vendor's call, an action or a drill.
    var isChange: Bool {
        guard case .call(let method, let target, _, _) = self, method != .get else { return false }
        return !target.contains("/_understudy/") || target.contains("/_understudy/state/")
            || target.contains("/_understudy/keys/")
    }

    var drill: (vendor: String, issuer: String, drill: KeyDrill)? {
        guard case .call(.post, let target, _, _) = self else { return nil }
        let parts = target.split(separator: "/").map(String.init)
        guard parts.count == 5, parts.starts(with: ["_understudy", "keys"]) else { return nil }
        return KeyDrill(rawValue: parts[4]).map { (parts[2], parts[3], $0) }
    }
}

extension Step: CustomStringConvertible {
    /// In a form that a person can repeat.
    var description: String {
        switch self {
        case .call(let method, let target, let fields, let body):
            let lines = fields.map { " -H '\($0.0): \($0.1)'" }.joined()
            return "\(method.rawValue) \(target)\(lines)\(body.isEmpty ? "" : " -d '\(body)'")"
        case .importing(let state): return "import \(state.text)"
        }
    }
}

/// State files with one sandbox.
enum StateDocument {
    static func of(_ entry: JSON, sandbox: String) -> JSON {
        var entry = entry.object ?? [:]
        entry["name"] = .string(sandbox)
        return ["understudy_state": 1, "sandboxes": .array(entry.count > 1 ? [.object(entry)] : [])]
    }

    /// What the file would contain for a sandbox, without its name; empty if nothing happened.
    static func entry(of world: World) -> JSON {
        let entries = world.emulator.exportState()["sandboxes"]?.array ?? []
        var entry = entries.first { $0["name"]?.string == world.name }?.object ?? [:]
        entry["name"] = nil
        return .object(entry)
    }
}

extension World {
    /// Drops the keys that vendors have fetched, as a restart does: what they decide until they are fetched again
    /// depends on when that was.
    func forgetFetchedKeys() {
        for index in emulator.vendors.indices { (sandbox.vendor(index) as? any FetchedKeysHolder)?.forgetFetchedKeys() }
    }
}

/// A vendor's state in a sandbox, whatever the vendor.
private protocol FetchedKeysHolder {
    func forgetFetchedKeys()
}

extension SandboxedVendor: FetchedKeysHolder {
    func forgetFetchedKeys() {
        change(at: loaded) { loaded, state in
            let vendor = loaded.vendor
            for keys in vendor.remoteKeys(in: state) {
                vendor.store(
                    RemoteKeys(issuer: keys.issuer, url: keys.url, form: keys.form, algorithm: keys.algorithm),
                    in: &state)
            }
        }
    }
}
