import JSON
import Tokens
import Wire

/// What an exchange must be like: its outcome, as a ``JournalFilter`` selects it, the parts of an
/// ``ExchangeCondition``, and in a sequence which token it carries.
struct JournalCriteria: Sendable {
    /// How the token of an exchange relates to that of the step before.
    enum TokenRelation: String, Sendable, CaseIterable {
        case same, other

        fileprivate var words: String { self == .same ? "the same as" : "another than" }
    }

    var filter: JournalFilter
    private let condition: ExchangeCondition
    private let token: TokenRelation?
    /// The members as written, such as `route jwt.create, status 2xx`.
    let words: String

    private static let filters = [
        "vendor", "route", "status", "failure", "refused", "noted", "unread", "since", "after", "unmatched",
    ]
    static let members = filters + ExchangeCondition.members

    init() { (filter, condition, token, words) = (JournalFilter(), ExchangeCondition(), nil, "any") }

    /// Reads criteria among other members.
    ///
    /// - Parameter vendors: those whose names may occur; without any, names are not checked.
    init(_ mapping: FixtureMapping, _ vendors: [any AnyLoadedVendor]) throws(FixtureProblem) {
        filter = try Self.filter(mapping)
        condition = try ExchangeCondition(mapping)
        token = try mapping["token"]?.choice(of: TokenRelation.self)
        var words: [String] = []
        for (name, node) in mapping.members where name == "token" || Self.members.contains(name) {
            let value = try node.json()
            words.append("\(name) \(value.string ?? value.text)")
        }
        self.words = words.isEmpty ? "any" : words.joined(separator: ", ")
        if !vendors.isEmpty, let (name, problem) = filter.problem(among: vendors) {
            throw mapping[name]?.problem(problem) ?? mapping.node.problem(problem)
        }
    }

    /// Reads the mapping of a `where`; one that refers to another exchange may have `token`.
    init(_ node: FixtureNode, refersBack: Bool = false, _ vendors: [any AnyLoadedVendor]) throws(FixtureProblem) {
        try self.init(node.mapping(Self.members + (refersBack ? ["token"] : [])), vendors)
    }

    private static func filter(_ mapping: FixtureMapping) throws(FixtureProblem) -> JournalFilter {
        var filter = JournalFilter()
        if let node = mapping["vendor"] {
            filter.isOtherVendor = try node.json().object != nil
            filter.vendor = try filter.isOtherVendor ? node.mapping("not").required("not").string() : node.string()
        }
        filter.route = try mapping["route"]?.string()
        filter.failure = try mapping["failure"]?.string()
        filter.status = try mapping["status"].map { node throws(FixtureProblem) in
            guard let text = try node.json().string else { return .code(try node.wholeNumber()) }
            if let status = JournalFilter.Status(text) { return status }
            throw node.problem("\(text) is not a status; expected a whole number, or a class such as 4xx")
        }
        filter.isRefused = try mapping["refused"]?.bool()
        filter.isNoted = try mapping["noted"]?.bool()
        filter.isUnread = try mapping["unread"]?.bool()
        filter.after = try mapping["after"]?.wholeNumber()
        filter.isUnmatched = try mapping["unmatched"]?.bool()
        filter.since = try mapping["since"].map { node throws(FixtureProblem) in
            let value = try node.json()
            if let moment = Moment(value) { return moment }
            throw node.problem("since is \(value.text); expected Unix seconds or an RFC 3339 time")
        }
        return filter
    }

    // MARK: Judging

    /// ours: a thousand entries that fill a journal take about two million steps; a query may visit each value often.
    static let mostSteps = 20_000_000

    /// Whether the entry matches; `nil` when deciding would exceed the shared remainder of steps.
    ///
    /// - Parameter previous: the exchange whose token it is compared with.
    func judge(_ entry: JournalEntry, after previous: JournalEntry? = nil, within left: inout Int) -> Bool? {
        guard filter.admits(entry) else { return false }
        let budget = WorkBudget(steps: min(WorkBudget.standardSteps, left))
        let matchContext = entry.matchContext(budget)
        let holds = condition.holds(for: matchContext)
        left -= matchContext.spending { budget.left - $0.left }
        if matchContext.isBeyondBudget { return nil }
        return holds && tokenMiss(of: entry, after: previous) == nil
    }

    private func tokenMiss(of entry: JournalEntry, after previous: JournalEntry?) -> ExchangeCondition.Miss? {
        guard let token, let previous else { return nil }
        let known = previous.request.carriedToken
        let relation = entry.request.carriedToken.map { $0 == known ? TokenRelation.same : .other }
        if relation == token { return nil }
        return ExchangeCondition.Miss(
            condition: "token", expected: "\(token.words) in entry \(previous.id)",
            found: relation == .same ? "the same" : relation == .other ? "another" : nil)
    }

    // MARK: Near misses

    /// The exchanges that come closest, least remote first, then those with the fewest misses, then the latest.
    func nearest(
        among entries: some Sequence<JournalEntry>, after previous: JournalEntry? = nil, _ redactor: Redactor
    ) -> [JournalVerdict.NearMiss] {
        let counted = entries.map { entry in
            let missed = filter.misses(for: entry) + condition.misses(for: entry.matchContext(Self.nearMissBudget))
            let token = tokenMiss(of: entry, after: previous) == nil ? 0 : 1
            return (entry: entry, remoteness: remoteness(of: entry, missed), misses: missed.count + token)
        }
        // Only what is shown is masked.
        return counted.sorted {
            ($0.remoteness, $0.misses, $1.entry.id) < ($1.remoteness, $1.misses, $0.entry.id)
        }.prefix(JournalVerdict.shown).map {
            nearMiss($0.entry, misses(for: $0.entry, after: previous, redactor), redactor)
        }
    }

    /// How remote an exchange is from the expected ones, whatever else it misses: a call of another route explains
    /// little, and one that matched no route, such as a browser's request for its icon, least of all.
    private func remoteness(of entry: JournalEntry, _ missed: [ExchangeCondition.Miss]) -> Int {
        let isMeant =
            if let route = filter.route {
                entry.isMeant(for: route)
            } else {
                !missed.contains { $0.condition == "path" || $0.condition == "vendor" }
            }
        let isStray = entry.record.route == nil && entry.meantRoute == nil && filter.isUnmatched != true
        return (isMeant ? 0 : 1) + (isStray ? 2 : 0)
    }

    private func misses(
        for entry: JournalEntry, after previous: JournalEntry?, _ redactor: Redactor
    ) -> [ExchangeCondition.Miss] {
        filter.misses(for: entry)
            + condition.misses(
                for: entry.matchContext(Self.nearMissBudget),
                shownAs: MaskedExchange(entry, by: redactor).matchContext)
            + [tokenMiss(of: entry, after: previous)].compactMap(\.self)
    }

    private static var nearMissBudget: WorkBudget { WorkBudget(steps: 100_000) }

    func inExcess(_ entries: some Sequence<JournalEntry>, _ redactor: Redactor) -> [JournalVerdict.NearMiss] {
        entries.prefix(JournalVerdict.shown).map { nearMiss($0, [], redactor) }
    }

    func nearMiss(
        _ entry: JournalEntry, _ missed: [ExchangeCondition.Miss], _ redactor: Redactor
    ) -> JournalVerdict.NearMiss {
        let exchange = MaskedExchange(entry, by: redactor)
        return JournalVerdict.NearMiss(
            entry: entry, missed: missed, summary: exchange.summary, reason: exchange.reason,
            note: filter.isUnread == true ? exchange.note : nil)
    }
}

extension JournalFilter {
    /// The criterion that no exchange can satisfy since a name is unknown, which would look as if nothing had happened,
    /// with what is wrong; `nil` for none.
    package func problem(among vendors: [any AnyLoadedVendor]) -> (criterion: String, text: String)? {
        let routes = vendors.flatMap { $0.routes.map(\.id) }
        let named = [
            ("failure", failure, vendors.flatMap(\.failureNames)), ("route", route, routes),
            ("vendor", vendor, vendors.map(\.identity.id)),
        ]
        for (kind, name, known) in named {
            guard let name, !known.contains(name) else { continue }
            guard kind == "route", name.utf8.contains(UInt8(ascii: "*")) else {
                return (kind, "no \(kind) is called \(name)\(Nearest.hint(to: name, among: known))")
            }
            if known.contains(where: Wildcard(name).matches) { continue }
            return (kind, "no route fits \(name)\(Nearest.hint(to: name, among: known))")
        }
        return nil
    }
}

/// Selects journal entries; a `nil` property admits every entry.
package struct JournalFilter: Sendable {
    package var vendor: String?
    /// Whether every exchange but those of the vendor is meant.
    var isOtherVendor = false
    /// The route's id, or a pattern of ids with `*`.
    package var route: String? {
        didSet { routePattern = route.flatMap { $0.utf8.contains(UInt8(ascii: "*")) ? Wildcard($0) : nil } }
    }
    private var routePattern: Wildcard?
    package var status: Status?
    /// Whether the exchange has a failure (`true`) or none (`false`).
    package var isRefused: Bool?
    /// Whether the exchange was accepted with a remark (`true`) or not (`false`).
    package var isNoted: Bool?
    /// Whether it was accepted with a field that nobody read (`true`) or without (`false`).
    package var isUnread: Bool?
    package var failure: String?
    /// The earliest moment, by the sandbox's clock.
    package var since: Moment?
    /// Admits only entries after that number.
    package var after: Int?
    /// Whether the exchange matched no route (`true`) or one (`false`).
    package var isUnmatched: Bool?

    package enum Status: Sendable, Hashable, CustomStringConvertible {
        case code(Int)
        /// The first digit.
        case group(Int)

        /// Reads a whole number, or a class such as `4xx`.
        package init?(_ text: String) {
            let digits = Array(text.utf8)
            if digits.count == 3, digits[1] | 0x20 == 0x78, digits[2] | 0x20 == 0x78, (0x31...0x35) ~= digits[0] {
                self = .group(Int(digits[0] - 0x30))
            } else if let code = Int(text), code >= 0 {
                self = .code(code)
            } else {
                return nil
            }
        }

        package var description: String {
            switch self {
            case .code(let code): "\(code)"
            case .group(let first): "\(first)xx"
            }
        }

        func admits(_ code: Int) -> Bool {
            switch self {
            case .code(let own): code == own
            case .group(let first): code / 100 == first
            }
        }
    }

    package init() {}

    package func admits(_ entry: JournalEntry) -> Bool {
        (vendor == nil || (entry.record.vendor == vendor) != isOtherVendor)
            && (route == nil || isRoute(entry.record.route))
            && status.map { $0.admits(entry.response.status.code) } != false
            && (isRefused == nil || (entry.record.failure != nil) == isRefused)
            && (isNoted == nil || (entry.note != nil) == isNoted)
            && (isUnread == nil || (entry.unread != nil) == isUnread)
            && (failure == nil || entry.record.failure == failure)
            && since.map { entry.moment >= $0 } != false
            && after.map { entry.id > $0 } != false
            && (isUnmatched == nil || (entry.record.route == nil) == isUnmatched)
    }

    private func isRoute(_ id: String?) -> Bool {
        guard let id, let routePattern else { return id == route }
        return routePattern.matches(id)
    }

    func misses(for entry: JournalEntry) -> [ExchangeCondition.Miss] {
        typealias Part = (name: String, expected: String?, found: String?, holds: Bool)
        func flag(_ name: String, _ expected: Bool?, _ found: Bool) -> Part {
            (name, expected.map { "\($0)" }, "\(found)", found == expected)
        }
        let (record, code) = (entry.record, entry.response.status.code)
        let wantedVendor = vendor.map { isOtherVendor ? "other than \($0)" : $0 }
        let isVendor = (vendor == record.vendor) != isOtherVendor
        let parts: [Part] = [
            ("vendor", wantedVendor, record.vendor, isVendor),
            ("route", route, record.route, isRoute(record.route)),
            ("status", status?.description, "\(code)", status.map { $0.admits(code) } != false),
            ("failure", failure, record.failure, failure == record.failure),
            flag("refused", isRefused, record.failure != nil), flag("noted", isNoted, entry.note != nil),
            flag("unread", isUnread, entry.unread != nil),
            ("since", since?.rfc3339, entry.moment.rfc3339, since.map { entry.moment >= $0 } ?? true),
            ("after", after.map(String.init), "\(entry.id)", after.map { entry.id > $0 } ?? true),
            flag("unmatched", isUnmatched, record.route == nil),
        ]
        return parts.compactMap { part in
            guard let expected = part.expected, !part.holds else { return nil }
            return ExchangeCondition.Miss(condition: part.name, expected: expected, found: part.found)
        }
    }
}
