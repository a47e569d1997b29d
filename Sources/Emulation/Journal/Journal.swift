import Synchronization

/// What happened in a sandbox: the newest entries, within limits of count and memory.
public final class Journal: Sendable {
    package struct Limits: Sendable {
        package var entries = 1000
        package var bytes = 4 << 20
        /// Bytes of all sandboxes together.
        package var totalBytes = 64 << 20

        package init() {}
    }

    private struct State {
        /// Oldest first, behind gaps where some were dropped.
        var entries: [JournalEntry?] = []
        var first = 0
        var count: Int { entries.count - first }
        var refusals = 0
        var bytes = 0
        var lastID = 0
        /// Counts the events to wait for: new entries, and additions to old ones.
        var changes = 0
        var waiters: [Int: CheckedContinuation<Void, Never>] = [:]
        var lastWaiter = 0
        var isOver = false
        var isClosed = false
        var coverage = Coverage()
    }

    /// ours: numbers are reserved in such steps, so that calls that change nothing else need no writing, and no number
    /// is issued twice after a crash.
    private static let reserve = 1000

    private let limits: Limits
    private let total: JournalTotal
    private let passedReserve = Mutex<(@Sendable () -> Void)?>(nil)
    private let place: Int
    private let state = Mutex(State())

    init(limits: Limits, total: JournalTotal) {
        (self.limits, self.total, place) = (limits, total, total.makePlace())
        total.settle(self, at: place)
    }

    deinit { total.leave(place, with: bytes) }

    /// Adds an entry and drops the oldest ones that no longer fit, here and in the least recently used journals.
    ///
    /// - Parameter marks: the bits of its route and its failure in the ``coverage``; negative for none.
    /// - Returns: the entry's number; `nil` if its sandbox has moved meanwhile, and the entry is not kept.
    @discardableResult
    package func append(_ entry: JournalEntry, meeting marks: (route: Int, failure: Int) = (-1, -1)) -> Int? {
        var entry = entry
        if entry.size > limits.bytes / 4 { entry.omitBodies() }
        // Dropped entries are destroyed after unlocking: each holds a hundred small objects.
        let added = state.withLock { state -> (id: Int, waiters: [CheckedContinuation<Void, Never>], JournalEntry?)? in
            // Its number may be another entry's by now.
            if state.isClosed { return nil }
            state.lastID += 1
            entry.id = state.lastID
            state.coverage.note(marks.route)
            state.coverage.note(marks.failure)
            let dropped = push(entry, &state)
            return (state.lastID, Self.change(&state), dropped)
        }
        guard let (id, waiters, dropped) = added else { return nil }
        entry.record.cause?.stands(at: id)
        if (id - 1).isMultiple(of: Self.reserve) { passedReserve.withLock(\.self)?() }
        withExtendedLifetime(dropped) { for waiter in waiters { waiter.resume() } }
        total.use(place)
        total.bound(to: limits.totalBytes)
        return id
    }

    /// From now on, calls this after the first entry of each thousand.
    func noteReserve(_ note: @escaping @Sendable () -> Void) { passedReserve.withLock { $0 = note } }

    /// Wakes the waiters to look again, since something was added to an entry.
    func noteChange(isOver: Bool = false) {
        let waiters = state.withLock { state in
            if isOver { state.isOver = true }
            return Self.change(&state)
        }
        for waiter in waiters { waiter.resume() }
    }

    /// Releases all waiters, and lets nobody wait any more, since the sandbox can no longer be named.
    func end() { noteChange(isOver: true) }

    /// Resumes after ``end()`` and ``close()``.
    func resume() { state.withLock { ($0.isOver, $0.isClosed) = (false, false) } }

    /// Issues no more numbers, since another server continues with them.
    func close() { state.withLock { $0.isClosed = true } }

    /// Counts a change, and returns the waiters to resume.
    private static func change(_ state: inout State) -> [CheckedContinuation<Void, Never>] {
        state.changes += 1
        if state.waiters.isEmpty { return [] }
        defer { state.waiters = [:] }
        return Array(state.waiters.values)
    }

    /// The entries that a filter admits, oldest first.
    package func entries(_ filter: JournalFilter = JournalFilter()) -> [JournalEntry] {
        state.withLock { $0.entries[$0.first...].compactMap { $0 } }.filter(filter.admits)
    }

    package var last: JournalEntry? { state.withLock { $0.entries.last ?? nil } }

    package func entry(_ id: Int) -> JournalEntry? { entries().first { $0.id == id } }

    /// The number of the newest entry; 0 when there is none.
    package var newest: Int { last?.id ?? 0 }

    /// The number that no entry exceeds before ``noteReserve(_:)`` calls again.
    var reservedNumber: Int { (state.withLock { $0.lastID } / Self.reserve + 1) * Self.reserve }

    func resume(after number: Int) { state.withLock { $0.lastID = max($0.lastID, min(number, Ordinal.largest)) } }

    /// The bytes that the entries keep, estimated.
    package var bytes: Int { state.withLock { $0.bytes } }
    package var waiterCount: Int { state.withLock { $0.waiters.count } }
    package var count: Int { state.withLock { $0.count } }
    package var refusals: Int { state.withLock { $0.refusals } }

    /// What the exchanges so far have met, whether or not they are still kept.
    package var coverage: Coverage { state.withLock { $0.coverage } }
    package func meet(_ mark: Int) { state.withLock { $0.coverage.note(mark) } }

    /// Drops every entry; numbering continues unless it is to restart, and with it the coverage.
    package func clear(restartNumbers: Bool = false) {
        state.withLock { state in
            while state.count > 0 { pop(&state) }
            state.entries = []
            state.first = 0
            if restartNumbers { (state.lastID, state.coverage) = (0, Coverage()) }
        }
    }

    /// Drops the oldest half, to make room for other sandboxes.
    func shed() {
        let dropped = state.withLock { state in (0..<(state.count + 1) / 2).map { _ in pop(&state) } }
        // Destroyed after unlocking, as above.
        withExtendedLifetime(dropped) {}
    }

    /// Adds an entry, and returns the last one it displaced.
    private func push(_ entry: JournalEntry, _ state: inout State) -> JournalEntry? {
        var dropped: JournalEntry?
        while state.count > 0, state.count >= limits.entries || state.bytes + entry.size > limits.bytes {
            dropped = pop(&state)
        }
        state.entries.append(entry)
        if entry.record.failure != nil { state.refusals += 1 }
        state.bytes += entry.size
        total.add(entry.size)
        return dropped
    }

    @discardableResult
    private func pop(_ state: inout State) -> JournalEntry? {
        guard let entry = state.entries[state.first] else { return nil }
        state.entries[state.first] = nil
        state.first += 1
        // At least as many were dropped as are moved.
        if state.first > state.count + 16 {
            state.entries.removeFirst(state.first)
            state.first = 0
        }
        if entry.record.failure != nil { state.refusals -= 1 }
        state.bytes -= entry.size
        total.add(-entry.size)
        return entry
    }

    /// What `read` finds in the journal, as soon as it is enough or the duration has passed.
    ///
    /// It is called immediately, after each new entry, and after each socket message. There is no waiting once the task
    /// is cancelled or the sandbox is gone.
    package func first<Found>(
        within duration: Duration, _ read: () -> Found, where isEnough: (Found) -> Bool
    ) async -> Found {
        let deadline = ContinuousClock.now + duration
        while true {
            let (seen, isOver) = state.withLock { ($0.changes, $0.isOver) }
            let found = read()
            if isEnough(found) || isOver || ContinuousClock.now >= deadline || Task.isCancelled { return found }
            await nextAppend(after: seen, until: deadline)
        }
    }

    private func nextAppend(after seen: Int, until deadline: ContinuousClock.Instant) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.wait(after: seen) }
            // Cancellation ends the sleep early, as intended.
            group.addTask { try? await Task.sleep(until: deadline) }
            await group.next()
            group.cancelAll()
        }
    }

    private func wait(after seen: Int) async {
        let id = state.withLock { state in
            state.lastWaiter += 1
            return state.lastWaiter
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isDue = state.withLock { state in
                    if state.changes != seen || Task.isCancelled { return true }
                    state.waiters[id] = continuation
                    return false
                }
                if isDue { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.waiters.removeValue(forKey: id) }?.resume()
        }
    }
}

/// Which routes and failures the exchanges of a sandbox have met, as one bit for each.
package struct Coverage: Sendable {
    private var words: [UInt64] = []

    package init() {}

    /// Sets a bit; a negative one stands for nothing.
    mutating func note(_ mark: Int) {
        guard mark >= 0 else { return }
        while words.count <= mark >> 6 { words.append(0) }
        words[mark >> 6] |= 1 << UInt64(mark & 63)
    }

    package func holds(_ mark: Int) -> Bool {
        words.indices.contains(mark >> 6) && words[mark >> 6] >> UInt64(mark & 63) & 1 == 1
    }
}

/// The total bytes of a server's journals; decides which journal shrinks when they exceed the limit.
final class JournalTotal: Sendable {
    private let count = Atomic(0)
    private let order = Mutex(JournalEviction())
    /// The place of the most recently used journal: repeated use of one journal takes no lock. Changed under the lock
    /// of the order, which contains that journal.
    private let latest = Atomic(JournalEviction.nobody)

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
