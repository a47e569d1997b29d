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
        let count = try call.query.read { $0.count("count") } ?? 1
        // Not on the loop: a journal may hold some megabytes.
        let wait = try wait(call) ?? .zero
        return .deferred { list(await call.sandbox.journal.entries(filter, atLeast: count, within: wait), call) }
    }

    private static func filter(_ call: ControlCall) throws(ControlProblem) -> JournalFilter {
        let filter = try call.query.read { query in
            var filter = JournalFilter()
            filter.vendor = query.optionalText("vendor")
            filter.route = query.optionalText("route")
            filter.failure = query.optionalText("failure")
            filter.status = query.count("status")
            filter.after = query.count("after")
            filter.since = query.value("since", expecting: "Unix seconds or an RFC 3339 time") {
                Moment(text: $0.string ?? "")
            }
            filter.isUnmatched = query.value("unmatched", expecting: "true or false") { Bool($0.string ?? "") }
            return filter
        }
        try checkNames(filter, call)
        return filter
    }

    /// How long the call may wait; `nil` when it does not ask for that.
    static func wait(_ call: ControlCall) throws(ControlProblem) -> Duration? {
        try call.query.read { query in
            query.value("wait", expecting: "a duration up to 60s, such as 2s") {
                Duration(text: $0.string ?? "").flatMap { (.zero...longestWait).contains($0) ? $0 : nil }
            }
        }
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

    private static func list(_ entries: [JournalEntry], _ call: ControlCall) -> Response {
        let redactor = call.sandbox.redactor
        return .json([
            "sandbox": .string(call.sandboxName),
            "entries": .array(entries.map { MaskedExchange($0, by: redactor).json(routes: call.emulator.routes) }),
        ])
    }

    @Sendable static func readJournalEntry(_ call: ControlCall) throws(ControlProblem) -> Answer {
        let id = call.parameters["id"]
        guard let entry = call.existingSandbox.flatMap({ sandbox in Int(id).flatMap(sandbox.journal.entry) }) else {
            throw ControlProblem(.notFound, "no-such-entry", "Sandbox \(call.sandboxName) has no journal entry \(id).")
        }
        let masked = MaskedExchange(entry, by: call.sandbox.redactor)
        return .ready(.json(masked.json(routes: call.emulator.routes)))
    }

    @Sendable static func clearJournal(_ call: ControlCall) throws(ControlProblem) -> Answer {
        call.sandbox.journal.clear()
        return .ready(.empty())
    }
}

extension FieldReader {
    /// A number from 0 in the query.
    fileprivate mutating func count(_ name: String) -> Int? {
        value(name, expecting: "a whole number") { $0.string.flatMap { Int($0) }.flatMap { $0 >= 0 ? $0 : nil } }
    }
}
