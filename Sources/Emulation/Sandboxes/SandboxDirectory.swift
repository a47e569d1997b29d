import Synchronization

/// The sandboxes of a server; each comes into being when it is first named.
public final class SandboxDirectory: Sendable {
    /// How many sandboxes there may be unless told otherwise.
    public static let standardCapacity = 20_000

    private let vendors: [any MountedVendor]
    private let settings: Settings
    private let capacity: Int
    private let journalLimits: Journal.Limits
    private let journalTotal = Journal.Total()
    private let sandboxes = Mutex<[String: Sandbox]>([:])
    /// The sandbox of requests that name none; it is never dropped.
    public let standard: Sandbox

    /// A directory whose sandboxes start with these settings.
    ///
    /// - Parameter capacity: how many sandboxes there may be besides the standard one.
    public init(
        vendors: [any MountedVendor], settings: Settings, capacity: Int = standardCapacity,
        journalLimits: Journal.Limits = Journal.Limits()
    ) {
        self.vendors = vendors
        self.settings = settings
        self.capacity = max(1, capacity)
        self.journalLimits = journalLimits
        let journal = Journal(limits: journalLimits, total: journalTotal)
        standard = Sandbox(name: SandboxName.standard, vendors: vendors, settings: settings, journal: journal)
    }

    /// The sandbox of that name, made if there is none.
    ///
    /// At the cap, the sandboxes that were longest unused make room.
    public func sandbox(_ name: String) -> Sandbox {
        if name == SandboxName.standard { return standard }
        if let sandbox = existing(name) { return sandbox }
        // Made outside the lock: a sandbox copies the initial state of every vendor.
        let fresh = Sandbox(
            name: name, vendors: vendors, settings: settings,
            journal: Journal(limits: journalLimits, total: journalTotal))
        return sandboxes.withLock { sandboxes in
            if let sandbox = sandboxes[name] { return sandbox }
            if sandboxes.count >= capacity { Self.dropOldest(&sandboxes) }
            sandboxes[name] = fresh
            return fresh
        }
    }

    /// The sandbox of that name, if it exists.
    public func existing(_ name: String) -> Sandbox? {
        name == SandboxName.standard ? standard : sandboxes.withLock { $0[name] }
    }

    /// All sandboxes, by name.
    public var all: [Sandbox] {
        [standard] + sandboxes.withLock { Array($0.values) }.sorted { $0.name < $1.name }
    }

    /// How many sandboxes there are.
    public var count: Int { 1 + sandboxes.withLock { $0.count } }

    /// The bytes that all journals keep together, estimated.
    public var journalBytes: Int { journalTotal.bytes.load(ordering: .relaxed) }

    /// How many entries all journals have together.
    public var journalEntries: Int {
        let others = sandboxes.withLock { Array($0.values) }
        return others.reduce(standard.journal.count) { $0 + $1.journal.count }
    }

    /// Forgets a sandbox with all it holds; the standard one is reset instead.
    ///
    /// - Returns: whether there was one of that name.
    public func remove(_ name: String) -> Bool {
        if name == SandboxName.standard {
            standard.reset()
            return true
        }
        return sandboxes.withLock { $0.removeValue(forKey: name) } != nil
    }

    /// Looks after the bound of all journals together; called once an entry was added.
    public func boundJournals() {
        guard journalTotal.bytes.load(ordering: .relaxed) > journalLimits.totalBytes else { return }
        let sandboxes = [standard] + sandboxes.withLock { Array($0.values) }
        // Each clock is read once: a comparison that took two locks would cost more than all the rest.
        let byAge = sandboxes.map { (sandbox: $0, lastUsed: $0.lastUsed) }.sorted { $0.lastUsed < $1.lastUsed }
        for (sandbox, _) in byAge {
            // Down to three quarters, so that the next entries do not search again.
            if journalTotal.bytes.load(ordering: .relaxed) <= journalLimits.totalBytes / 4 * 3 { return }
            sandbox.journal.shed()
        }
    }

    /// Drops a hundredth of the sandboxes at once, so that a full directory does not search for every newcomer.
    private static func dropOldest(_ sandboxes: inout [String: Sandbox]) {
        let oldest = sandboxes.values.map { (name: $0.name, lastUsed: $0.lastUsed) }
            .sorted { $0.lastUsed < $1.lastUsed }.prefix(max(1, sandboxes.count / 100))
        for sandbox in oldest { sandboxes[sandbox.name] = nil }
    }
}
