import Synchronization

/// The total bytes of a server's journals; decides which journal shrinks when they exceed the limit.
final class JournalTotal: Sendable {
    private let count = Atomic(0)
    private let order = Mutex(JournalEviction())
    /// The place of the most recently used journal: repeated use of one journal takes no lock. Changed under the lock
    /// of the order, which contains that journal.
    private let latest = Atomic(JournalEviction.nobody)

    /// The estimated bytes.
    var bytes: Int { count.load(ordering: .relaxed) }

    func add(_ bytes: Int) { count.add(bytes, ordering: .relaxed) }

    func makePlace() -> Int { order.withLock { $0.makePlace() } }

    func settle(_ journal: Journal, at place: Int) { order.withLock { $0.settle(journal, at: place) } }

    /// Releases the place of a journal that is being destroyed, and subtracts its bytes.
    func leave(_ place: Int, with bytes: Int) {
        add(-bytes)
        order.withLock { order in
            order.leave(place)
            if latest.load(ordering: .relaxed) == place { latest.store(JournalEviction.nobody, ordering: .relaxed) }
        }
    }

    /// Notes that the journal at that place has a new entry.
    func use(_ place: Int) {
        // Not relaxed: a journal that finds itself the latest must be seen as non-empty by any thread that would unlink
        // it.
        guard latest.load(ordering: .sequentiallyConsistent) != place else { return }
        order.withLock { order in
            order.use(place)
            latest.store(place, ordering: .sequentiallyConsistent)
        }
    }

    /// Shrinks the least recently used journals until all together keep at most that many bytes.
    func bound(to limit: Int) {
        while bytes > limit, let (place, journal) = order.withLock({ $0.longestUnused }) {
            journal.shed()
            let goesOn = order.withLock { leaveOut(journal, at: place, &$0) }
            // Released after unlocking: a journal's deinit takes the lock.
            withExtendedLifetime(journal) {}
            guard goesOn else { return }
        }
    }

    /// Takes an empty journal out of the order; `false` when there is no other.
    private func leaveOut(_ journal: Journal, at place: Int, _ order: inout JournalEviction) -> Bool {
        guard journal.count == 0 else { return true }
        // The latest one always stays in the order, so that its next use need not insert it.
        guard latest.load(ordering: .sequentiallyConsistent) != place else { return false }
        order.unlink(place)
        return true
    }
}

/// Journals in least-recently-used order; every step takes constant time.
struct JournalEviction {
    /// A journal and its neighbours in a ring. A lone journal is its own neighbour.
    private struct Node {
        weak var journal: Journal?
        var older: Int
        var newer: Int
    }

    /// The sentinel at which the ring begins and ends.
    static let nobody = 0

    private var nodes = [Node(journal: nil, older: nobody, newer: nobody)]
    private var vacant: [Int] = []

    /// The least recently used journal among those that keep something.
    var longestUnused: (place: Int, journal: Journal)? {
        let place = nodes[Self.nobody].newer
        return nodes[place].journal.map { (place, $0) }
    }

    /// Creates a place that stays outside the ring until it is used.
    mutating func makePlace() -> Int {
        if let place = vacant.popLast() { return place }
        nodes.append(Node(journal: nil, older: nodes.count, newer: nodes.count))
        return nodes.count - 1
    }

    mutating func settle(_ journal: Journal, at place: Int) { nodes[place].journal = journal }

    mutating func leave(_ place: Int) {
        unlink(place)
        nodes[place].journal = nil
        vacant.append(place)
    }

    /// Makes the journal at that place the most recently used.
    mutating func use(_ place: Int) {
        unlink(place)
        let newest = nodes[Self.nobody].older
        (nodes[place].older, nodes[place].newer) = (newest, Self.nobody)
        nodes[newest].newer = place
        nodes[Self.nobody].older = place
    }

    /// Takes the journal at that place out of the ring until it is used again.
    mutating func unlink(_ place: Int) {
        let (older, newer) = (nodes[place].older, nodes[place].newer)
        nodes[older].newer = newer
        nodes[newer].older = older
        (nodes[place].older, nodes[place].newer) = (place, place)
    }
}
