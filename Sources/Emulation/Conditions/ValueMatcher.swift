package import JSON

/// A test of a value: equality, or operators such as `contains`; all must hold.
///
/// A header or query parameter is a string, and equals a number that is written the same way.
package struct ValueMatcher: Sendable {
    private enum Test: Sendable {
        case equal(JSON)
        case unequal(JSON)
        case contains(BytePattern)
        case like(Wildcard)
        case present(Bool)
        case over(Double)
        case under(Double)
    }

    private let tests: [(test: Test, expected: String)]

    private static let words = ["is", "not", "contains", "like", "present", "over", "under"]

    /// Reads a value, or a mapping of the operators `is`, `not`, `contains`, `like` (with `*` and `?`), `present`,
    /// `over` and `under`.
    ///
    /// Regular expressions are not supported: a crafted one could block a loop forever.
    package init(_ node: FixtureNode) throws(FixtureProblem) {
        guard case .object = try node.json() else {
            let value = try node.json()
            tests = [(.equal(value), value.text)]
            return
        }
        var tests: [(Test, String)] = []
        for (word, value) in try node.mapping(Self.words).members {
            tests.append((try Self.test(word, value), "\(word) \(try value.json().text)"))
        }
        guard !tests.isEmpty else {
            throw node.problem("an empty mapping demands nothing; expected \(Self.words.joined(separator: ", "))")
        }
        self.tests = tests
    }

    private static func test(_ word: String, _ value: FixtureNode) throws(FixtureProblem) -> Test {
        switch word {
        case "is": .equal(try value.json())
        case "not": .unequal(try value.json())
        case "contains": .contains(BytePattern(try text(value)))
        case "like": .like(Wildcard(try text(value)))
        case "present": .present(try value.bool())
        case "over": .over(try number(value))
        default: .under(try number(value))
        }
    }

    /// The longest string to search for (ours): the cost of a search grows with its length.
    private static let longestText = 256

    private static func text(_ node: FixtureNode) throws(FixtureProblem) -> String {
        let text = try node.string()
        guard text.utf8.count <= longestText else {
            throw node.problem("the text has \(text.utf8.count) bytes; at most \(longestText) are searched for")
        }
        return text
    }

    /// A number, or the seconds of a duration.
    private static func number(_ node: FixtureNode) throws(FixtureProblem) -> Double {
        let value = try node.json()
        if let number = value.number { return number.double }
        guard let duration = value.string.flatMap(Duration.init(text:)) else {
            throw node.problem("found \(value.text); expected a number or a duration such as 90s")
        }
        return duration.inSeconds
    }

    /// Whether one of these values passes; no values means that the subject is absent.
    ///
    /// - Parameter budget: the work allowed; once it is spent, nothing passes.
    package func holds(for values: [JSON], within budget: inout WorkBudget) -> Bool {
        // One value must pass all tests: 2 and 10 together do not satisfy “over 3 and under 9”.
        let holds =
            tests.allSatisfy({ Self.holds($0.test, absent: values.isEmpty) })
            || values.contains { value in tests.allSatisfy { Self.holds($0.test, value, &budget) } }
        return holds && !budget.isSpent
    }

    /// What the values fail, in words; `nil` when they pass.
    package func unmet(for values: [JSON], within budget: inout WorkBudget) -> String? {
        holds(for: values, within: &budget) ? nil : tests.map(\.expected).joined(separator: ", ")
    }

    private static func holds(_ test: Test, absent: Bool) -> Bool {
        guard absent else { return false }
        return switch test {
        case .present(let wanted): !wanted
        case .unequal: true
        case .equal, .contains, .like, .over, .under: false
        }
    }

    private static func holds(_ test: Test, _ value: JSON, _ budget: inout WorkBudget) -> Bool {
        if budget.isSpent { return false }
        switch test {
        case .equal(let wanted): return isSame(value, wanted, &budget)
        case .unequal(let unwanted): return !isSame(value, unwanted, &budget)
        case .contains(let part):
            guard let elements = value.array else { return part.occurs(in: text(value, &budget), within: &budget) }
            return elements.contains { isSame($0, .string(part.text), &budget) }
        case .like(let wildcard): return wildcard.matches(text(value, &budget), within: &budget)
        case .present(let wanted): return budget.spend() && wanted
        case .over(let bound): return number(value, &budget).map { $0 > bound } ?? false
        case .under(let bound): return number(value, &budget).map { $0 < bound } ?? false
        }
    }

    /// Compares a string with a number or boolean by their text, everything else by value.
    private static func isSame(_ left: JSON, _ right: JSON, _ budget: inout WorkBudget) -> Bool {
        // Charged in full: comparing may visit every value below, since the first difference may come last.
        switch (left, right) {
        case (.string(let own), .string(let other)):
            if own.utf8.count == other.utf8.count { budget.spend(onBytes: own.utf8.count) }
        case (.array(let own), .array(let other)): if own.count == other.count { budget.spend(onAllOf: right) }
        case (.object(let own), .object(let other)): if own.count == other.count { budget.spend(onAllOf: right) }
        default: budget.spend()
        }
        if budget.isSpent { return false }
        return switch (left, right) {
        case (.string(let text), .number(let number)), (.number(let number), .string(let text)):
            text.hasSameBytes(as: number.literal)
        case (.string(let text), .bool(let value)): text.hasSameBytes(as: value ? "true" : "false")
        default: left.isEquivalent(to: right)
        }
    }

    /// The value as text, or empty when it is too long for the remaining budget.
    private static func text(_ value: JSON, _ budget: inout WorkBudget) -> String {
        if let text = value.string { return text }
        // Charged before writing: each enclosing list writes the value once more.
        budget.spend(onAllOf: value)
        return budget.isSpent ? "" : value.text
    }

    private static func number(_ value: JSON, _ budget: inout WorkBudget) -> Double? {
        switch value {
        case .number(let number):
            return budget.spend(onBytes: number.literal.utf8.count) ? number.double : nil
        case .string(let text): return budget.spend(onBytes: text.utf8.count) ? Double(text) : nil
        case .null, .bool, .array, .object: return nil
        }
    }
}
