import Emulation
import JSON
import Wire

/// Reading and clearing the journal.
extension ControlAPI {
    static let journalOperations: [ControlOperation] = [
        ControlOperation(
            "journal.list", .get, "/journal", "The exchanges that a filter admits, the oldest first.",
            query: filterParameters + [waitParameter, countParameter], gives: .json("The entries.", .journal),
            handler: listJournal),
        ControlOperation(
            "journal.clear", .delete, "/journal", "Forgets all exchanges.", gives: .done, handler: clearJournal),
        ControlOperation(
            "journal.get", .get, "/journal/{id}", "One exchange.",
            in: [.init("id", "The entry's number.", Schema.integer("A number from 1.", from: 1, to: .max))],
            gives: .json("The entry.", .journalEntry), handler: readJournalEntry),
    ]

    private static let filterParameters: [ControlOperation.Parameter] = [
        .init("vendor", "Only entries of the vendor of that id."),
        .init("route", "Only entries at the route of that id."),
        .init("status", "Only entries with that status code.", Schema.integer("A status code.", from: 0, to: .max)),
        .init("failure", "Only entries with the failure of that name."),
        .init("since", "Only entries from that moment on, by the sandbox's clock.", NamedSchema.moment.reference),
        .init("after", "Only entries behind that number.", Schema.integer("A number.", from: 0, to: .max)),
        .init(
            "unmatched", "Only entries that found no route, which name the nearest ones; or only the others.",
            Schema.word("True or false.", ["true", "false"])),
    ]
    static let waitParameter = ControlOperation.Parameter(
        "wait", "How long to wait until what is asked for is there, at most 60s.", NamedSchema.wait.reference)
    private static let countParameter = ControlOperation.Parameter(
        "count", "How many entries to wait for; 1.", Schema.integer("A number.", from: 0, to: .max))

    /// The longest wait that a call may ask for.
    private static let longestWait = Duration.seconds(60)

    @Sendable static func listJournal(_ call: ControlCall) throws(ControlProblem) -> Answer {
        let filter = try filter(call)
        let count = try number("count", call) ?? 1
        // Not on the loop: a journal may hold some megabytes.
        let wait = try wait(call) ?? .zero
        return .deferred { list(await call.sandbox.journal.entries(filter, atLeast: count, within: wait), call) }
    }

    private static func filter(_ call: ControlCall) throws(ControlProblem) -> JournalFilter {
        let query = call.query
        var filter = JournalFilter()
        filter.vendor = query["vendor"]
        filter.route = query["route"]
        filter.failure = query["failure"]
        filter.status = try number("status", call)
        filter.after = try number("after", call)
        if let since = query["since"] {
            guard let moment = Moment(text: since) else {
                throw call.invalid("since is “\(since)”; expected Unix seconds or an RFC 3339 time")
            }
            filter.since = moment
        }
        if let unmatched = query["unmatched"] {
            guard let isUnmatched = Bool(unmatched) else {
                throw call.invalid("unmatched is “\(unmatched)”; expected true or false")
            }
            filter.isUnmatched = isUnmatched
        }
        try checkNames(filter, call)
        return filter
    }

    /// How long the call may wait; `nil` when it does not ask for that.
    static func wait(_ call: ControlCall) throws(ControlProblem) -> Duration? {
        guard let wait = call.query["wait"] else { return nil }
        guard let duration = Duration(text: wait), (.zero...longestWait).contains(duration) else {
            throw call.invalid("wait is “\(wait)”; expected a duration up to 60s, such as 2s")
        }
        return duration
    }

    /// A mistyped name would look as if nothing had happened.
    static func checkNames(_ filter: JournalFilter, _ call: ControlCall) throws(ControlProblem) {
        let vendors = call.emulator.vendors
        let named = [
            ("failure", filter.failure, vendors.flatMap { $0.failures.map(\.name) }),
            ("route", filter.route, vendors.flatMap { $0.routes.map(\.id) }),
            ("vendor", filter.vendor, vendors.map(\.identity.id)),
        ]
        for (kind, name, known) in named {
            guard let name, !known.contains(name) else { continue }
            throw call.invalid("no \(kind) is called \(name)\(Nearest.hint(to: name, among: known))")
        }
    }

    private static func number(
        _ name: String, _ call: ControlCall
    ) throws(ControlProblem) -> Int? {
        guard let text = call.query[name] else { return nil }
        guard let number = Int(text), number >= 0 else {
            throw call.invalid("\(name) is “\(text)”; expected a whole number")
        }
        return number
    }

    private static func list(_ entries: [JournalEntry], _ call: ControlCall) -> Response {
        .json([
            "sandbox": .string(call.sandboxName),
            "entries": .array(entries.map { $0.json(routes: call.emulator.routes) }),
        ])
    }

    @Sendable static func readJournalEntry(_ call: ControlCall) throws(ControlProblem) -> Answer {
        let id = call.parameters["id"]
        guard let entry = call.existingSandbox.flatMap({ sandbox in Int(id).flatMap(sandbox.journal.entry) }) else {
            throw ControlProblem(.notFound, "no-such-entry", "Sandbox \(call.sandboxName) has no journal entry \(id).")
        }
        return .ready(.json(entry.json(routes: call.emulator.routes)))
    }

    @Sendable static func clearJournal(_ call: ControlCall) throws(ControlProblem) -> Answer {
        call.sandbox.journal.clear()
        return .ready(.empty())
    }
}
