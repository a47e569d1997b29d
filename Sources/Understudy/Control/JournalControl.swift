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
    ]
    private static let waitParameter = ControlOperation.Parameter(
        "wait", "How long to wait for so many entries, at most 60s.", NamedSchema.wait.reference)
    private static let countParameter = ControlOperation.Parameter(
        "count", "How many entries to wait for; 1.", Schema.integer("A number.", from: 0, to: .max))

    /// The longest wait that a call may ask for.
    private static let longestWait = Duration.seconds(60)

    @Sendable static func listJournal(_ call: ControlCall) throws(ControlProblem) -> Answer {
        let query = call.query
        try checkNames(query, call)
        var filter = JournalFilter()
        filter.vendor = query["vendor"]
        filter.route = query["route"]
        filter.failure = query["failure"]
        filter.status = try number("status", query, call)
        filter.after = try number("after", query, call)
        if let since = query["since"] {
            guard let moment = Moment(text: since) else {
                throw call.invalid("since is “\(since)”; expected Unix seconds or an RFC 3339 time")
            }
            filter.since = moment
        }
        let count = try number("count", query, call) ?? 1
        guard let wait = query["wait"] else { return .ready(list(call.sandbox.journal.entries(filter), call)) }
        guard let duration = Duration(text: wait), (.zero...longestWait).contains(duration) else {
            throw call.invalid("wait is “\(wait)”; expected a duration up to 60s, such as 2s")
        }
        return .deferred { [filter] in
            list(await call.sandbox.journal.entries(filter, atLeast: count, within: duration), call)
        }
    }

    /// A mistyped name would look as if nothing had happened.
    private static func checkNames(_ query: [String: String], _ call: ControlCall) throws(ControlProblem) {
        let vendors = call.emulator.vendors
        let known = [
            "vendor": vendors.map(\.identity.id), "route": vendors.flatMap { $0.routes.map(\.id) },
            "failure": vendors.flatMap { $0.failures.map(\.name) },
        ]
        for (parameter, names) in known.sorted(by: { $0.key < $1.key }) {
            guard let name = query[parameter], !names.contains(name) else { continue }
            throw call.invalid("no \(parameter) is called \(name)\(Nearest.hint(to: name, among: names))")
        }
    }

    private static func number(
        _ name: String, _ query: [String: String], _ call: ControlCall
    ) throws(ControlProblem) -> Int? {
        guard let text = query[name] else { return nil }
        guard let number = Int(text), number >= 0 else {
            throw call.invalid("\(name) is “\(text)”; expected a whole number")
        }
        return number
    }

    private static func list(_ entries: [JournalEntry], _ call: ControlCall) -> Response {
        .json([
            "sandbox": .string(call.sandbox.name),
            "entries": .array(entries.map { $0.json(routes: call.emulator.routes) }),
        ])
    }

    @Sendable static func readJournalEntry(_ call: ControlCall) throws(ControlProblem) -> Answer {
        let id = call.parameters["id"]
        guard let entry = Int(id).flatMap(call.sandbox.journal.entry) else {
            throw ControlProblem(.notFound, "no-such-entry", "Sandbox \(call.sandbox.name) has no journal entry \(id).")
        }
        return .ready(.json(entry.json(routes: call.emulator.routes)))
    }

    @Sendable static func clearJournal(_ call: ControlCall) throws(ControlProblem) -> Answer {
        call.sandbox.journal.clear()
        return .ready(.empty())
    }
}
