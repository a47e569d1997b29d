public import JSON
import Synchronization
public import Wire

/// A world of its own inside the process: users, clock, settings, faults, journal.
public final class Sandbox: Sendable {
    private struct Control {
        var clock: SandboxClock
        var settings: Settings
        var interventions: Interventions
        /// What is active from the start, and after a reset again.
        var initialScenarios: [String] = []
        /// Calls that are still being answered.
        var pins = 0
        /// Sockets that are open.
        var sockets = 0
        var lastUsed: Moment
        var timeToLive: Duration?
        var exchanges = 0
    }

    /// Its name, and the start of the program that it belongs to.
    public let identity: SandboxIdentity
    /// When the sandbox came into being, by the machine's clock.
    public let created: Moment
    /// What happened here.
    public let journal: Journal
    /// Where ids come from.
    public let identifiers: IdentifierSource

    private let inForce: VendorsInForce
    private let vendors: [any SandboxedVendor]
    private let initialSettings: Settings
    private let control: Mutex<Control>
    private let machine: @Sendable () -> Moment
    private let census: SandboxCensus
    /// Whether there is a time to live: asked for every request, and the lock is not taken for it.
    private let mayExpire: Atomic<Bool>
    private let secrets = SecretIndex()

    init(
        _ identity: SandboxIdentity, inForce: VendorsInForce, settings: Settings, journal: Journal,
        timeToLive: Duration?,
        timer: DeadlineTimer, census: SandboxCensus, machine: @escaping @Sendable () -> Moment
    ) {
        let alarm = Alarm(timer)
        self.identity = identity
        self.journal = journal
        self.machine = machine
        self.census = census
        created = machine()
        initialSettings = settings
        identifiers = IdentifierSource(seed: settings.seed)
        self.inForce = inForce
        vendors = inForce.vendors.enumerated().map { $1.makeStore(settings, in: identity, alarm, $0) }
        mayExpire = Atomic(timeToLive != nil)
        control = Mutex(
            Control(
                clock: SandboxClock(seed: settings.seed), settings: settings,
                interventions: Interventions(seed: settings.seed), lastUsed: created, timeToLive: timeToLive))
        census.enter()
        alarm.attach(to: self)
        // A state may begin with something to come.
        passDeadlines()
    }

    deinit { census.leave() }

    /// The sandbox's name.
    public var name: String { identity.name }

    /// The vendor at that index, in this sandbox.
    public func vendor(_ vendor: Int) -> any SandboxedVendor { vendors[vendor] }

    /// Hides the secrets of the fixtures and of this sandbox in whatever is shown.
    public var redactor: Redactor { inForce.redactor(secrets, vendors) }

    /// The moment by the sandbox's clock.
    public var now: Moment { control.withLock { $0.clock.now } }

    /// Marks the sandbox as used and reads its clock, once for the exchange that begins.
    public func beginExchange(_ request: Request) -> Exchange {
        let (moment, isWatched) = control.withLock { control in
            control.exchanges += 1
            control.lastUsed = machine()
            let moment = control.clock.isMachineTime ? control.lastUsed : control.clock.now
            return (moment, !control.interventions.isEmpty)
        }
        return Exchange(request: request, sandbox: self, moment: moment, isWatched: isWatched)
    }

    /// Marks the sandbox as used by something that is no exchange.
    public func touch() { control.withLock { $0.lastUsed = machine() } }

    /// When the sandbox was last used, by the machine's clock; now, while a socket is open.
    public var lastUsed: Moment { control.withLock { $0.sockets > 0 ? machine() : $0.lastUsed } }

    /// How many exchanges the sandbox has seen.
    public var exchanges: Int { control.withLock { $0.exchanges } }

    /// Keeps the sandbox from growing old while something that takes longer is done in it.
    public func whileUsed<Value>(_ work: () async -> Value) async -> Value {
        control.withLock { $0.pins += 1 }
        let value = await work()
        control.withLock { control in
            control.pins -= 1
            control.lastUsed = machine()
        }
        return value
    }

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
            control.pins == 0 && control.sockets == 0
                && control.timeToLive.map { control.lastUsed + $0 <= moment } ?? false
        }
    }

    /// The clock.
    public var clock: SandboxClock { control.withLock { $0.clock } }

    /// Changes the clock; what is due by what it shows then has happened when the call returns.
    public func adjustClock<Failure: Error>(
        _ change: (inout SandboxClock) throws(Failure) -> Void
    ) throws(Failure) -> SandboxClock {
        let clock = try control.withLock { (control) throws(Failure) in
            try change(&control.clock)
            return control.clock
        }
        passDeadlines()
        return clock
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
        let (settings, isClockChanged) = try control.withLock { (control) throws(Failure) in
            let (old, clock) = (control.settings, control.clock)
            try change(&control.settings)
            if control.settings.seed != old.seed {
                identifiers.reseed(control.settings.seed)
                control.interventions.reseed(control.settings.seed)
                if control.clock.isMachineTime { control.clock = SandboxClock(seed: control.settings.seed) }
            }
            for vendor in vendors { vendor.apply(control.settings) }
            return (control.settings, control.clock != clock)
        }
        if isClockChanged { passDeadlines() }
        return settings
    }

    /// Makes everything as it was when the sandbox came into being, so that it gives its first answers again; its time to
    /// live and the count of its exchanges stay, which no answer depends on. Its sockets are closed.
    public func reset() {
        _ = adjustSettings { $0 = initialSettings }
        control.withLock { control in
            control.clock = SandboxClock(seed: initialSettings.seed)
            control.interventions = Interventions(seed: initialSettings.seed)
            let scenarios = control.initialScenarios.compactMap(inForce.loaded.scenario)
            control.interventions.activate(scenarios.map { ($0, 0) })
        }
        identifiers.reseed(initialSettings.seed)
        for vendor in vendors { vendor.reset() }
        journal.clear(restartNumbers: true)
    }
}

// MARK: - Sockets and deadlines

extension Sandbox {
    /// How many sockets are open.
    public var sockets: Int { control.withLock { $0.sockets } }

    /// Keeps the sandbox from growing old while a socket is open.
    func pinSocket() { control.withLock { $0.sockets += 1 } }

    /// Lets it grow old again, from now on.
    func unpinSocket() {
        control.withLock { control in
            control.sockets -= 1
            control.lastUsed = machine()
        }
    }

    /// Lets the deadlines pass that are due by the clock as it is now.
    func passDeadlines() { for vendor in vendors { vendor.passDeadlines(in: self) } }

    /// Moves every state on to the vendors in force, so that one which nobody uses does not keep earlier ones.
    public func adoptLoadedVendors() { passDeadlines() }

    /// Lets the deadlines of the vendor at that index pass.
    func passDeadlines(of index: Int) { vendors[index].passDeadlines(in: self) }

    /// Closes all sockets and lets all go who wait for something to happen, since nobody can name the sandbox any more.
    func end() {
        for vendor in vendors { vendor.end() }
        journal.end()
    }
}

// MARK: - Faults and scenarios

extension Sandbox {
    /// The armed faults with what each has seen.
    public var faults: [JSON] { control.withLock { $0.interventions.faults.map(\.json) } }

    /// Replaces the armed faults; each counts calls from now on.
    public func arm(_ faults: [Fault]) { control.withLock { $0.interventions.arm(faults) } }

    /// The active scenarios with where each stands.
    public var activeScenarios: [JSON] { control.withLock { $0.interventions.runs.map(\.json) } }

    /// Replaces the active scenarios, each with the index of the state it starts in; the first one goes first.
    public func activate(_ scenarios: [(scenario: Scenario, state: Int)]) {
        control.withLock { $0.interventions.activate(scenarios) }
    }

    /// Activates scenarios that a reset activates again.
    public func activateInitially(_ scenarios: [Scenario]) {
        control.withLock { control in
            control.initialScenarios = scenarios.map(\.name)
            control.interventions.activate(scenarios.map { ($0, 0) })
        }
    }

    /// Takes over other versions of the scenarios that are active.
    ///
    /// - Returns: the names of those that ended, since they or the states in which they stood are gone.
    public func replaceScenarios(_ find: (String) -> Scenario?) -> [String] {
        control.withLock { $0.interventions.replace(find) }
    }

    /// Counts an exchange in every fault and scenario of its vendor, and says what becomes of it.
    @usableFromInline
    func intervene(_ matchContext: MatchContext, vendor: String, route: String) -> Intervention? {
        control.withLock { $0.interventions.decide(matchContext, vendor: vendor, route: route) }
    }
}
