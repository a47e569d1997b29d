import Emulation
import HTTPTypes
import JSON
import Wire

extension ControlAPI {
    private static let longestWait = Duration.seconds(60)

    static func listJournal(_ call: ControlCall) throws(ControlProblem) -> Answer {
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
        case .json: list["entries"] = .array(entries.map { show($0, redactor, call) })
        case .brief:
            list["newest"] = JSON(newest)
            list["entries"] = .array(entries.map { $0.brief(redactor, call.emulator.routes) })
        case .har: return .json(HARExport.json(of: entries.map { show($0, redactor, call) }))
        case .hurl: return .text(HurlExport(entries, call.emulator, call.sandbox).text)
        }
        return .json(.object(list))
    }

    static func readJournalEntry(_ call: ControlCall) throws(ControlProblem) -> Answer {
        let id = call.parameters["id"]
        let form = try JournalQuery.form(call)
        guard let entry = call.existingSandbox.flatMap({ sandbox in Int(id).flatMap(sandbox.journal.entry) }) else {
            throw ControlProblem(.notFound, "no-such-entry", "Sandbox \(call.sandboxName) has no journal entry \(id).")
        }
        switch form {
        case .json: return .json(show(entry, call.sandbox.redactor, call))
        case .brief: return .json(entry.brief(call.sandbox.redactor, call.emulator.routes))
        // Off the event loop: a token may take twenty minting attempts.
        case .har, .hurl: return call.reading { list([entry], entry.id, form, call) }
        }
    }

    static func clearJournal(_ call: ControlCall) -> Answer {
        call.sandbox.journal.clear()
        return .ready(.empty())
    }
}

extension JournalEntry {
    fileprivate func brief(_ redactor: Redactor, _ routes: RouteTable) -> JSON {
        let masked = MaskedExchange(self, by: redactor)
        var json: JSONObject = [
            "id": JSON(id), "at": .string(moment.rfc3339), "vendor": JSON(record.vendor), "route": JSON(record.route),
            "status": JSON(response.status.code), "failure": JSON(record.failure), "reason": JSON(masked.reason),
            "method": .string(request.method.rawValue), "target": .string(masked.target),
        ]
        json["note"] = masked.note.map(JSON.string)
        json["intervention"] = masked.interventions
        if response.status.code >= 400 {
            json["nearest_routes"] = nearestRoutes(in: routes).map { .array($0.map(JSON.string)) }
        }
        return .object(json)
    }
}

/// Which entries a journal call asks for: a filter, and criteria that only a query has.
struct JournalQuery {
    enum Form: String, CaseIterable {
        case json
        /// What a list shows, as JSON.
        case brief
        /// HTTP Archive 1.2, which browsers and proxies can open.
        case har
        case hurl
    }

    private(set) var filter = JournalFilter()
    private var last: Int?
    private(set) var form = Form.json

    /// Reads a call's query.
    ///
    /// - Throws: what was found and what would be right.
    init(_ call: ControlCall) throws(ControlProblem) {
        let now = { call.existingSandbox?.now ?? call.emulator.machine() }
        self = try call.query.read { JournalQuery(&$0, now) }
        form = try Self.form(call)
        if let (_, problem) = filter.problem(among: call.emulator.vendors) { throw .invalid(problem) }
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
        filter.isUnread = query.flag("unread")
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

    func newest(of entries: [JournalEntry]) -> [JournalEntry] { last.map { Array(entries.suffix($0)) } ?? entries }

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

/// Verifying that what should have happened did.
extension ControlAPI {
    static func verifyJournal(_ call: ControlCall) throws(ControlProblem) -> Answer {
        let expectation = try call.read(.object(call.object())) { (node) throws(FixtureProblem) in
            try JournalExpectation(node, names: call.emulator.vendors)
        }
        let journal = call.sandbox.journal
        // Off the event loop: a journal may hold a thousand bodies to read.
        let wait = try wait(call) ?? .zero
        return .deferred {
            let entries = await journal.first(within: wait) {
                journal.entries()
            } where: {
                expectation.isReached(by: $0)
            }
            let verdict = expectation.verdict(on: entries, masking: call.sandbox.redactor)
            return .json(verdict.json(routes: call.emulator.routes), status: verdict.isVerified ? .ok : .conflict)
        }
    }
}

/// Which of a vendor's routes and failures the calls so far have met.
extension ControlAPI {
    static func readCoverage(_ call: ControlCall) throws(ControlProblem) -> Answer {
        let named = try call.query.read { $0.optionalText("vendor") }
        let chosen = try named.map { name throws(ControlProblem) in try call.vendor(name, .badRequest) }
        let coverage = call.existingSandbox?.journal.coverage ?? Coverage()
        let vendors = call.emulator.vendors.enumerated().filter { chosen == nil || $0.offset == chosen }
        let list = vendors.map { index, vendor -> JSON in
            let marks = call.emulator.metrics.vendors[index]
            let failures = CoveredNames(marks.failures, from: marks.firstMark, in: coverage)
            let routes = CoveredNames(
                call.emulator.metrics.routes(of: index), from: marks.firstMark + marks.failures.count, in: coverage)
            return [
                "vendor": .string(vendor.identity.id), "routes": routes.json, "failures": failures.json,
                "summary": .string(
                    "\(failures.words) failures of \(vendor.identity.title), \(routes.words) routes"
                        + CoveredNames.rest(failures.never + routes.never)),
            ]
        }
        return .json(["sandbox": .string(call.sandboxName), "vendors": .array(list)])
    }
}

private struct CoveredNames {
    let count: Int
    let never: [String]

    init(_ names: [String], from first: Int, in coverage: Coverage) {
        count = names.count
        never = names.enumerated().filter { !coverage.holds(first + $0.offset) }.map(\.element)
    }

    var words: String { "\(count - never.count) of \(count)" }

    var json: JSON { ["met": JSON(count - never.count), "all": JSON(count), "never": .array(never.map(JSON.string))] }

    /// ours: that many names are read.
    private static let mostShown = 12

    static func rest(_ never: [String]) -> String {
        guard !never.isEmpty else { return "" }
        let more = never.count > mostShown ? " and \(never.count - mostShown) more" : ""
        return "; never met: " + never.prefix(mostShown).joined(separator: ", ") + more
    }
}

/// Exchanges as HTTP Archive 1.2, which browser tools, Charles and Proxyman can open.
///
/// It is made from what the journal shows, so it contains no secrets either.
enum HARExport {
    static func json(of entries: [JSON]) -> JSON {
        [
            "log": [
                "version": "1.2", "creator": ["name": "Understudy", "version": .string(Emulator.version)],
                "entries": .array(entries.map(exchange)),
            ]
        ]
    }

    /// No durations are measured: they are 0 rather than -1, since the total must be a sum.
    private static func exchange(_ entry: JSON) -> JSON {
        let comment =
            ["route", "failure", "reason"].compactMap { entry[$0]?.string }
            + [InterventionText.line(entry["intervention"])].compactMap(\.self)
        return [
            "startedDateTime": entry["at"] ?? .null, "time": 0,
            "request": request(entry["request"] ?? [:]), "response": response(entry["response"] ?? [:]), "cache": [:],
            "timings": ["send": 0, "wait": 0, "receive": 0], "comment": .string(comment.joined(separator: ": ")),
        ]
    }

    private static func request(_ request: JSON) -> JSON {
        let target = request["target"]?.string ?? ""
        let query = target.split(separator: "?", maxSplits: 1).dropFirst().first ?? ""
        let (text, lack) = content(of: request)
        var json: JSONObject = [
            "method": request["method"] ?? .null,
            "url": .string("http://\(field("host", of: request) ?? "127.0.0.1")\(target)"),
            "httpVersion": "HTTP/1.1",
            "cookies": [], "headers": headers(of: request),
            "queryString": .array(query.split(separator: "&").map(parameter)), "headersSize": -1,
            "bodySize": JSON(text?.utf8.count ?? 0),
        ]
        if let text {
            var data: JSONObject = [
                "mimeType": .string(field("content-type", of: request) ?? ""), "text": .string(text),
            ]
            data["comment"] = lack.map(JSON.string)
            json["postData"] = .object(data)
        }
        return .object(json)
    }

    /// A request's content as text, `nil` when there is none; and, in words, why the text differs from what was sent.
    /// The journal shows a JSON string, a text, and a placeholder for either in the same form; the length that the
    /// client declared distinguishes them. If neither length fits, it is a JSON string that is partly masked or spelled
    /// differently.
    private static func content(of request: JSON) -> (text: String?, lack: String?) {
        guard let body = request["body"], let shown = body.string else { return (text(request["body"]), nil) }
        let length = field("content-length", of: request).flatMap { Int($0) }
        if let lack = MaskedExchange.lack(shownAs: shown, length: length) { return ("", lack) }
        return (length == shown.utf8.count ? shown : body.text, nil)
    }

    private static func parameter(_ text: Substring) -> JSON {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map {
            JSON.string(String(PercentEncoding.decode($0) ?? $0))
        }
        return ["name": parts[0], "value": parts.count > 1 ? parts[1] : ""]
    }

    private static func response(_ response: JSON) -> JSON {
        let text = text(response["body"]) ?? ""
        return [
            "status": response["status"] ?? .null, "statusText": "", "httpVersion": "HTTP/1.1", "cookies": [],
            "headers": headers(of: response),
            "content": [
                "size": JSON(text.utf8.count), "mimeType": .string(field("content-type", of: response) ?? ""),
                "text": .string(text),
            ],
            "redirectURL": .string(field("location", of: response) ?? ""), "headersSize": -1,
            "bodySize": JSON(text.utf8.count),
        ]
    }

    private static func headers(of message: JSON) -> JSON {
        .array((message["headers"]?.array ?? []).map { ["name": $0[0] ?? .null, "value": $0[1] ?? .null] })
    }

    private static func field(_ name: String, of message: JSON) -> String? {
        message["headers"]?.array?.first { $0[0]?.string?.lowercased() == name }?[1]?.string
    }

    /// Content as text; `nil` when there is none.
    private static func text(_ body: JSON?) -> String? {
        guard let body, !body.isNull else { return nil }
        return body.string ?? body.text
    }
}
