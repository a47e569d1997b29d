package import JSON
import Synchronization
public import Wire

/// An isolated environment inside the process: users, clock, settings, faults, journal.
public final class Sandbox: Sendable {
    struct Control {
        var clock: SandboxClock { didSet { isUnwritten = true } }
        var settings: Settings { didSet { isUnwritten = true } }
        var interventions: Interventions { didSet { isUnwritten = true } }
        /// The scenarios that are active from the start, and again after a reset.
        var initialScenarios: [String] = []
        /// The interventions after the start or the last reset.
        var initialInterventions: Interventions
        var pins = 0
        /// Control calls still in progress that a hand-over waits for.
        var controlCalls = 0
        var sockets = 0
        var lastUsed: Moment
        var timeToLive: Duration? { didSet { isUnwritten = true } }
        /// Whether any of these may differ from what a store has.
        var isUnwritten = false
        var exchanges = 0
        /// When the sandbox was created, by the machine's clock.
        var created: Moment
    }

    public let identity: SandboxIdentity
    public let journal: Journal
    public let identifiers: IdentifierSource

    let inForce: VendorsInForce
    let vendors: [any AnySandboxedVendor]
    let initialSettings: Settings
    let initialTimeToLive: Duration?
    let control: Mutex<Control>
    let changes: ChangeMark
    /// Whether the sandbox is kept elsewhere now: checked without taking the lock.
    let isSealedNow = Atomic(false)
    /// Whether another server owns it now, though this one did not hand it over.
    let isLostNow = Atomic(false)
    private let machine: @Sendable () -> Moment
    private let census: SandboxCensus
    /// Whether there is a time to live: checked for every request without taking the lock.
    private let mayExpire: Atomic<Bool>
    private let secrets = SecretIndex()

    init(
        _ name: String, _ start: String, _ publicBase: PublicBase, inForce: VendorsInForce, settings: Settings,
        journal: Journal, timeToLive: Duration?, timer: DeadlineTimer, census: SandboxCensus,
        keeper: (any SandboxKeeper)?, machine: @escaping @Sendable () -> Moment
    ) {
        let (alarm, created) = (Alarm(timer), machine())
        let changes = ChangeMark(for: keeper, beside: alarm)
        let identity = SandboxIdentity(
            name: name, start: start, isSeeded: settings.seed != nil, publicBase: PublicBase(of: publicBase),
            describesReading: settings.describesReading)
        (self.identity, self.inForce, self.journal, self.changes) = (identity, inForce, journal, changes)
        (self.machine, self.census) = (machine, census)
        (initialSettings, initialTimeToLive) = (settings, timeToLive)
        identifiers = IdentifierSource(seed: settings.seed, noting: changes)
        vendors = inForce.loaded.vendors.enumerated().map {
            $1.placed(at: $0, of: inForce, settings, in: identity, alarm, changes)
        }
        mayExpire = Atomic(timeToLive != nil)
        let interventions = Interventions(seed: settings.seed)
        control = Mutex(
            Control(
                clock: SandboxClock(seed: settings.seed), settings: settings, interventions: interventions,
                initialInterventions: interventions, lastUsed: created, timeToLive: timeToLive, created: created))
        census.enter()
        alarm.attach(to: self)
        journal.noteReserve { changes.set() }
        // An initial state may already have deadlines.
        passDeadlines()
    }

    deinit { census.leave() }

    public var name: String { identity.name }

    /// When the sandbox was created, by the machine's clock.
    package var created: Moment { control.withLock { $0.created } }

    public func vendor(_ vendor: Int) -> any AnySandboxedVendor { vendors[vendor] }

    package var redactor: Redactor { inForce.redactor(secrets, vendors) }
    public var now: Moment { control.withLock { $0.clock.now } }

    /// Marks the sandbox as used and reads its clock, once per exchange.
    ///
    /// - Parameter selector: how the request named the sandbox.
    public func beginExchange(_ request: Request, by selector: SandboxSelector = .none) -> Exchange {
        let (moment, clock, isWatched) = control.withLock { control in
            control.exchanges += 1
            control.lastUsed = machine()
            let moment = control.clock.isMachineTime ? control.lastUsed : control.clock.now
            return (moment, control.clock, !control.interventions.isEmpty)
        }
        return Exchange(
            request: request, sandbox: self, selector: selector, moment: moment, isClockFrozen: clock.isFrozen,
            isMachineTime: clock.isMachineTime, isWatched: isWatched)
    }

    /// Notes where a request reached the sandbox, and returns whether that can be its base.
    package func isReached(at origin: String) -> Bool {
        guard let isNew = identity.publicBase.note(origin) else { return false }
        if isNew { alter { $0.isUnwritten = true } }
        return true
    }

    /// Marks the sandbox as used by something other than an exchange.
    public func touch() { control.withLock { $0.lastUsed = machine() } }

    /// When the sandbox was last used, by the machine's clock; now, while a socket is open.
    package var lastUsed: Moment { control.withLock { $0.sockets > 0 ? machine() : $0.lastUsed } }
    package var exchanges: Int { control.withLock { $0.exchanges } }

    /// Keeps the sandbox from expiring during longer work in it.
    package func whileUsed<Value>(_ work: () async -> Value) async -> Value {
        control.withLock { $0.pins += 1 }
        let value = await work()
        control.withLock { control in
            control.pins -= 1
            control.lastUsed = machine()
        }
        return value
    }

    /// How long the sandbox may stay unused before it is dropped; `nil` for as long as there is room.
    package var timeToLive: Duration? { control.withLock { $0.timeToLive } }

    func setTimeToLive(_ duration: Duration?) {
        alter { $0.timeToLive = duration }
        mayExpire.store(duration != nil, ordering: .relaxed)
    }

    func alter<Value, Failure: Error>(_ change: (inout Control) throws(Failure) -> Value) throws(Failure) -> Value {
        try control.withLock { (control) throws(Failure) in
            let value = try change(&control)
            changes.set()
            return value
        }
    }

    /// Whether the sandbox has been unused for longer than its time to live.
    func isExpired(at moment: @autoclosure () -> Moment) -> Bool {
        guard mayExpire.load(ordering: .relaxed) else { return false }
        let moment = moment()
        return control.withLock { control in
            control.pins == 0 && control.sockets == 0
                && control.timeToLive.map { control.lastUsed + $0 <= moment } ?? false
        }
    }

    package var clock: SandboxClock { control.withLock { $0.clock } }

    /// Changes the clock; everything due by the new time has happened when the call returns.
    package func adjustClock<Failure: Error>(
        _ change: (inout SandboxClock) throws(Failure) -> Void
    ) throws(Failure) -> SandboxClock {
        let clock = try alter { (control) throws(Failure) in
            try change(&control.clock)
            return control.clock
        }
        passDeadlines()
        return clock
    }

    package var settings: Settings { control.withLock { $0.settings } }

    /// Changes the settings for every vendor, before anyone else can change them again.
    ///
    /// A changed seed restarts the ids, and stops the clock at ``SandboxClock/seededStart`` if it shows the machine's
    /// time; a clock that was set, moved or frozen stays as it is.
    package func adjustSettings<Failure: Error>(
        _ change: (inout Settings) throws(Failure) -> Void
    ) throws(Failure) -> Settings {
        let (settings, isClockChanged) = try alter { (control) throws(Failure) in
            let (old, clock) = (control.settings, control.clock)
            try change(&control.settings)
            if control.settings.seed != old.seed {
                identifiers.reseed(control.settings.seed)
                control.interventions.reseed(control.settings.seed)
                if control.clock.isMachineTime { control.clock = SandboxClock(seed: control.settings.seed) }
            }
            if control.settings.publicBase != old.publicBase { identity.publicBase.set(control.settings.publicBase) }
            for vendor in vendors { vendor.apply(control.settings) }
            return (control.settings, control.clock != clock)
        }
        if isClockChanged { passDeadlines() }
        return settings
    }

    /// Restores the initial state, so that the sandbox gives its first answers again. The time to live and the exchange
    /// count stay, since no answer depends on them. Its sockets are closed.
    package func reset() {
        _ = adjustSettings { $0 = initialSettings }
        identity.publicBase.set(initialSettings.publicBase)
        alter { control in
            control.clock = SandboxClock(seed: initialSettings.seed)
            control.interventions = Interventions(seed: initialSettings.seed)
            let scenarios = control.initialScenarios.compactMap(inForce.loaded.scenario)
            control.interventions.activate(scenarios.map { ($0, 0) })
            control.initialInterventions = control.interventions
        }
        identifiers.reseed(initialSettings.seed)
        for vendor in vendors { vendor.reset() }
        journal.clear(restartNumbers: true)
    }

    // MARK: Sockets and deadlines

    package var sockets: Int { control.withLock { $0.sockets } }

    func pinSocket() { control.withLock { $0.sockets += 1 } }

    /// Lets it expire again, counting from now.
    func unpinSocket() {
        control.withLock { control in
            control.sockets -= 1
            control.lastUsed = machine()
        }
    }

    func passDeadlines() { for vendor in vendors { vendor.passDeadlines(in: self) } }

    /// Moves every state to the vendors in force, so that unused states do not retain earlier ones.
    package func adoptLoadedVendors() { passDeadlines() }
    func passDeadlines(of index: Int) { vendors[index].passDeadlines(in: self) }

    func end() {
        for vendor in vendors { vendor.end() }
        journal.end()
    }

    // MARK: Keeping

    /// Notes that what it holds now is being read, so that the next change counts as a new one.
    ///
    /// - Returns: whether it may have changed since the last time.
    @discardableResult
    package func takeChanges() -> Bool { changes.take() }

    /// Undoes ``takeChanges()``, since what was read could not be kept. The keeper already knows.
    package func returnChanges() { changes.putBack() }

    // MARK: Faults and scenarios

    package var faults: [JSON] { control.withLock { $0.interventions.faults.map(\.json) } }

    /// Replaces the armed faults; each counts calls from now on.
    package func arm(_ faults: [Fault]) { alter { $0.interventions.arm(faults) } }

    package var activeScenarios: [JSON] { control.withLock { $0.interventions.runs.map(\.json) } }

    /// Replaces the active scenarios, each with the index of its starting state; the first one takes precedence.
    package func activate(_ scenarios: [(scenario: Scenario, state: Int)]) {
        alter { $0.interventions.activate(scenarios) }
    }

    func activateInitially(_ scenarios: [Scenario]) {
        control.withLock { control in
            control.initialScenarios = scenarios.map(\.name)
            control.interventions.activate(scenarios.map { ($0, 0) })
            control.initialInterventions = control.interventions
        }
    }

    /// Switches to other versions of the active scenarios.
    ///
    /// - Returns: the names of those that ended because they, or their current states, no longer exist.
    package func replaceScenarios(_ find: (String) -> Scenario?) -> [String] {
        alter { $0.interventions.replace(find) }
    }

    /// The tokens that scenarios refused, which must not be handed out again.
    @usableFromInline var refusedTokens: TokenDigests { control.withLock { $0.interventions.refusedTokens } }

    /// Mints a token of the vendor with that index: one that no scenario refused, if necessary with an earlier `exp`,
    /// unless the order sets that.
    package func mint(
        _ order: MintRequest, of vendor: Int, by selector: SandboxSelector
    ) throws(ControlRefusal) -> MintedToken {
        let (refused, moment) = (refusedTokens, now)
        let mint = { (claims: JSONObject) throws(ControlRefusal) in
            try self.vendors[vendor].mint(order.setting(claims), at: moment, by: selector, self.identifiers)
        }
        var minted = try mint([:])
        while refused.contains(minted.bytes), let expiry = TokenDigests.earlier(minted.json["claims"]?["exp"]) {
            let other = try mint(["exp": expiry])
            // The order sets the claim itself, or has a defect that does.
            if other.token == minted.token { break }
            minted = other
        }
        alter { [minted] in $0.interventions.note(minted.bytes) }
        return minted
    }

    @usableFromInline
    func intervene(_ matchContext: MatchContext, vendor: String, route: String) -> Intervention? {
        alter { $0.interventions.decide(matchContext, vendor: vendor, route: route) }
    }
}
