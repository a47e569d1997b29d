import Dispatch
package import JSON
public import Synchronization

/// Keeps sandboxes beyond the life of the process, and beyond their place in memory.
///
/// The directory and its sandboxes call it; what it stores, and where, is its own affair. Every function but
/// ``changed(_:)`` and ``mayAnswer(in:)`` may wait for a disk or for another server, so none of them is called on an
/// event loop.
package protocol SandboxKeeper: AnyObject, Sendable {
    /// Eight hexadecimal digits for ``SandboxIdentity/start``: credentials of kept sandboxes outlive the process.
    var start: String { get }

    /// Restores a fresh sandbox to what was kept under its name, if anything was.
    ///
    /// - Throws: why nobody may use the sandbox here now.
    func open(_ sandbox: Sandbox) throws(SandboxUnavailable)

    /// Whether an opened sandbox may answer here now: asked before and after each call.
    func mayAnswer(in sandbox: Sandbox) -> Bool

    /// Notes that an opened sandbox may differ from what is kept; called once until ``Sandbox/takeChanges()``.
    func changed(_ sandbox: Sandbox)

    /// Keeps what these opened sandboxes hold now, and returns those that are kept.
    func save(_ sandboxes: [Sandbox]) -> [Sandbox]

    /// Keeps what these opened and sealed sandboxes hold, and releases them.
    ///
    /// - Returns: those that are kept; the others are as before.
    func close(_ sandboxes: [Sandbox]) -> [Sandbox]

    /// Notes when these sandboxes, which have a time to live, were last used.
    func used(_ sandboxes: [Sandbox])

    /// Forgets what is kept under a name, since the sandbox was removed or has expired.
    ///
    /// - Returns: whether anything was kept.
    @discardableResult
    func forget(_ name: String) -> Bool
}

/// Why a sandbox cannot be used here now, though the request for it is right.
package struct SandboxUnavailable: Error, CustomStringConvertible {
    package let description: String
    /// Waits until it may be different; `nil` if waiting does not help.
    package let news: (@Sendable () async -> Void)?

    package init(_ description: String, news: (@Sendable () async -> Void)? = nil) {
        (self.description, self.news) = (description, news)
    }

    /// The reason while this server's lease has lapsed, which is over soon unless the store is unreachable.
    package static let lapsed = SandboxUnavailable(
        "This server could not renew its lease for a second, and others may have its sandboxes; repeat the call.",
        news: { try? await Task.sleep(for: .milliseconds(20)) })
}

/// Whether something in a sandbox may have changed since it was last kept.
///
/// Created before the sandbox, whose stores hold it. Setting it costs a load while it is set; without a keeper it costs
/// a comparison.
public final class ChangeMark: Sendable {
    @usableFromInline let isKept: Bool
    @usableFromInline let isSet = Atomic(false)
    private let isAnew = Atomic(false)
    private let keeper: (any SandboxKeeper)?
    /// Knows the sandbox, once that is made.
    private let alarm: Alarm

    init(for keeper: (any SandboxKeeper)?, beside alarm: Alarm) {
        (self.keeper, self.alarm) = (keeper, alarm)
        isKept = keeper != nil
        // Nothing that happens while the sandbox is being made needs keeping.
        isSet.store(true, ordering: .relaxed)
    }

    /// Notes a change. Called after it, while the lock of what has changed is still held: whoever takes the mark
    /// before has yet to take that lock, and then sees the change.
    @inlinable
    func set() {
        if isKept, !isSet.load(ordering: .relaxed) { notifyKeeper() }
    }

    /// Notes a change that no record tracks: a state was replaced.
    func setAnew() {
        if isKept { isAnew.store(true, ordering: .sequentiallyConsistent) }
        set()
    }

    func takeAnew() -> Bool { isAnew.exchange(false, ordering: .sequentiallyConsistent) }

    @usableFromInline
    func notifyKeeper() {
        guard !isSet.exchange(true, ordering: .relaxed), let sandbox = alarm.sandbox else { return }
        keeper?.changed(sandbox)
    }

    /// Clears the mark, before the sandbox is read, and returns whether it was set.
    func take() -> Bool { isSet.exchange(false, ordering: .sequentiallyConsistent) }

    func putBack() { isSet.store(true, ordering: .sequentiallyConsistent) }
}

// Sandboxes that leave memory while calls may be in progress in them.
extension SandboxDirectory {
    /// How long a hand-over waits for control calls in progress, such as an import of a large state.
    private static let patience = DispatchTimeInterval.seconds(2)

    /// Hands sandboxes over to the keeper: from then on they answer nobody, and must be fetched again.
    ///
    /// Those that cannot be kept now, such as on a full disk, stay as they are.
    package func handOver(_ sandboxes: [Sandbox]) {
        guard let keeper else { return }
        // Most is written before anybody is turned away, and write errors show up early.
        let written = keeper.save(sandboxes)
        lock(Set(written.map { place(of: $0.name) }).sorted()[...]) {
            for sandbox in written { sandbox.refuseControlCalls() }
            let deadline = DispatchTime.now() + Self.patience
            let quiet = written.filter { $0.awaitControlCalls(until: deadline) }
            for sandbox in quiet { sandbox.seal() }
            let closed = Set(keeper.close(quiet).map(ObjectIdentifier.init))
            for sandbox in written {
                if closed.contains(ObjectIdentifier(sandbox)) {
                    discard(sandbox)
                    sandbox.end()
                } else {
                    sandbox.unseal()
                }
            }
        }
    }

    /// Drops a sandbox that the keeper no longer has; what it holds no longer counts.
    package func abandon(_ sandbox: Sandbox) {
        opening[place(of: sandbox.name)].lock.withLock { _ in
            sandbox.seal()
            discard(sandbox)
            sandbox.end()
        }
    }

    /// Holds several of the locks for opening, always taken in the same order.
    private func lock(_ places: ArraySlice<Int>, _ body: () -> Void) {
        guard let first = places.first else { return body() }
        opening[first].lock.withLock { _ in lock(places.dropFirst(), body) }
    }

    func place(of name: String) -> Int { Int(Array(name.utf8).stableHash % UInt64(opening.count)) }

    /// Drops a sandbox, and whatever is kept of it, and returns whether anything was kept.
    func forget(_ sandbox: Sandbox) -> Bool {
        // Nobody reopens it before it is gone.
        opening[place(of: sandbox.name)].lock.withLock { _ in
            // Sealed first, so that no change revives it.
            sandbox.seal()
            let wasThere = discard(sandbox)
            sandbox.end()
            return wasThere && keeper?.forget(sandbox.name) == true
        }
    }
}

/// What a sandbox keeps beyond its time in memory: whatever calls changed, and the end of its journal if that is wanted.
extension Sandbox {
    /// The members of the document that ``restore(_:)`` reads.
    package static let keptMembers = [
        "created_at", "ttl_seconds", "clock", "settings", "interventions", "state", "ids", "journal_number",
        "set_aside", "origins",
    ]

    /// Takes what has changed since the last time, secrets included: all that requests and control calls changed.
    ///
    /// - Parameter setAside: what could not be read from the store, and is kept there as it is.
    package func takeRows(_ ledger: inout StateLedger, setAside: [JSON]) -> StateRows {
        // A state that replaced another one has tracked no changes.
        let isAnew = changes.takeAnew() || !ledger.isTrue
        let known = isAnew ? StateLedger() : ledger
        // It is changed in place, not copied.
        ledger = StateLedger()
        let writer = RowWriter(isAnew ? .everything : .changes, consume known)
        write(to: writer)
        writer.list("set_aside", setAside)
        ledger = writer.ledger
        return writer.rows
    }

    /// Begins to note changes, once ``restore(_:)`` has read what the store has.
    package func beginRows(_ ledger: inout StateLedger, setAside: [JSON]) {
        let marker = RowWriter(.marking, ledger)
        for vendor in vendors { vendor.write(to: marker) }
        ledger = marker.ledger
        _ = changes.takeAnew()
        if ledger.isEmpty { return }
        var found = ledger
        let rows = takeRows(&found, setAside: setAside)
        // The next numbers of entries are reserved with the next change. Whatever else differs was written by another
        // release, or is unreadable: then everything is rewritten.
        let isAsStored =
            rows.emptied.isEmpty && rows.removed.isEmpty
            && rows.written.allSatisfy { $0.name.part == "journal_number" }
        if !isAsStored { ledger.distrust() }
    }

    private func write(to rows: RowWriter) {
        let control = control.withLock { control in
            defer { control.isUnwritten = false }
            return control
        }
        func single(_ part: String, _ json: @autoclosure () -> JSON, if isChanged: Bool) {
            // A plain nil would become a null.
            rows.single(StateRow.Name(part: part), isChanged ? .some(json()) : .none)
        }
        if control.isUnwritten || rows.pass == .everything {
            single(
                "ttl_seconds", control.timeToLive?.inSeconds.written ?? .null,
                if: control.timeToLive != initialTimeToLive)
            single("clock", control.clock.written, if: control.clock != SandboxClock(seed: control.settings.seed))
            single("settings", control.settings.kept, if: control.settings != initialSettings)
            let origins = identity.publicBase.origins
            single("origins", .array(origins.map(JSON.string)), if: !origins.isEmpty)
            let interventions = control.interventions.kept
            single("interventions", interventions, if: interventions != control.initialInterventions.kept)
        }
        for vendor in vendors { vendor.write(to: rows) }
        // Read last: no id that was written may be issued again.
        rows.single(StateRow.Name(part: "ids"), identifiers.kept(seed: control.settings.seed))
        if rows.hasRows {
            single("created_at", control.created.written, if: true)
            // Numbers of entries that people have seen are not issued again.
            single("journal_number", JSON(journal.reservedNumber), if: true)
        }
    }

    /// Restores a fresh sandbox from its rows, before anyone else can use it.
    ///
    /// - Throws: the first problem, unless the mapping sets aside what cannot be read: then each member, and each
    ///   record of a vendor, is read by itself.
    package func restore(_ kept: FixtureMapping) throws(FixtureProblem) {
        let loaded = inForce.loaded
        func read(
            _ name: String, _ read: (FixtureNode) throws(FixtureProblem) -> Void
        ) throws(FixtureProblem) { try kept[name]?.readRecord(read) }
        try read("created_at") { (node) throws(FixtureProblem) in
            let created = try node.moment()
            alter { $0.created = created }
        }
        try read("ttl_seconds") { (node) throws(FixtureProblem) in setTimeToLive(try Self.timeToLive(node)) }
        try read("settings") { (node) throws(FixtureProblem) in
            let settings = try Settings(node, among: loaded.vendors)
            _ = adjustSettings { $0 = settings }
        }
        try read("origins") { (node) throws(FixtureProblem) in
            identity.publicBase.set(settings.publicBase, origins: try [String].read(node))
        }
        try read("clock") { (node) throws(FixtureProblem) in
            let clock = try SandboxClock.read(node)
            _ = adjustClock { $0 = clock }
        }
        try read("state") { (node) throws(FixtureProblem) in
            for (id, state) in try node.members() {
                try state.readRecord { (state) throws(FixtureProblem) in
                    guard let index = loaded.vendors.firstIndex(where: { $0.identity.id == id }) else {
                        throw state.nameProblem("no vendor is called \(id)")
                    }
                    try vendors[index].read(state, .changes)()
                }
            }
        }
        try read("interventions") { (node) throws(FixtureProblem) in
            let interventions = try Interventions(node, among: loaded)
            alter { $0.interventions = interventions }
        }
        try read("ids") { (node) throws(FixtureProblem) in
            if let position = try IdentifierSource.position(node, seed: settings.seed) {
                identifiers.resume(at: position)
            }
        }
        try read("journal_number") { (node) throws(FixtureProblem) in journal.resume(after: try node.int()) }
    }

    /// Reads a time to live; `nil` for none.
    package static func timeToLive(_ node: FixtureNode) throws(FixtureProblem) -> Duration? {
        if try node.json().isNull { return nil }
        let seconds = try node.number()
        guard seconds > 0, seconds < 1e12 else { throw node.problem("expected a number of seconds over 0") }
        return .seconds(seconds)
    }
}

/// Leaving memory, while calls may be in progress.
///
/// A vendor's call finds a sealed state under the state's own lock, does nothing, and is repeated where the sandbox is
/// then. A control call changes a sandbox in many places, so whoever seals waits for it.
extension Sandbox {
    package var isSealed: Bool { isSealedNow.load(ordering: .relaxed) }

    /// Whether another server has begun from what was stored, so that nothing that was done here since then counts.
    package var isLost: Bool { isLostNow.load(ordering: .acquiring) }

    /// Answers nobody from now on, not even calls that were already carried out.
    package func lose() {
        isLostNow.store(true, ordering: .releasing)
        seal()
    }

    /// Begins a control call; false if it must be made where the sandbox is now.
    package func beginControlCall() -> Bool {
        control.withLock { control in
            guard !isSealed else { return false }
            control.controlCalls += 1
            return true
        }
    }

    package func endControlCall() { control.withLock { $0.controlCalls -= 1 } }

    /// Answers nobody from now on: calls learn that the sandbox has moved, and sockets are closed.
    func seal() {
        refuseControlCalls()
        for vendor in vendors { vendor.seal() }
        journal.close()
    }

    /// Begins no more control calls, and ends those that only wait.
    func refuseControlCalls() {
        control.withLock { _ in isSealedNow.store(true, ordering: .sequentiallyConsistent) }
        journal.end()
    }

    /// Waits until no control call is in progress, and returns whether that happened in time.
    func awaitControlCalls(until deadline: DispatchTime) -> Bool {
        while control.withLock({ $0.controlCalls > 0 }) {
            guard DispatchTime.now() < deadline else { return false }
            SandboxClock.block(microseconds: 1000)
        }
        return true
    }

    /// Answers again after ``seal()``.
    func unseal() {
        for vendor in vendors { vendor.unseal() }
        journal.resume()
        isSealedNow.store(false, ordering: .sequentiallyConsistent)
    }
}
