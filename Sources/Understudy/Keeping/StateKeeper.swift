import Dispatch
package import Emulation
package import JSON
import Logging
import Synchronization

/// Keeps what requests change in sandboxes in a store: a fraction of a second after a change, and at the end.
///
/// A sandbox is read when it is first named. Writing happens on a separate thread and holds a sandbox's locks only
/// while it collects what has changed. What cannot be written stays in memory and is retried every second, and `health`
/// says why.
package final class StateKeeper: SandboxKeeper {
    final class Place: Sendable {
        struct Content {
            let claim: StoreClaim
            /// Whether another server had the sandbox until it was opened here.
            let wasHeld: Bool
            var ledger: StateLedger
            var unwritten = StateRows()
            var setAside: [JSON] = []
            /// What the store has; `nil` until something was written.
            var times: StoreTimes?
            weak var sandbox: Sandbox?
        }

        let content: Mutex<Content>
        /// Held by whoever reads, writes or removes the rows.
        let turn = DispatchSemaphore(value: 1)

        init(_ content: Content) { self.content = Mutex(content) }
    }

    struct State {
        var places: [String: Place] = [:]
        /// Opened sandboxes that may differ from their rows.
        var pending: [Sandbox] = []
        /// Removed sandboxes whose rows could not be deleted yet, by name.
        var removed: [String: StoreClaim] = [:]
        var isScheduled = false
        /// Why the last writing failed; `nil` when all was written.
        var problem: StoreProblem?
        /// Why others may count this server as gone; `nil` when they do not.
        var lapse: StoreProblem?
    }

    struct Counts {
        var read = 0
        var written = 0
        var bytes = 0
        /// Changes that could not be written, each attempt counted.
        var failed = 0
        /// Sandboxes taken from another server, or from one that was gone.
        var takenOver = 0
        /// Sandboxes given to another server that wished for them.
        var handedOver = 0
        /// How often others could have counted this server as gone.
        var lapses = 0
    }

    struct Audience: Sendable {
        let setAside: SetAsideParts
        let reloads: Reloads
        let secrets: @Sendable () -> Set<String>
        let logger: Logger?
        /// It holds the keeper: whoever lets go of an emulator lets go of its store.
        weak var directory: SandboxDirectory?
    }

    let store: any StateStore
    let machine: @Sendable () -> Moment
    let queue = DispatchQueue(label: "understudy.state-keeper")
    let state = Mutex(State())
    let audience = Mutex<Audience?>(nil)
    let counts = Mutex(Counts())
    /// Held by whoever writes several sandboxes, so that two of them never wait for each other's.
    let writing = Mutex(())
    /// Held from taking what is pending until it is written: whoever finishes waits for what another has taken.
    private let passes = Mutex(())
    /// Counts how often this server could have lost sandboxes that it did not give up.
    let lapses = Atomic(0)
    /// Whether all sandboxes go to other servers.
    let isLeaving = Atomic(false)

    /// Keeps sandboxes in that store.
    ///
    /// - Parameter machine: the machine's clock.
    package init(_ store: any StateStore, machine: @escaping @Sendable () -> Moment = { SandboxClock.machine }) {
        (self.store, self.machine) = (store, machine)
    }

    package var start: String { store.start }

    /// Whether the sandbox is certainly this server's.
    package func mayAnswer(in sandbox: Sandbox) -> Bool { store.isAlive && !sandbox.isLost }

    var total: Counts { counts.withLock(\.self) }

    /// From now on, keeps the sandboxes of that audience, and reports what could not be read or written.
    func serve(_ audience: Audience) {
        self.audience.withLock { $0 = audience }
        tellHealth()
        audience.reloads.change { $0.replica = store.replica }
        store.join(self)
        queue.asyncAfter(deadline: .now() + Self.tidyInterval) { [weak self] in self?.tidy() }
    }

    func place(of sandbox: Sandbox) -> Place? {
        guard let place = state.withLock({ $0.places[sandbox.name] }),
            place.content.withLock({ $0.sandbox === sandbox })
        else { return nil }
        return place
    }

    // MARK: - Writing

    private static let pause = DispatchTimeInterval.seconds(1)

    package func changed(_ sandbox: Sandbox) {
        state.withLock { $0.pending.append(sandbox) }
        schedule(after: store.delay)
    }

    /// Schedules the writing of what is pending, unless it is due anyway.
    private func schedule(after delay: DispatchTimeInterval) {
        let isFirst = state.withLock { state in
            defer { state.isScheduled = true }
            return !state.isScheduled
        }
        guard isFirst else { return }
        queue.asyncAfter(deadline: .now() + delay) { [weak self] in
            guard let self else { return }
            let isAllSaved = savePending()
            let hasMore = state.withLock { state in
                state.isScheduled = false
                return !state.pending.isEmpty || !state.removed.isEmpty
            }
            if hasMore { schedule(after: isAllSaved ? store.delay : Self.pause) }
        }
    }

    /// Writes what is pending, and deletes what was removed.
    ///
    /// - Returns: whether all of it succeeded.
    private func savePending() -> Bool {
        passes.withLock { _ in
            let (pending, removed) = state.withLock { state in
                defer { state.pending = [] }
                return (state.pending, state.removed)
            }
            for name in removed.keys { deleteRemoved(name) }
            var known: Set<ObjectIdentifier> = []
            let saved = Set(
                save(pending.filter { known.insert(ObjectIdentifier($0)).inserted }).map(ObjectIdentifier.init))
            let isAllSaved = state.withLock { state in
                state.pending += pending.filter { !saved.contains(ObjectIdentifier($0)) }
                return saved.count == known.count && state.removed.isEmpty
            }
            if isAllSaved { settle(nil) }
            return isAllSaved
        }
    }

    /// Writes all that is not written yet.
    ///
    /// - Returns: why something could not be written; `nil` when all is.
    package func finish() -> String? {
        if !savePending() { schedule(after: Self.pause) }
        return state.withLock { $0.problem }?.description
    }

    /// What requests added or changed in all stored sandboxes, including secrets.
    package func exportState() throws(StoreProblem) -> JSON {
        if let problem = finish() { throw StoreProblem(problem) }
        return try Emulator.exportState(of: store, at: machine())
    }

    package func save(_ sandboxes: [Sandbox]) -> [Sandbox] {
        writing.withLock { _ in
            var (changes, saved): ([(Sandbox, Place, StoreChange)], [Sandbox]) = ([], [])
            for sandbox in sandboxes {
                let place = place(of: sandbox)
                place?.turn.wait()
                if let place, let change = change(of: sandbox, at: place) {
                    changes.append((sandbox, place, change))
                } else {
                    // Removed meanwhile, or identical to what the store has.
                    place?.turn.signal()
                    saved.append(sandbox)
                }
            }
            return changes.isEmpty ? saved : saved + write(changes)
        }
    }

    /// What is to be written of a sandbox; `nil` for nothing.
    private func change(of sandbox: Sandbox, at place: Place) -> StoreChange? {
        place.content.withLock { content in
            if sandbox.takeChanges() {
                content.unwritten.append(sandbox.takeRows(&content.ledger, setAside: content.setAside))
            }
            guard !content.unwritten.isEmpty else { return nil }
            let times = Self.times(of: sandbox)
            return StoreChange(
                claim: content.claim, rows: content.unwritten, times: times.isNear(content.times) ? nil : times)
        }
    }

    private static func times(of sandbox: Sandbox) -> StoreTimes {
        let used = sandbox.lastUsed
        return StoreTimes(created: sandbox.created, used: used, expires: sandbox.timeToLive.map { used + $0 })
    }

    private func write(_ changes: [(sandbox: Sandbox, place: Place, change: StoreChange)]) -> [Sandbox] {
        defer { for (_, place, _) in changes { place.turn.signal() } }
        let lost: Set<String>
        do {
            lost = try store.write(changes.map(\.change))
        } catch {
            for (sandbox, _, _) in changes { sandbox.returnChanges() }
            counts.withLock { $0.failed += changes.count }
            settle(error)
            return []
        }
        let bytes = changes.reduce(0) { $1.change.rows.written.reduce($0) { $0 + $1.document.count } }
        counts.withLock { counts in
            counts.written += changes.count
            counts.bytes += bytes
        }
        for (sandbox, place, change) in changes {
            place.content.withLock { content in
                content.unwritten = StateRows()
                content.times = change.times ?? content.times
            }
            if lost.contains(sandbox.name) { abandon(sandbox) }
        }
        return changes.map(\.sandbox)
    }

    // MARK: - Ending

    /// Writes what has changed in these sandboxes, and releases them.
    package func close(_ sandboxes: [Sandbox]) -> [Sandbox] {
        let saved = save(sandboxes)
        // Even of an unchanged sandbox, the time of its last use has changed.
        used(saved.filter { $0.timeToLive != nil })
        let claims = saved.compactMap { place(of: $0)?.content.withLock(\.claim) }
        do {
            try store.release(claims)
        } catch {
            settle(error)
            return []
        }
        state.withLock { state in for claim in claims { state.places[claim.sandbox] = nil } }
        return saved
    }

    /// Writes when these sandboxes may be forgotten.
    package func used(_ sandboxes: [Sandbox]) {
        let changes = sandboxes.compactMap { sandbox in
            place(of: sandbox)?.content.withLock { content -> StoreChange? in
                let times = Self.times(of: sandbox)
                guard !content.ledger.isEmpty, content.times != times else { return nil }
                content.times = times
                return StoreChange(claim: content.claim, rows: StateRows(), times: times)
            }
        }
        // Tried again in a few seconds.
        if !changes.isEmpty { _ = try? store.write(changes) }
    }

    private static let tidyInterval = DispatchTimeInterval.seconds(10)

    /// Deletes what has expired in the store, every few seconds for as long as the keeper lives.
    func tidy() {
        // Tried again next time.
        try? store.deleteExpired(at: machine(), sparing: Set(state.withLock { $0.places.keys }))
        queue.asyncAfter(deadline: .now() + Self.tidyInterval) { [weak self] in self?.tidy() }
    }

    /// Deletes a sandbox from the store, or later if that fails now.
    package func forget(_ name: String) -> Bool {
        guard let place = state.withLock({ $0.places.removeValue(forKey: name) }) else { return false }
        place.turn.wait()
        defer { place.turn.signal() }
        let content = place.content.withLock(\.self)
        do {
            return try store.delete(content.claim) || content.wasHeld
        } catch {
            settle(error)
            state.withLock { $0.removed[name] = content.claim }
            schedule(after: Self.pause)
            return true
        }
    }

    /// Deletes a removed sandbox, if its rows could not be deleted before.
    ///
    /// - Returns: why they still cannot; `nil` when there are none.
    @discardableResult
    func deleteRemoved(_ name: String) -> StoreProblem? {
        guard let claim = state.withLock({ $0.removed[name] }) else { return nil }
        do {
            _ = try store.delete(claim)
        } catch {
            settle(error)
            return error
        }
        state.withLock { $0.removed[name] = nil }
        return nil
    }

    /// Gives all sandboxes to the servers that share the store, which closes their sockets with 1001. A server alone
    /// keeps them.
    package func handOverAll() {
        guard store.replica != nil, let directory = audience.withLock({ $0?.directory }) else { return }
        isLeaving.store(true, ordering: .relaxed)
        directory.handOver(directory.all)
    }

    package func leave() { store.leave() }

    /// Why others may count this server as gone; `nil` when they do not.
    var lapse: StoreProblem? {
        if store.isAlive { return nil }
        return state.withLock { $0.lapse } ?? StoreProblem("the server cannot renew its lease")
    }

    // MARK: - Reporting

    /// Reports when writing begins to fail, fails differently, or succeeds again.
    func settle(_ problem: StoreProblem?) {
        let isNews = state.withLock { state in
            defer { state.problem = problem }
            return state.problem != problem
        }
        guard isNews else { return }
        tellHealth()
        let logger = audience.withLock { $0?.logger }
        if let problem {
            logger?.error("\(problem). What is not written stays in memory, and is retried every second.")
        } else {
            logger?.notice("All sandboxes are written to \(store.place) again.")
        }
    }

    func tellHealth() {
        let problem = state.withLock { $0.lapse ?? $0.problem }
        audience.withLock(\.self)?.reloads.change {
            $0.state = ["store": .string(store.place), "problem": JSON(problem?.description)]
        }
    }
}
