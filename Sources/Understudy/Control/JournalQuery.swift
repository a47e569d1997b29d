import Emulation
import JSON
import Wire

/// Which entries a call of the journal asks for: those of a filter, and what only the query of a call can say.
struct JournalQuery {
    /// In what form entries are given.
    enum Form: String, CaseIterable {
        /// Everything, as JSON.
        case json
        /// What a list needs, as JSON.
        case brief
        /// HTTP Archive 1.2, which browsers and proxies open.
        case har
        /// Contract cases that can be run.
        case hurl
    }

    private(set) var filter = JournalFilter()
    private var statusClass: Int?
    private var isRefused: Bool?
    /// The routes that a pattern means.
    private var routes: Set<String>?
    /// How many of the newest entries are meant.
    private var last: Int?
    private(set) var form = Form.json

    /// Reads the query of a call.
    ///
    /// - Throws: what was found and what would be right.
    init(_ call: ControlCall) throws(ControlProblem) {
        let query = call.query
        filter.vendor = query["vendor"]
        filter.failure = query["failure"]
        filter.after = try Self.number("after", call)
        filter.since = try Self.moment("since", call)
        filter.isUnmatched = try Self.bool("unmatched", call)
        isRefused = try Self.bool("refused", call)
        last = try Self.number("last", call)
        try readStatus(call)
        try readRoute(call)
        form = try Self.form(call)
        try ControlAPI.checkNames(filter, call)
    }

    /// The form that a call asks for.
    static func form(_ call: ControlCall) throws(ControlProblem) -> Form {
        guard let name = call.query["format"] else { return .json }
        guard let form = Form(rawValue: name) else {
            let known = Form.allCases.map(\.rawValue)
            throw call.invalid("format is “\(name)”; expected one of \(known.joined(separator: ", "))")
        }
        return form
    }

    /// `404`, or `4xx` for all that begin so.
    private mutating func readStatus(_ call: ControlCall) throws(ControlProblem) {
        guard let text = call.query["status"] else { return }
        if text.lowercased().hasSuffix("xx"), let first = text.first?.wholeNumberValue, text.count == 3,
            (1...5) ~= first
        {
            statusClass = first
        } else if let status = Int(text), status >= 0 {
            filter.status = status
        } else {
            throw call.invalid("status is “\(text)”; expected a whole number, or a class such as 4xx")
        }
    }

    /// A route's id, or a pattern of ids with `*`.
    private mutating func readRoute(_ call: ControlCall) throws(ControlProblem) {
        guard let text = call.query["route"] else { return }
        guard text.contains("*") else { return filter.route = text }
        let all = call.emulator.vendors.flatMap { $0.routes.map(\.id) }
        let pattern = Wildcard(text)
        routes = Set(all.filter(pattern.matches))
        if routes?.isEmpty == true {
            throw call.invalid("no route fits \(text)\(Nearest.hint(to: text, among: all))")
        }
    }

    /// The entries in a journal that are meant, but for the bound on their number.
    func entries(in journal: Journal) -> [JournalEntry] {
        let found = journal.entries(filter)
        return statusClass == nil && isRefused == nil && routes == nil ? found : found.filter(admits)
    }

    private func admits(_ entry: JournalEntry) -> Bool {
        let record = entry.record
        return statusClass.map { entry.response.status.code / 100 == $0 } != false
            && isRefused.map { (record.failure != nil) == $0 } != false
            && routes.map { routes in record.route.map(routes.contains) == true } != false
    }

    /// The newest of them, as many as were asked for.
    func newest(of entries: [JournalEntry]) -> [JournalEntry] {
        last.map { Array(entries.suffix($0)) } ?? entries
    }

    /// A whole number that is not negative.
    static func number(_ name: String, _ call: ControlCall) throws(ControlProblem) -> Int? {
        guard let text = call.query[name] else { return nil }
        guard let number = Int(text), number >= 0 else {
            throw call.invalid("\(name) is “\(text)”; expected a whole number")
        }
        return number
    }

    private static func bool(_ name: String, _ call: ControlCall) throws(ControlProblem) -> Bool? {
        guard let text = call.query[name] else { return nil }
        guard let value = Bool(text) else { throw call.invalid("\(name) is “\(text)”; expected true or false") }
        return value
    }

    /// A moment, or how long ago it is by the sandbox's clock.
    private static func moment(_ name: String, _ call: ControlCall) throws(ControlProblem) -> Moment? {
        guard let text = call.query[name] else { return nil }
        if let moment = Moment(text: text) { return moment }
        guard let duration = Duration(text: text), duration >= .zero else {
            throw call.invalid(
                "\(name) is “\(text)”; expected Unix seconds, an RFC 3339 time, or a duration before now such as 5m")
        }
        return (call.existingSandbox?.now ?? call.emulator.machine()) - duration
    }
}
