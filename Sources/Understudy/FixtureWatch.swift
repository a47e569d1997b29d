public import Emulation
import Synchronization

/// Looks again and again whether a fixture file has changed, and has the emulator take over what did.
///
/// It looks instead of being told: the notices of an operating system do not come through the mounts of containers.
public final class FixtureWatch: Sendable {
    private struct Sight {
        var layers: [String]
        /// A folder that may come to lie over the others; once it was there, its absence is a mistake.
        var awaited: String?
        /// What was taken over, or found wrong.
        var settled: FixtureStamps
        /// What was seen last, if it is something else: it may still be in the middle of being written.
        var pending: FixtureStamps?
    }

    private let emulator: Emulator
    private let sight: Mutex<Sight>

    /// A watch over the files that the emulator was made from.
    ///
    /// - Parameter awaited: a folder that lies over them as soon as it is there.
    public init(_ emulator: Emulator, over fixtures: FixtureStore, awaiting awaited: String? = nil) {
        self.emulator = emulator
        let stamps = fixtures.stamps(of: emulator.folders)
        // What changed since the start read it must not count as seen.
        // Where they cannot be read any more, the first look says why.
        let isUpToDate = (try? fixtures.fingerprint(of: emulator.folders)) == emulator.fixtureFingerprint
        sight = Mutex(
            Sight(layers: fixtures.layers, awaited: awaited, settled: isUpToDate ? stamps : FixtureStamps()))
        emulator.reloads.watch()
    }

    /// Looks once.
    ///
    /// A change is taken over when a second look finds the files as the first one did, so that a file which somebody is
    /// writing is not taken for a broken one.
    public func look() {
        // Held for the whole look: there is one who looks.
        sight.withLock { sight in
            if let awaited = sight.awaited, FixtureStore(layers: [awaited]).missingLayer == nil {
                sight.layers.insert(awaited, at: 0)
                sight.awaited = nil
            }
            let stamps = FixtureStore(layers: sight.layers).stamps(of: emulator.folders)
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

    /// - Returns: whether the files stayed as they were while they were read, so that the outcome counts.
    private func takeOver(_ layers: [String], unlessChangedSince stamps: FixtureStamps) -> Bool {
        let fixtures = FixtureStore(layers: layers)
        let loaded = Result { () throws(FixtureProblem) in
            // A folder that is gone would let what lies below show through, as if that were wanted.
            if let gone = fixtures.missingLayer {
                throw FixtureProblem(file: gone, message: "the folder of fixtures is gone")
            }
            return try LoadedVendors(of: emulator.loaders, fixtures: fixtures)
        }
        guard fixtures.stamps(of: emulator.folders) == stamps else { return false }
        switch loaded {
        case .success(let loaded) where loaded.fingerprint == emulator.fixtureFingerprint:
            // Touched, or repaired by taking a change back.
            emulator.reloads.clearProblem()
        case .success(let loaded): emulator.install(loaded)
        case .failure(let problem): emulator.refuse(problem)
        }
        return true
    }
}
