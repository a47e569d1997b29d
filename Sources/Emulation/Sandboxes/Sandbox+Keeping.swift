package import JSON

/// What a sandbox keeps beyond its time in memory: whatever calls changed, but not its journal.
extension Sandbox {
    /// The members of ``keptText``.
    package static let keptMembers = [
        "created_at", "ttl_seconds", "clock", "settings", "interventions", "state", "ids", "journal_number",
    ]

    /// ``kept`` as JSON; empty while there is nothing to keep.
    package var keptText: [UInt8] {
        let kept = kept
        return kept.isEmpty ? [] : JSON.object(kept).bytes
    }

    /// What requests and control calls changed, secrets included; empty while everything is as it came into being.
    package var kept: JSONObject {
        let control = control.withLock(\.self)
        var kept = JSONObject()
        if control.timeToLive != initialTimeToLive {
            kept["ttl_seconds"] = control.timeToLive?.inSeconds.written ?? .null
        }
        if control.clock != SandboxClock(seed: control.settings.seed) { kept["clock"] = control.clock.written }
        if control.settings != initialSettings { kept["settings"] = control.settings.kept }
        let interventions = control.interventions.kept
        if interventions != control.initialInterventions.kept { kept["interventions"] = interventions }
        var states = JSONObject()
        for (vendor, store) in zip(inForce.loaded.vendors, vendors) {
            if let state = store.export(.changes) { states.append(vendor.identity.id, state) }
        }
        if !states.isEmpty { kept["state"] = .object(states) }
        // Read last: what was exported has no id that is issued again.
        if let ids = identifiers.kept(seed: control.settings.seed) { kept["ids"] = ids }
        if !kept.isEmpty {
            kept["created_at"] = control.created.written
            // Numbers of entries that people have seen are not given again.
            kept["journal_number"] = JSON(journal.reservedNumber)
        }
        return kept
    }

    /// Brings a fresh sandbox to what ``keptText`` gave, before anyone else knows the sandbox.
    ///
    /// - Throws: the first problem, unless the mapping sets aside what cannot be read: then each member, and each record
    ///   of a vendor, stands alone.
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
