/// Selects journal entries; a `nil` property admits every entry.
public struct JournalFilter: Sendable {
    /// The vendor's id.
    public var vendor: String?
    /// The route's id.
    public var route: String?
    /// The status code.
    public var status: Int?
    /// The failure's name.
    public var failure: String?
    /// The earliest moment, by the sandbox's clock.
    public var since: Moment?
    /// Admits only entries after that number.
    public var after: Int?
    /// Whether the exchange matched no route (`true`) or one (`false`).
    public var isUnmatched: Bool?

    /// Creates a filter that admits every entry.
    public init() {}

    /// Whether the filter admits the entry.
    public func admits(_ entry: JournalEntry) -> Bool {
        (vendor == nil || entry.record.vendor == vendor)
            && (route == nil || entry.record.route == route)
            && (status == nil || entry.response.status.code == status)
            && (failure == nil || entry.record.failure == failure)
            && since.map { entry.moment >= $0 } != false
            && after.map { entry.id > $0 } != false
            && (isUnmatched == nil || (entry.record.route == nil) == isUnmatched)
    }

    /// The criteria that the entry does not satisfy.
    func misses(for entry: JournalEntry) -> [ExchangeCondition.Miss] {
        let record = entry.record
        let parts: [(name: String, expected: String?, found: String?, holds: Bool)] = [
            ("vendor", vendor, record.vendor, vendor == record.vendor),
            ("route", route, record.route, route == record.route),
            ("status", status.map(String.init), "\(entry.response.status.code)", status == entry.response.status.code),
            ("failure", failure, record.failure, failure == record.failure),
            ("since", since?.rfc3339, entry.moment.rfc3339, since.map { entry.moment >= $0 } ?? true),
            ("after", after.map(String.init), "\(entry.id)", after.map { entry.id > $0 } ?? true),
            (
                "unmatched", isUnmatched.map { "\($0)" }, "\(record.route == nil)",
                (record.route == nil) == isUnmatched
            ),
        ]
        return parts.compactMap { part in
            guard let expected = part.expected, !part.holds else { return nil }
            return ExchangeCondition.Miss(condition: part.name, expected: expected, found: part.found)
        }
    }
}
