import Synchronization

/// What this process knows of the other replicas' sessions. It looks at one only when it wants something of it.
final class ReplicaWatch: Sendable {
    /// How long a lease may stand still until its session counts as gone: its length, and room for clocks of different
    /// speed.
    static let patience = Duration.milliseconds(1300)

    private struct Sighting {
        let text: Lease.Text?
        /// When it had been seen first, in nanoseconds of ``SteadyTime``.
        let since: Int64
    }

    private struct State {
        var sightings: [String: Sighting] = [:]
        var gone: Set<String> = []
    }

    private let folder: ReplicaFolder
    private let state = Mutex(State())

    init(_ folder: ReplicaFolder) { self.folder = folder }

    /// Whether a session is over for good: it or its process has ended, or its lease has stood still for too long.
    func isGone(_ session: String) -> Bool {
        if state.withLock({ $0.gone.contains(session) }) { return true }
        let begun = SteadyTime.nanoseconds
        let isGone: Bool
        do throws(Files.Failure) {
            let found = try folder.read(session)
            isGone = found.map { $0.isAbandoned || hasStood(session, at: $0.text, since: begun) } ?? true
        } catch {
            // A folder that cannot be read says nothing of anybody.
            return false
        }
        if isGone { bury(session) }
        return isGone
    }

    /// Notes what a lease said when reading it began, and tells whether it has said so for too long.
    private func hasStood(_ session: String, at text: Lease.Text?, since begun: Int64) -> Bool {
        state.withLock { state in
            if let last = state.sightings[session], last.text == text {
                return begun - last.since > Self.patience.nanoseconds
            }
            // Counted from the end of reading it, since the beat may be as young as that.
            state.sightings[session] = Sighting(text: text, since: SteadyTime.nanoseconds)
            return false
        }
    }

    private func bury(_ session: String) {
        state.withLock { state in
            state.gone.insert(session)
            state.sightings[session] = nil
        }
        // For the others, who then need not wait.
        folder.remove(session)
    }
}
