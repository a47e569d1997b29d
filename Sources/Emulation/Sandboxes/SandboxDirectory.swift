import Dispatch
import Synchronization

/// The sandboxes of a server; each is created when it is first named.
public final class SandboxDirectory: Sendable {
    private let inForce: VendorsInForce
    private let settings: Settings
    private let limits: SandboxLimits
    /// The maximum number besides the standard one.
    package var capacity: Int { limits.capacity }
    private let journalLimits: Journal.Limits
    private let machine: @Sendable () -> Moment
    private let journals = JournalTotal()
    private let timer = DeadlineTimer()
    private let census = SandboxCensus()
    private let sandboxes = Mutex<[String: Sandbox]>([:])
    private let isSweeping = Atomic(false)
    private let start: String
    /// The address under which clients reach the server.
    package let publicBase: PublicBase
    /// The sandbox of requests that name none; it is never dropped.
    public let standard: Sandbox

    /// The interval of the search for expired sandboxes; one that is named is checked at once.
    private static let sweepInterval = DispatchTimeInterval.seconds(10)

    /// Creates a directory whose sandboxes start with these settings.
    ///
    /// - Parameter machine: the machine's clock, which determines expiry.
    package init(
        inForce: VendorsInForce, settings: Settings, limits: SandboxLimits = SandboxLimits(),
        journalLimits: Journal.Limits = Journal.Limits(), publicBase: PublicBase = PublicBase(),
        machine: @escaping @Sendable () -> Moment = { SandboxClock.machine }
    ) {
        self.inForce = inForce
        self.settings = settings
        self.limits = limits
        self.journalLimits = journalLimits
        self.machine = machine
        self.publicBase = publicBase
        start = SandboxIdentity.drawStart(seed: settings.seed)
        let journal = Journal(limits: journalLimits, total: journals)
        standard = Sandbox(
            SandboxIdentity(
                name: SandboxName.standard, start: start, isSeeded: settings.seed != nil, publicBase: publicBase),
            inForce: inForce, settings: settings, journal: journal, timeToLive: nil, timer: timer, census: census,
            machine: machine)
        if limits.timeToLive != nil { startSweeping() }
    }

    /// The sandbox of that name, created if there is none or it has expired.
    ///
    /// At capacity, the least recently used sandboxes make room.
    public func sandbox(_ name: String) -> Sandbox {
        if name == SandboxName.standard { return standard }
        if let sandbox = existing(name) { return sandbox }
        // Created outside the lock: a sandbox copies the initial state of every vendor.
        let fresh = Sandbox(
            SandboxIdentity(name: name, start: start, isSeeded: settings.seed != nil, publicBase: publicBase),
            inForce: inForce,
            settings: settings,
            journal: Journal(limits: journalLimits, total: journals), timeToLive: limits.timeToLive,
            timer: timer, census: census, machine: machine)
        let (sandbox, dropped) = sandboxes.withLock { sandboxes in
            let old = sandboxes[name]
            // Another call was faster; the timers of the one made here must not stay.
            if let old, !old.isExpired(at: machine()) { return (old, [fresh]) }
            let dropped = sandboxes.count >= limits.capacity ? Self.dropOldest(&sandboxes) : []
            sandboxes[name] = fresh
            return (fresh, old.map { dropped + [$0] } ?? dropped)
        }
        for sandbox in dropped { sandbox.end() }
        return sandbox
    }

    /// The sandbox of that name, if it exists and has not expired.
    package func existing(_ name: String) -> Sandbox? {
        if name == SandboxName.standard { return standard }
        guard let sandbox = sandboxes.withLock({ $0[name] }), !sandbox.isExpired(at: machine()) else { return nil }
        return sandbox
    }

    /// All sandboxes, by name.
    package var all: [Sandbox] {
        sweep()
        return [standard] + sandboxes.withLock { Array($0.values) }.sorted { $0.name < $1.name }
    }

    /// How many sandboxes there are.
    package var count: Int { 1 + sandboxes.withLock { $0.count } }

    /// How many sandboxes are in memory: ``count``, and removed ones still in use.
    package var countInMemory: Int { census.count }

    /// The estimated bytes that all journals keep together.
    package var journalBytes: Int { journals.bytes }

    /// How many entries all journals have together.
    package var journalEntries: Int {
        let others = sandboxes.withLock { Array($0.values) }
        return others.reduce(standard.journal.count) { $0 + $1.journal.count }
    }

    /// Removes a sandbox with all its contents; the standard one is reset instead.
    ///
    /// - Returns: whether a sandbox of that name existed.
    package func remove(_ name: String) -> Bool {
        if name == SandboxName.standard {
            standard.reset()
            return true
        }
        guard let removed = sandboxes.withLock({ $0.removeValue(forKey: name) }) else { return false }
        // Checked first: an open socket keeps it from having expired.
        let wasThere = !removed.isExpired(at: machine())
        removed.end()
        return wasThere
    }

    /// Drops a hundredth of the sandboxes at once, so that a full directory does not search for every new one.
    private static func dropOldest(_ sandboxes: inout [String: Sandbox]) -> [Sandbox] {
        let oldest = sandboxes.values.map { (name: $0.name, lastUsed: $0.lastUsed) }
            .sorted { $0.lastUsed < $1.lastUsed }.prefix(max(1, sandboxes.count / 100))
        return oldest.compactMap { sandboxes.removeValue(forKey: $0.name) }
    }
}

// MARK: - Time to live

extension SandboxDirectory {
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

    /// Drops the expired sandboxes.
    ///
    /// They can no longer be named; this frees their memory.
    func sweep() {
        let moment = machine()
        // Dropped sandboxes are destroyed after unlocking.
        let expired = sandboxes.withLock { sandboxes in
            let expired = sandboxes.values.filter { $0.isExpired(at: moment) }
            for sandbox in expired { sandboxes[sandbox.name] = nil }
            return expired
        }
        for sandbox in expired { sandbox.end() }
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
