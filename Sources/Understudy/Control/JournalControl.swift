import Emulation
import JSON
import Wire

/// Reading and clearing the journal.
extension ControlAPI {
    static let journalOperations: [ControlOperation] = [
        ControlOperation(
            "journal.list", .get, "/journal", "The exchanges that a filter admits, the oldest first.",
            handler: listJournal),
        ControlOperation(
            "journal.clear", .delete, "/journal", "Forgets all exchanges.", status: .noContent, handler: clearJournal),
        ControlOperation("journal.get", .get, "/journal/{id}", "One exchange.", handler: readJournalEntry),
    ]

    /// The longest wait that a call may ask for.
    private static let longestWait = Duration.seconds(60)

    @Sendable static func listJournal(_ call: ControlCall) throws(ControlProblem) -> Answer {
        let query = try call.query("vendor", "route", "status", "failure", "since", "after", "wait", "count")
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
