import Synchronization

/// A world of its own inside the process: users, clock, settings, faults, journal.
public final class Sandbox: Sendable {
    private struct Control {
        var clock: SandboxClock
        var settings: Settings
        var faults = FaultBoard()
        var lastUsed: Moment
        var timeToLive: Duration?
        var exchanges = 0
    }

    /// The sandbox's name.
    public let name: String
    /// When the sandbox came into being, by the machine's clock.
    public let created: Moment
    /// What happened here.
    public let journal: Journal
    /// Where ids come from.
    public let identifiers: IdentifierSource

    private let mounting: Mounting
    private let cells: [any StateCell]
    private let initialSettings: Settings
    private let control: Mutex<Control>
    private let machine: @Sendable () -> Moment
    /// Whether there is a time to live: asked for every request, and the lock is not taken for it.
    private let mayExpire: Atomic<Bool>

    init(
        name: String, mounting: Mounting, settings: Settings, journal: Journal, timeToLive: Duration?,
        machine: @escaping @Sendable () -> Moment
    ) {
        self.name = name
        self.journal = journal
        self.machine = machine
        created = machine()
        initialSettings = settings
        identifiers = IdentifierSource(seed: settings.seed)
        self.mounting = mounting
        cells = mounting.edition.vendors.map { $0.makeCell(settings) }
        mayExpire = Atomic(timeToLive != nil)
        control = Mutex(
            Control(
                clock: SandboxClock(seed: settings.seed), settings: settings, lastUsed: created, timeToLive: timeToLive)
        )
    }

    /// The state of the vendor at that index.
    public func cell(_ vendor: Int) -> any StateCell { cells[vendor] }

    /// The moment by the sandbox's clock.
    public var now: Moment { control.withLock { $0.clock.now } }

    /// Marks the sandbox as used and reads its clock, once for the exchange that begins.
    public func beginExchange() -> Moment {
        control.withLock { control in
            control.exchanges += 1
            control.lastUsed = machine()
            return control.clock.isMachineTime ? control.lastUsed : control.clock.now
        }
    }

    /// Marks the sandbox as used by something that is no exchange.
    public func touch() { control.withLock { $0.lastUsed = machine() } }

    /// When the sandbox was last used, by the machine's clock.
    public var lastUsed: Moment { control.withLock { $0.lastUsed } }

    /// How many exchanges the sandbox has seen.
    public var exchanges: Int { control.withLock { $0.exchanges } }

    /// How long the sandbox may lie unused before it goes; `nil` for as long as there is room.
    public var timeToLive: Duration? { control.withLock { $0.timeToLive } }

    func setTimeToLive(_ duration: Duration?) {
        control.withLock { $0.timeToLive = duration }
        mayExpire.store(duration != nil, ordering: .relaxed)
    }

    /// Whether the sandbox has lain unused for longer than it may.
    func isExpired(at moment: @autoclosure () -> Moment) -> Bool {
        guard mayExpire.load(ordering: .relaxed) else { return false }
        let moment = moment()
        return control.withLock { control in
            control.timeToLive.map { control.lastUsed + $0 <= moment } ?? false
        }
    }

    /// The clock.
    public var clock: SandboxClock { control.withLock { $0.clock } }

    /// Changes the clock.
    public func adjustClock<Failure: Error>(
        _ change: (inout SandboxClock) throws(Failure) -> Void
    ) throws(Failure) -> SandboxClock {
        try control.withLock { (control) throws(Failure) in
            try change(&control.clock)
            return control.clock
        }
    }

    /// The settings.
    public var settings: Settings { control.withLock { $0.settings } }

    /// Changes the settings, for every vendor before anybody else can change them again.
    ///
    /// Another seed than before starts the ids again, and stops the clock at ``SandboxClock/seededStart`` if it shows the
    /// machine's time; one that was set, moved or frozen stays as it is.
    public func adjustSettings<Failure: Error>(
        _ change: (inout Settings) throws(Failure) -> Void
    ) throws(Failure) -> Settings {
        try control.withLock { (control) throws(Failure) in
            let old = control.settings
            try change(&control.settings)
            if control.settings.seed != old.seed {
                identifiers.reseed(control.settings.seed)
                if control.clock.isMachineTime { control.clock = SandboxClock(seed: control.settings.seed) }
            }
            for cell in cells { cell.apply(control.settings) }
            return control.settings
        }
    }

    /// The armed faults.
    public var faults: [ArmedFault] { control.withLock { $0.faults.faults } }

    /// Replaces the armed faults; each counts calls from now on.
    public func arm(_ faults: [ArmedFault]) { control.withLock { $0.faults.arm(faults) } }

    /// Counts a call; the fault that it sets off, if any, is spent.
    @usableFromInline
    func fault(vendor: String, route: String) -> ArmedFault? {
        control.withLock { $0.faults.fault(vendor: vendor, route: route) }
    }

    /// Makes everything as it was when the sandbox came into being, so that it gives its first answers again.
    public func reset() {
        _ = adjustSettings { $0 = initialSettings }
        control.withLock { control in
            control.clock = SandboxClock(seed: initialSettings.seed)
            control.faults.arm([])
        }
        identifiers.reseed(initialSettings.seed)
        for (vendor, cell) in zip(mounting.edition.vendors, cells) { vendor.reset(cell) }
        journal.clear(restartNumbers: true)
    }
}
