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
    /// The number of newest entries to return.
    private var last: Int?
    private(set) var form = Form.json

    /// Reads a call's query.
    ///
    /// - Throws: what was found and what would be right.
    init(_ call: ControlCall) throws(ControlProblem) {
        let now = { call.existingSandbox?.now ?? call.emulator.machine() }
        self = try call.query.read { JournalQuery(&$0, now) }
        form = try Self.form(call)
        try ControlAPI.checkNames(filter, call)
    }

    private init(_ query: inout FieldReader, _ now: () -> Moment) {
        filter.vendor = query.optionalText("vendor")
        filter.route = query.optionalText("route")
        filter.failure = query.optionalText("failure")
        filter.after = query.count("after")
        filter.since = Self.moment(&query, now)
        filter.isUnmatched = query.flag("unmatched")
        filter.isRefused = query.flag("refused")
        filter.isNoted = query.flag("noted")
        filter.status = query.value("status", expecting: "a whole number, or a class such as 4xx") {
            JournalFilter.Status($0.string ?? "")
        }
        last = query.count("last")
    }

    static func form(_ call: ControlCall) throws(ControlProblem) -> Form {
        try call.query.read { query in
            query.value("format", expecting: "one of \(Form.allCases.map(\.rawValue).joined(separator: ", "))") {
                Form(rawValue: $0.string ?? "")
            }
        } ?? .json
    }

    /// The newest of the entries, as many as requested.
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
