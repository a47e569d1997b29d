package import Emulation
import JSON
import Synchronization
import Wire

/// The answer of `health`: that the server works, which fixtures are in force, and how reloading them went.
///
/// It is built when something changes, since probes are far more frequent.
final class Reloads: Sendable {
    struct Content {
        var isWatching = false
        var count = 0
        var latest: Moment?
        /// Why the current fixture files are not in force; `nil` when they are.
        var problem: String?
        /// The parts of a state file that could not be read.
        var setAside: JSON = ["count": 0, "parts": []]
        /// Where the sandboxes are kept; `nil` if nowhere.
        var state: JSON?
        /// The replica's name; `nil` for a server alone.
        var replica: String?
        var loaded: LoadedVendors
        fileprivate var response: Response
        /// Whether its secrets are hidden, such as one quoted in a problem with a fixture.
        fileprivate var isMasked = false
    }

    private let content: Mutex<Content>

    init(_ loaded: LoadedVendors) {
        content = Mutex(Content(loaded: loaded, response: .empty()))
        change { _ in }
    }

    /// The answer to a probe, with secrets hidden once rather than for each probe, and not before the first one.
    func health(_ redactor: () -> Redactor) -> Response {
        content.withLock { content in
            if !content.isMasked {
                content.response = content.response.masked(by: redactor())
                content.isMasked = true
            }
            return content.response
        }
    }

    func change(_ change: (inout Content) -> Void) {
        content.withLock { content in
            change(&content)
            content.response = Self.response(content)
            content.isMasked = false
        }
    }

    private static func response(_ content: Content) -> Response {
        let vendors = content.loaded.listed.map { vendor -> JSON in
            [
                "id": .string(vendor.identity.id), "title": .string(vendor.identity.title),
                "routes": JSON(vendor.routes.count), "failures": JSON(vendor.failureNames.count),
            ]
        }
        var health: JSONObject = [
            "status": "ok", "version": .string(Emulator.version), "vendors": .array(vendors),
            "fixtures": .string(content.loaded.fingerprint),
            "layers": .array(content.loaded.layers.map(\.json)),
            "reload": [
                "watching": .bool(content.isWatching), "count": JSON(content.count),
                "at": JSON(content.latest?.rfc3339), "problem": JSON(content.problem),
            ],
            "set_aside": content.setAside,
        ]
        health["state"] = content.state
        health["replica"] = content.replica.map(JSON.string)
        return .json(.object(health))
    }
}

/// Polls for changed fixture files, and reloads them in the emulator.
///
/// It polls because file system notifications do not pass through container mounts.
package final class FixtureWatch: Sendable {
    private struct Sight {
        var layers: [String]
        /// A folder that may later overlay the others; once it has existed, its absence is a mistake.
        var awaited: String?
        /// The last files that were loaded, or found wrong.
        var settled: FixtureStamps
        /// The last files seen, if different: they may still be in the middle of being written.
        var pending: FixtureStamps?
    }

    private let emulator: Emulator
    private let sight: Mutex<Sight>

    /// Creates a watch over the files that the emulator was made from.
    ///
    /// - Parameter awaited: a folder that overlays them as soon as it exists.
    package init(_ emulator: Emulator, over fixtures: FixtureStore, awaiting awaited: String? = nil) {
        self.emulator = emulator
        // Nothing counts as seen: the first looks find what has changed since startup read the files.
        sight = Mutex(Sight(layers: fixtures.layers, awaited: awaited, settled: FixtureStamps()))
        emulator.reloads.change { $0.isWatching = true }
    }

    /// A change is loaded when a second look finds the files unchanged since the first, so that a file that is still
    /// being written is not taken for a broken one.
    package func look() {
        // Held for the whole look: only one runs at a time.
        sight.withLock { sight in
            if let awaited = sight.awaited, FixtureStore(layers: [awaited]).missingLayer == nil {
                sight.layers.insert(awaited, at: 0)
                sight.awaited = nil
            }
            let stamps = FixtureStamps(of: FixtureStore(layers: sight.layers))
            if stamps == sight.settled {
                sight.pending = nil
            } else if stamps != sight.pending {
                sight.pending = stamps
            } else {
                if takeOver(sight.layers, unlessChangedSince: stamps) { sight.settled = stamps }
                sight.pending = nil
            }
        }
    }

    /// - Returns: whether the files stayed unchanged while they were read, so that the result counts.
    private func takeOver(_ layers: [String], unlessChangedSince stamps: FixtureStamps) -> Bool {
        let fixtures = FixtureStore(layers: layers)
        let loaded = Result { () throws(FixtureProblem) in
            // Without its folder, the layers below would show through as if intended.
            if let gone = fixtures.missingLayer {
                throw FixtureProblem(file: gone, message: "the folder of fixtures is gone")
            }
            return try LoadedVendors(of: emulator.loaders, fixtures: fixtures)
        }
        guard FixtureStamps(of: FixtureStore(layers: layers)) == stamps else { return false }
        switch loaded {
        case .success(let loaded) where loaded.fingerprint == emulator.inForce.loaded.fingerprint:
            // The files were touched, or repaired by reverting a change.
            emulator.reloads.change { $0.problem = nil }
        case .success(let loaded): emulator.install(loaded)
        case .failure(let problem): emulator.refuse(problem)
        }
        return true
    }
}
