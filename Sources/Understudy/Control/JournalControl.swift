import Emulation
import JSON
import Wire

/// Reading and clearing the journal.
extension ControlAPI {
    /// The longest wait that a call may ask for.
    private static let longestWait = Duration.seconds(60)

    @Sendable static func listJournal(_ call: ControlCall) throws(ControlProblem) -> Answer {
        let query = try JournalQuery(call)
        let count = try call.query.read { $0.count("count") } ?? 1
        // Off the event loop: a journal may hold several megabytes.
        let wait = try wait(call) ?? .zero
        return .deferred {
            let journal = call.sandbox.journal
            // The number is read first: later entries are included, so a caller that continues from this number misses
            // none.
            let (newest, entries) = await journal.first(within: wait) {
                (journal.newest, journal.entries(query.filter))
            } where: {
                $0.1.count >= count
            }
            return await call.emulator.readings.run { list(query.newest(of: entries), newest, query.form, call) }
        }
    }

    /// How long the call may wait; `nil` when it does not ask to wait.
    static func wait(_ call: ControlCall) throws(ControlProblem) -> Duration? {
        try call.query.read { query in
            query.value("wait", expecting: "a duration up to 60s, such as 2s") {
                Duration(text: $0.string ?? "").flatMap { (.zero...longestWait).contains($0) ? $0 : nil }
            }
        }
    }

    /// Refuses unknown names: a typo would look as if nothing had happened.
    static func checkNames(_ filter: JournalFilter, _ call: ControlCall) throws(ControlProblem) {
        let vendors = call.emulator.vendors
        let routes = vendors.flatMap { $0.routes.map(\.id) }
        let named = [
            ("failure", filter.failure, vendors.flatMap(\.failureNames)),
            ("route", filter.route, routes),
            ("vendor", filter.vendor, vendors.map(\.identity.id)),
        ]
        for (kind, name, known) in named {
            guard let name, !known.contains(name) else { continue }
            if kind == "route", name.utf8.contains(UInt8(ascii: "*")) {
                if known.contains(where: Wildcard(name).matches) { continue }
                throw call.invalid("no route fits \(name)\(Nearest.hint(to: name, among: known))")
            }
            throw call.invalid("no \(kind) is called \(name)\(Nearest.hint(to: name, among: known))")
        }
    }

    private static func show(_ entry: JournalEntry, _ redactor: Redactor, _ call: ControlCall) -> JSON {
        MaskedExchange(entry, by: redactor).json(routes: call.emulator.routes, replica: call.emulator.replica)
    }

    private static func list(
        _ entries: [JournalEntry], _ newest: Int, _ form: JournalQuery.Form, _ call: ControlCall
    ) -> Response {
        let redactor = call.sandbox.redactor
        var list: JSONObject = ["sandbox": .string(call.sandboxName)]
        list["replica"] = call.emulator.replica.map(JSON.string)
        switch form {
        case .json:
            list["entries"] = .array(entries.map { show($0, redactor, call) })
            return .json(.object(list))
        case .brief:
            list["newest"] = JSON(newest)
            list["entries"] = .array(entries.map { $0.brief(redactor, call.emulator.routes) })
            return .json(.object(list))
        case .har:
            let shown = entries.map { show($0, redactor, call) }
            return .json(HARExport(shown).json)
        case .hurl: return .text(HurlExport(entries, call).text)
        }
    }

    @Sendable static func readJournalEntry(_ call: ControlCall) throws(ControlProblem) -> Answer {
        let id = call.parameters["id"]
        let form = try JournalQuery.form(call)
        guard let entry = call.existingSandbox.flatMap({ sandbox in Int(id).flatMap(sandbox.journal.entry) }) else {
            throw ControlProblem(.notFound, "no-such-entry", "Sandbox \(call.sandboxName) has no journal entry \(id).")
        }
        switch form {
        case .json:
            return .ready(.json(show(entry, call.sandbox.redactor, call)))
        case .brief: return .ready(.json(entry.brief(call.sandbox.redactor, call.emulator.routes)))
        // Off the event loop: a token may take twenty minting attempts.
        case .har, .hurl: return .deferred { await call.emulator.readings.run { list([entry], entry.id, form, call) } }
        }
    }

    @Sendable static func clearJournal(_ call: ControlCall) throws(ControlProblem) -> Answer {
        call.sandbox.journal.clear()
        return .ready(.empty())
    }
}

extension JournalEntry {
    /// The parts of the entry that a list shows.
    fileprivate func brief(_ redactor: Redactor, _ routes: RouteTable) -> JSON {
        let masked = MaskedExchange(self, by: redactor)
        var json: JSONObject = [
            "id": JSON(id), "at": .string(moment.rfc3339), "vendor": JSON(record.vendor), "route": JSON(record.route),
            "status": JSON(response.status.code), "failure": JSON(record.failure), "reason": JSON(masked.reason),
            "method": .string(request.method.rawValue), "target": .string(masked.target),
        ]
        json["note"] = masked.note.map(JSON.string)
        json["intervention"] = masked.interventions
        if record.route == nil, response.status.code >= 400 {
            json["nearest_routes"] = .array(routes.guide.nearest(to: request.method, request.path).map(JSON.string))
        }
        return .object(json)
    }
}
