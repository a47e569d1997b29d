import Synchronization

/// The bytes that all journals of a server keep together, and which of them gives way when they are too many.
final class JournalTotal: Sendable {
    private let count = Atomic(0)
    private let order = Mutex(JournalEviction())
    /// The place of the journal that was used last: while one journal is used again and again, no lock is taken. Changed
    /// under the lock of the order, in which that journal is.
    private let latest = Atomic(JournalEviction.nobody)

    /// Nothing yet.
    init() {}

    /// The bytes, estimated.
    var bytes: Int { count.load(ordering: .relaxed) }

    /// Counts bytes more, or fewer.
    func add(_ bytes: Int) { count.add(bytes, ordering: .relaxed) }

    /// A place for a journal that is yet to be made.
    func makePlace() -> Int { order.withLock { $0.makePlace() } }

    /// Gives a place to its journal.
    func settle(_ journal: Journal, at place: Int) { order.withLock { $0.settle(journal, at: place) } }

    /// Takes the place of a journal back that goes away, with what it kept.
    func leave(_ place: Int, with bytes: Int) {
        add(-bytes)
        order.withLock { order in
            order.leave(place)
            if latest.load(ordering: .relaxed) == place { latest.store(JournalEviction.nobody, ordering: .relaxed) }
        }
    }

    /// Notes that the journal at that place keeps something new.
    func use(_ place: Int) {
        // Not relaxed: who finds itself the latest here must have been seen to keep something by whoever would unlink it.
        guard latest.load(ordering: .sequentiallyConsistent) != place else { return }
        order.withLock { order in
            order.use(place)
            latest.store(place, ordering: .sequentiallyConsistent)
        }
    }

    /// Has journals drop entries until all together keep no more than that many bytes, the longest unused first.
    func bound(to limit: Int) {
        while bytes > limit, let (place, journal) = order.withLock({ $0.longestUnused }) {
            journal.shed()
            let goesOn = order.withLock { leaveOut(journal, at: place, &$0) }
            // Not to be released under the lock, which a journal that goes away takes.
            withExtendedLifetime(journal) {}
            guard goesOn else { return }
        }
    }

    /// Leaves a journal out of the order that keeps nothing any more; false when there is no other.
    private func leaveOut(_ journal: Journal, at place: Int, _ order: inout JournalEviction) -> Bool {
        guard journal.count == 0 else { return true }
        // The latest one is always in the order, so that its next use need not put it there.
        guard latest.load(ordering: .sequentiallyConsistent) != place else { return false }
        order.unlink(place)
        return true
    }
}
