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

        /// The code, or the class such as `4xx`.
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

    /// The criteria that the entry does not satisfy.
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
