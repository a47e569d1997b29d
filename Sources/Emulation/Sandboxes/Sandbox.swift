import Synchronization

/// A world of its own inside the process: users, clock, settings, faults, journal.
public final class Sandbox: Sendable {
    private struct Control {
        var clock = SandboxClock()
        var settings: Settings
        var faults = FaultBoard()
        var lastUsed: Moment
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

    private let vendors: [any MountedVendor]
    private let cells: [any StateCell]
    private let initialSettings: Settings
    private let control: Mutex<Control>

    init(name: String, vendors: [any MountedVendor], settings: Settings, journal: Journal) {
        self.name = name
        self.journal = journal
        self.vendors = vendors
        created = SandboxClock.machine
        initialSettings = settings
        identifiers = IdentifierSource(seed: settings.seed)
        cells = vendors.map { $0.makeCell(settings) }
        control = Mutex(Control(settings: settings, lastUsed: created))
    }

    /// The state of the vendor at that index.
    public func cell(_ vendor: Int) -> any StateCell { cells[vendor] }

    /// The moment by the sandbox's clock.
    public var now: Moment { control.withLock { $0.clock.now } }

    /// Marks the sandbox as used and reads its clock, once for the exchange that begins.
    public func beginExchange() -> Moment {
        control.withLock { control in
            control.exchanges += 1
            control.lastUsed = SandboxClock.machine
            return control.clock.isMachineTime ? control.lastUsed : control.clock.now
        }
    }

    /// When the sandbox was last used, by the machine's clock.
    public var lastUsed: Moment { control.withLock { $0.lastUsed } }

    /// How many exchanges the sandbox has seen.
    public var exchanges: Int { control.withLock { $0.exchanges } }

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

    /// Changes the settings, for every vendor before anybody else can change them again; a new seed starts the ids again.
    public func adjustSettings<Failure: Error>(
        _ change: (inout Settings) throws(Failure) -> Void
    ) throws(Failure) -> Settings {
        try control.withLock { (control) throws(Failure) in
            let old = control.settings
            try change(&control.settings)
            if control.settings.seed != old.seed { identifiers.reseed(control.settings.seed) }
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
            control.clock = SandboxClock()
            control.faults.arm([])
        }
        identifiers.reseed(initialSettings.seed)
        for cell in cells { cell.reset() }
        journal.clear(restartNumbers: true)
    }
}
