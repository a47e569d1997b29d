package import Emulation
import Synchronization

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
        emulator.reloads.watch()
    }

    /// Looks for changes once.
    ///
    /// A change is loaded when a second look finds the files unchanged since the first, so that a file that is still
    /// being written is not taken for a broken one.
    package func look() {
        // Held for the whole look: only one runs at a time.
        sight.withLock { sight in
            if let awaited = sight.awaited, FixtureStore(layers: [awaited]).missingLayer == nil {
                sight.layers.insert(awaited, at: 0)
                sight.awaited = nil
            }
            let stamps = FixtureStore(layers: sight.layers).stamps
            if stamps == sight.settled {
                sight.pending = nil
            } else if stamps != sight.pending {
                sight.pending = stamps
            } else if takeOver(sight.layers, unlessChangedSince: stamps) {
                sight.settled = stamps
                sight.pending = nil
            } else {
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
        guard FixtureStore(layers: layers).stamps == stamps else { return false }
        switch loaded {
        case .success(let loaded) where loaded.fingerprint == emulator.fixtureFingerprint:
            // The files were touched, or repaired by reverting a change.
            emulator.reloads.clearProblem()
        case .success(let loaded): emulator.install(loaded)
        case .failure(let problem): emulator.refuse(problem)
        }
        return true
    }
}
