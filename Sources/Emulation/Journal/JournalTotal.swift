import Synchronization

/// The bytes that all journals of a server keep together, and which of them gives way when they are too many.
final class JournalTotal: Sendable {
    private let count = Atomic(0)
    private let order = Mutex(JournalOrder())
    /// The place of the journal that was used last: while one journal is used again and again, no lock is taken.
    private let latest = Atomic(JournalOrder.nobody)

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
        order.withLock { $0.leave(place) }
        forgetLatest(place)
    }

    /// Notes that the journal at that place keeps something new.
    func use(_ place: Int) {
        guard latest.load(ordering: .relaxed) != place else { return }
        order.withLock { $0.use(place) }
        latest.store(place, ordering: .relaxed)
    }

    /// Has journals drop entries until all together keep no more than that many bytes, the longest unused first.
    func bound(to limit: Int) {
        while bytes > limit, let (place, journal) = order.withLock({ $0.longestUnused }) {
            journal.shed()
            guard journal.count == 0 else { continue }
            order.withLock { $0.unlink(place) }
            forgetLatest(place)
        }
    }

    private func forgetLatest(_ place: Int) {
        _ = latest.compareExchange(expected: place, desired: JournalOrder.nobody, ordering: .relaxed)
    }
}
