import Dispatch
import Synchronization

/// The sandboxes of a server; each is created when it is first named.
public final class SandboxDirectory: Sendable {
    private let inForce: VendorsInForce
    private let settings: Settings
    private let limits: SandboxLimits
    package var capacity: Int { limits.capacity }
    private let journalLimits: Journal.Limits
    private let machine: @Sendable () -> Moment
    private let journals = JournalTotal()
    private let timer = DeadlineTimer()
    private let census = SandboxCensus()
    private let sandboxes = Mutex<[String: Sandbox]>([:])
    private let isSweeping = Atomic(false)
    private let start: String
    let keeper: (any SandboxKeeper)?
    /// With a keeper, whoever opens a sandbox holds one of these, chosen by its name, so that it is opened once.
    let opening = (0..<64).map { _ in OpeningLock() }
    private let standardPlace: Mutex<StandardPlace>
    package let publicBase: PublicBase

    final class OpeningLock: Sendable {
        let lock = Mutex(())
    }

    private struct StandardPlace {
        var sandbox: Sandbox
        var isOpen: Bool
        var initialScenarios: [Scenario] = []
    }

    /// The sandbox of requests that name none; it is never dropped.
    public var standard: Sandbox { standardPlace.withLock { $0.sandbox } }

    /// The interval between searches for expired sandboxes; one that a request names is checked at once.
    private static let sweepInterval = DispatchTimeInterval.seconds(10)

    /// Creates a directory whose sandboxes start with these settings.
    ///
    /// - Parameters:
    ///   - keeper: keeps sandboxes beyond their place in memory; `nil` if nothing does.
    ///   - machine: the machine's clock, which determines expiry.
    package init(
        inForce: VendorsInForce, settings: Settings, limits: SandboxLimits = SandboxLimits(),
        journalLimits: Journal.Limits = Journal.Limits(), publicBase: PublicBase = PublicBase(),
        keeper: (any SandboxKeeper)? = nil, machine: @escaping @Sendable () -> Moment = { SandboxClock.machine }
    ) {
        (self.inForce, self.settings, self.limits, self.journalLimits) = (inForce, settings, limits, journalLimits)
        (self.machine, self.publicBase, self.keeper) = (machine, publicBase, keeper)
        let kept = settings.seed == nil ? keeper?.start : nil
        start = kept ?? SandboxIdentity.drawStart(seed: settings.seed)
        standardPlace = Mutex(
            StandardPlace(
                sandbox: Sandbox(
                    SandboxName.standard, start, publicBase, inForce: inForce, settings: settings,
                    journal: Journal(limits: journalLimits, total: journals), timeToLive: nil, timer: timer,
                    census: census, keeper: keeper, machine: machine),
                isOpen: keeper == nil))
        if limits.timeToLive != nil { startSweeping() }
    }

    /// A fresh sandbox, which nobody can name yet.
    private func make(_ name: String) -> Sandbox {
        Sandbox(
            name, start, publicBase, inForce: inForce, settings: settings,
            journal: Journal(limits: journalLimits, total: journals),
            timeToLive: name == SandboxName.standard ? nil : limits.timeToLive, timer: timer, census: census,
            keeper: keeper, machine: machine)
    }

    /// The sandbox of that name for an exchange, unless it must be fetched first, which ``fetch(_:)`` does.
    ///
    /// Without a keeper nothing is fetched: a sandbox is created if there is none.
    package func ready(_ name: String) -> Sandbox? {
        guard let keeper else { return created(name) }
        guard let sandbox = opened(name), !sandbox.isSealed, keeper.mayAnswer(in: sandbox) else { return nil }
        return sandbox
    }

    package var isKept: Bool { keeper != nil }

    /// Whether what a call did in a sandbox that was ready counts.
    package func mayAnswer(in sandbox: Sandbox) -> Bool { keeper?.mayAnswer(in: sandbox) ?? true }

    /// The sandbox of that name: as it was kept, or else newly created.
    ///
    /// It may wait for a disk or for another server; never call it on an event loop.
    ///
    /// - Throws: why nobody may use the sandbox here now.
    package func fetch(_ name: String) throws(SandboxUnavailable) -> Sandbox {
        if let sandbox = ready(name) { return sandbox }
        guard let keeper else { return created(name) }
        defer { makeRoom() }
        return try opening[place(of: name)].lock.withLock { (_) throws(SandboxUnavailable) in
            // Another call may have been faster.
            if let sandbox = ready(name) { return sandbox }
            if let stale = sandboxes.withLock({ $0[name] }) ?? opened(name) {
                // What is in memory may still count: its keeper finds out.
                guard stale.isExpired(at: machine()) else { throw SandboxUnavailable.lapsed }
                stale.seal()
                discard(stale)
                keeper.forget(name)
            }
            let fresh = name == SandboxName.standard ? standard : make(name)
            try keeper.open(fresh)
            if name == SandboxName.standard {
                standardPlace.withLock { $0.isOpen = true }
            } else {
                sandboxes.withLock { $0[name] = fresh }
                if fresh.timeToLive != nil { startSweeping() }
            }
            return fresh
        }
    }

    /// Like ``fetch(_:)``, but retries for a few seconds; for the start, when nobody else is kept waiting.
    package func fetchPatiently(_ name: String) throws(SandboxUnavailable) -> Sandbox {
        let end = DispatchTime.now() + .seconds(5)
        while true {
            do {
                return try fetch(name)
            } catch {
                guard error.news != nil, DispatchTime.now() < end else { throw error }
                SandboxClock.block(microseconds: 20_000)
            }
        }
    }

    /// The sandbox of that name, created if there is none or it has expired.
    ///
    /// At capacity, the least recently used sandboxes make room. With a keeper, ``fetch(_:)`` comes first.
    public func sandbox(_ name: String) -> Sandbox { opened(name) ?? created(name) }

    private func created(_ name: String) -> Sandbox {
        if name == SandboxName.standard { return standard }
        if let sandbox = existing(name) { return sandbox }
        // Created outside the lock: a sandbox copies the initial state of every vendor.
        let fresh = make(name)
        let (sandbox, dropped) = sandboxes.withLock { sandboxes in
            let old = sandboxes[name]
            // Another call was faster; the timers of the one made here must not stay.
            if let old, !old.isExpired(at: machine()) { return (old, [fresh]) }
            let oldest = sandboxes.count >= limits.capacity ? Self.oldest(of: sandboxes) : []
            let dropped = oldest.compactMap { sandboxes.removeValue(forKey: $0.name) }
            sandboxes[name] = fresh
            return (fresh, old.map { dropped + [$0] } ?? dropped)
        }
        for sandbox in dropped { sandbox.end() }
        return sandbox
    }

    /// The sandbox of that name if it is in memory, unexpired, and as the keeper has it.
    private func opened(_ name: String) -> Sandbox? {
        guard name == SandboxName.standard else { return existing(name) }
        return standardPlace.withLock { $0.isOpen ? $0.sandbox : nil }
    }

    /// Takes an opened sandbox from memory, so that it has to be fetched again.
    ///
    /// - Returns: whether it was still in its place.
    @discardableResult
    func discard(_ sandbox: Sandbox) -> Bool {
        if sandbox.name == SandboxName.standard {
            let fresh = make(sandbox.name)
            return standardPlace.withLock { place in
                guard place.sandbox === sandbox else { return false }
                fresh.activateInitially(place.initialScenarios)
                (place.sandbox, place.isOpen) = (fresh, false)
                return true
            }
        }
        return sandboxes.withLock { sandboxes in
            guard sandboxes[sandbox.name] === sandbox else { return false }
            sandboxes[sandbox.name] = nil
            return true
        }
    }

    /// Activates scenarios in the standard sandbox that a reset activates again.
    package func activateInitially(_ scenarios: [Scenario]) {
        standardPlace.withLock { place in
            place.initialScenarios = scenarios
            place.sandbox.activateInitially(scenarios)
        }
    }

    /// Has the keeper take the least recently used sandboxes, if there is no room for another one.
    private func makeRoom() {
        let oldest = sandboxes.withLock { $0.count > limits.capacity ? Self.oldest(of: $0) : [] }
        // What cannot be kept stays: it takes more memory than allowed, but nothing is lost.
        if !oldest.isEmpty { handOver(oldest) }
    }

    package func existing(_ name: String) -> Sandbox? {
        if name == SandboxName.standard { return standard }
        guard let sandbox = sandboxes.withLock({ $0[name] }), !sandbox.isExpired(at: machine()) else { return nil }
        return sandbox
    }

    package var all: [Sandbox] {
        sweep()
        return [standard] + sandboxes.withLock { Array($0.values) }.sorted { $0.name < $1.name }
    }

    package var count: Int { 1 + sandboxes.withLock { $0.count } }

    /// How many sandboxes are in memory: ``count``, and removed ones still in use.
    package var countInMemory: Int { census.count }
    package var journalBytes: Int { journals.bytes }

    package var journalEntries: Int {
        let others = sandboxes.withLock { Array($0.values) }
        return others.reduce(standard.journal.count) { $0 + $1.journal.count }
    }

    /// Removes a sandbox with all its contents; the standard one is reset instead.
    ///
    /// With a keeper it may wait, as ``fetch(_:)`` does: only the owner may remove what is kept.
    ///
    /// - Parameter wasKnown: whether it was in memory before the caller fetched it; `nil` if the caller did not.
    /// - Returns: whether a sandbox of that name existed.
    /// - Throws: why nobody may use the sandbox here now.
    package func remove(_ name: String, wasKnown: Bool? = nil) throws(SandboxUnavailable) -> Bool {
        let wasKnown = wasKnown ?? (existing(name) != nil)
        if name == SandboxName.standard {
            (keeper == nil ? standard : try fetch(name)).reset()
            return true
        }
        guard keeper == nil else { return forget(try fetch(name)) || wasKnown }
        sandboxes.withLock { $0.removeValue(forKey: name) }?.end()
        return wasKnown
    }

    /// A hundredth of the sandboxes at once, so that a full directory does not search for every new one.
    private static func oldest(of sandboxes: [String: Sandbox]) -> [Sandbox] {
        sandboxes.values.map { (sandbox: $0, lastUsed: $0.lastUsed) }
            .sorted { $0.lastUsed < $1.lastUsed }.prefix(max(1, sandboxes.count / 100)).map(\.sandbox)
    }

    // MARK: Time to live

    /// Sets the time to live of the sandbox of that name, created if there is none; `nil` for no expiry.
    ///
    /// The standard sandbox never expires.
    package func setTimeToLive(_ duration: Duration?, of name: String) -> Sandbox {
        let sandbox = sandbox(name)
        guard sandbox !== standard else { return standard }
        sandbox.setTimeToLive(duration)
        if duration != nil { startSweeping() }
        return sandbox
    }

    /// Drops the expired sandboxes. They can no longer be named; this frees their memory.
    func sweep() {
        let moment = machine()
        // Dropped sandboxes are destroyed after unlocking.
        let expired = sandboxes.withLock { sandboxes in
            let expired = sandboxes.values.filter { $0.isExpired(at: moment) }
            if keeper == nil { for sandbox in expired { sandboxes[sandbox.name] = nil } }
            return expired
        }
        for sandbox in expired { if keeper == nil { sandbox.end() } else { _ = forget(sandbox) } }
        keeper?.used(sandboxes.withLock { $0.values.filter { $0.timeToLive != nil } })
    }

    /// Starts sweeping every few seconds for the directory's lifetime; one timer serves all sandboxes.
    private func startSweeping() {
        if !isSweeping.exchange(true, ordering: .relaxed) { scheduleSweep() }
    }

    private func scheduleSweep() {
        DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + Self.sweepInterval) { [weak self] in
            guard let self else { return }
            sweep()
            scheduleSweep()
        }
    }
}
