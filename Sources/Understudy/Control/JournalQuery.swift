import Emulation
import JSON
import Wire

/// Which entries a journal call asks for: a filter, and criteria that only a query has.
struct JournalQuery {
    /// The output format of entries.
    enum Form: String, CaseIterable {
        /// Everything, as JSON.
        case json
        /// What a list shows, as JSON.
        case brief
        /// HTTP Archive 1.2, which browsers and proxies can open.
        case har
        /// Executable contract cases.
        case hurl
    }

    private(set) var filter = JournalFilter()
    private var statusClass: Int?
    private var isRefused: Bool?
    /// The routes that a pattern matches.
    private var routes: Set<String>?
    /// The number of newest entries to return.
    private var last: Int?
    private(set) var form = Form.json

    /// Reads a call's query.
    ///
    /// - Throws: what was found and what would be right.
    init(_ call: ControlCall) throws(ControlProblem) {
        let now = { call.existingSandbox?.now ?? call.emulator.machine() }
        let routes = call.emulator.vendors.flatMap { $0.routes.map(\.id) }
        self = try call.query.read { JournalQuery(&$0, now, routes) }
        form = try Self.form(call)
        try ControlAPI.checkNames(filter, call)
    }

    private init(_ query: inout FieldReader, _ now: () -> Moment, _ known: [String]) {
        filter.vendor = query.optionalText("vendor")
        filter.failure = query.optionalText("failure")
        filter.after = query.count("after")
        filter.since = Self.moment(&query, now)
        filter.isUnmatched = query.flag("unmatched")
        isRefused = query.flag("refused")
        last = query.count("last")
        readStatus(&query)
        readRoute(&query, known)
    }

    /// The format that a call asks for.
    static func form(_ call: ControlCall) throws(ControlProblem) -> Form {
        try call.query.read { query in
            query.value("format", expecting: "one of \(Form.allCases.map(\.rawValue).joined(separator: ", "))") {
                Form(rawValue: $0.string ?? "")
            }
        } ?? .json
    }

    /// `404`, or `4xx` for all statuses with that first digit.
    private mutating func readStatus(_ query: inout FieldReader) {
        let read = query.value("status", expecting: "a whole number, or a class such as 4xx") {
            Status($0.string ?? "")
        }
        switch read {
        case .code(let code): filter.status = code
        case .group(let first): statusClass = first
        case nil: break
        }
    }

    private enum Status {
        case code(Int)
        /// The first digit.
        case group(Int)

        init?(_ text: String) {
            let digits = Array(text.utf8)
            if digits.count == 3, digits[1] | 0x20 == 0x78, digits[2] | 0x20 == 0x78, (0x31...0x35) ~= digits[0] {
                self = .group(Int(digits[0] - 0x30))
            } else if let code = Int(text), code >= 0 {
                self = .code(code)
            } else {
                return nil
            }
        }
    }

    /// A route's id, or a pattern of ids with `*`.
    private mutating func readRoute(_ query: inout FieldReader, _ known: [String]) {
        guard let text = query.optionalText("route") else { return }
        guard text.utf8.contains(UInt8(ascii: "*")) else { return filter.route = text }
        let pattern = Wildcard(text)
        let found = Set(known.filter(pattern.matches))
        if found.isEmpty { query.refuse("route", "no route fits \(text)\(Nearest.hint(to: text, among: known))") }
        routes = found
    }

    /// The matching entries in a journal, without the limit on their number.
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

    /// The newest of them, as many as requested.
    func newest(of entries: [JournalEntry]) -> [JournalEntry] {
        last.map { Array(entries.suffix($0)) } ?? entries
    }

    /// A moment, or how long ago it was by the sandbox's clock.
    private static func moment(_ query: inout FieldReader, _ now: () -> Moment) -> Moment? {
        query.value(
            "since", expecting: "Unix seconds, an RFC 3339 time, or a duration before now such as 5m"
        ) { value in
            let text = value.string ?? ""
            if let moment = Moment(text: text) { return moment }
            return Duration(text: text).flatMap { $0 >= .zero ? now() - $0 : nil }
        }
    }
}
