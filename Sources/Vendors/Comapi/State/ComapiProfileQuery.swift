import JSON
import Wire

/// A query for profiles, in the language of npm `mongo-querystring` as far as the SDKs use it.
///
/// Source: operators observed, JS SDK profileManager.ts and Android SDK QueryBuilder.java; typing of values is ours.
struct ComapiProfileQuery: Sendable {
    /// ours: limits, so that a call stays fast.
    static let capacity = 100
    static let rowLimit = 1000

    private enum Test: Sendable {
        case exists
        case isAbsent
        case equal(String)
        case notEqual(String)
        case oneOf([String])
        case noneOf([String])
        case order(Order, String)
        case text(Part, String)
    }

    private enum Order: Sendable { case greater, greaterOrEqual, less, lessOrEqual }
    private enum Part: Sendable { case start, end, anywhere }

    private var terms: [(path: [Substring], test: Test)] = []

    /// The number of terms, all of which must hold.
    var termCount: Int { terms.count }

    /// ours: the maximum length of a value, in bytes, and of the part of a text searched for it; a query runs with the
    /// state locked, so it must be fast.
    static let longestValue = 256
    private static let searchedBytes = 4096

    /// The number of values in the terms, and the length of the longest in bytes.
    private(set) var valueCount = 0
    private(set) var longestValue = 0

    /// Reads the raw text after the question mark; `+` stays `+`.
    init(_ text: Substring) {
        var (one, none): ([String: [String]], [String: [String]]) = ([:], [:])
        for (name, value) in PercentEncoding.items(of: text) {
            valueCount += 1
            longestValue = max(longestValue, value.utf8.count)
            if name.hasSuffix("[]") {
                let name = String(name.dropLast(2))
                if value.hasPrefix("!") {
                    none[name, default: []].append(String(value.dropFirst()))
                } else {
                    one[name, default: []].append(value)
                }
            } else if name.hasSuffix("!") {
                // The iOS SDK writes `k!=v`.
                add(String(name.dropLast()), value.isEmpty ? .isAbsent : .notEqual(value))
            } else {
                add(name, Self.test(value))
            }
        }
        for (name, values) in one { add(name, .oneOf(values)) }
        for (name, values) in none { add(name, .noneOf(values)) }
    }

    private mutating func add(_ name: String, _ test: Test) {
        terms.append((name.split(separator: ".", omittingEmptySubsequences: false), test))
    }

    private static func test(_ value: String) -> Test {
        if value.isEmpty { return .exists }
        if value == "!" { return .isAbsent }
        for (sign, test) in signs where value.utf8.starts(with: sign.utf8) {
            return test(String(decoding: value.utf8.dropFirst(sign.utf8.count), as: UTF8.self))
        }
        return .equal(value)
    }

    /// Longer operators come first.
    private static let signs: [(String, @Sendable (String) -> Test)] = [
        (">=", { .order(.greaterOrEqual, $0) }), ("<=", { .order(.lessOrEqual, $0) }),
        (">", { .order(.greater, $0) }), ("<", { .order(.less, $0) }), ("!", { .notEqual($0) }),
        ("^", { .text(.start, $0) }), ("$", { .text(.end, $0) }), ("~", { .text(.anywhere, $0) }),
    ]

    /// Whether all terms hold for a profile.
    func matches(_ profile: JSONObject) -> Bool {
        terms.allSatisfy { term in Self.holds(term.test, for: Self.value(at: term.path[...], in: profile)) }
    }

    private static func value(at path: ArraySlice<Substring>, in object: JSONObject) -> JSON? {
        guard let name = path.first, let value = object[String(name)] else { return nil }
        let rest = path.dropFirst()
        if rest.isEmpty { return value }
        return value.object.flatMap { Self.value(at: rest, in: $0) }
    }

    private static func holds(_ test: Test, for value: JSON?) -> Bool {
        switch test {
        case .exists: value != nil
        case .isAbsent: value == nil
        case .equal(let wanted): value.map { equals($0, wanted) } ?? false
        case .notEqual(let wanted): value.map { !equals($0, wanted) } ?? true
        case .oneOf(let wanted): value.map { value in wanted.contains { equals(value, $0) } } ?? false
        case .noneOf(let wanted): value.map { value in !wanted.contains { equals(value, $0) } } ?? true
        case .order(let order, let wanted): value.map { compare($0, order, wanted) } ?? false
        case .text(let part, let wanted): value.flatMap(text).map { contains($0, part, wanted) } ?? false
        }
    }

    /// A text that parses as a number or boolean equals both itself and that value.
    private static func equals(_ value: JSON, _ wanted: String) -> Bool {
        switch value {
        case .string(let text): text.hasSameBytes(as: wanted)
        case .number(let number): self.number(wanted).map(number.isEquivalent(to:)) ?? false
        case .bool(let bool): wanted == (bool ? "true" : "false")
        case .null, .array, .object: false
        }
    }

    private static func compare(_ value: JSON, _ order: Order, _ wanted: String) -> Bool {
        if let number = value.number, let wanted = self.number(wanted) {
            return holds(order, isLess: number.isLess(than: wanted), isGreater: wanted.isLess(than: number))
        }
        guard let text = text(value).map({ ComapiID($0) }) else { return false }
        return holds(order, isLess: text < ComapiID(wanted), isGreater: ComapiID(wanted) < text)
    }

    private static func holds(_ order: Order, isLess: Bool, isGreater: Bool) -> Bool {
        switch order {
        case .greater: isGreater
        case .greaterOrEqual: !isLess
        case .less: isLess
        case .lessOrEqual: !isGreater
        }
    }

    private static func contains(_ text: String, _ part: Part, _ wanted: String) -> Bool {
        let wanted = wanted.lowercased()
        return switch part {
        case .start: text.lowercased().hasPrefix(wanted)
        case .end: text.lowercased().hasSuffix(wanted)
        case .anywhere:
            wanted.isEmpty
                || String(decoding: text.utf8.prefix(searchedBytes), as: UTF8.self).lowercased().contains(wanted)
        }
    }

    /// The value as text for comparison; `nil` for arrays, objects and `null`.
    private static func text(_ value: JSON) -> String? {
        switch value {
        case .string(let text): text
        case .number(let number): number.literal
        case .bool(let bool): bool ? "true" : "false"
        case .null, .array, .object: nil
        }
    }

    private static func number(_ text: String) -> JSONNumber? {
        // Text that is not valid JSON is not a number.
        (try? JSON.parse(text.utf8))?.number
    }
}
