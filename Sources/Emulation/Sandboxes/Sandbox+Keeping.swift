import Dispatch
package import JSON

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

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

    /// Waits until no control call is in progress.
    ///
    /// - Returns: whether that happened in time.
    func awaitControlCalls(until deadline: DispatchTime) -> Bool {
        while control.withLock({ $0.controlCalls > 0 }) {
            guard DispatchTime.now() < deadline else { return false }
            usleep(1000)
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
