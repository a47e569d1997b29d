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
            values.isEmpty
            ? tests.allSatisfy { Self.holdsForNothing($0.test) }
            : values.contains { value in tests.allSatisfy { Self.holds($0.test, value, &budget) } }
        return holds && !budget.isSpent
    }

    package func unmet(for values: [JSON], within budget: inout WorkBudget) -> String? {
        holds(for: values, within: &budget) ? nil : tests.map(\.expected).joined(separator: ", ")
    }

    private static func holdsForNothing(_ test: Test) -> Bool {
        switch test {
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

/// A pattern in which `*` stands for any characters and `?` for one.
package struct Wildcard: Sendable {
    private let pattern: [Unicode.Scalar]

    package init(_ text: String) { pattern = Array(text.unicodeScalars) }

    package func matches(_ text: String) -> Bool {
        var budget = WorkBudget(steps: .max)
        return matches(text, within: &budget)
    }

    /// Whether the whole text matches; costs at most the product of both lengths, within the budget.
    func matches(_ text: String, within budget: inout WorkBudget) -> Bool {
        guard budget.spend(onBytes: text.utf8.count) else { return false }
        let text = Array(text.unicodeScalars)
        var (position, place) = (0, 0)
        var star: (place: Int, position: Int)?
        while position < text.count {
            if place < pattern.count, pattern[place] == "*" {
                star = (place, position)
                place += 1
            } else if place < pattern.count, pattern[place] == "?" || pattern[place] == text[position] {
                place += 1
                position += 1
            } else if let last = star {
                // The characters matched after the star were examined in vain.
                guard budget.spend(onBytes: place - last.place) else { return false }
                // Let the last star take one more character.
                star = (last.place, last.position + 1)
                (place, position) = (last.place + 1, last.position + 1)
            } else {
                return false
            }
        }
        return pattern[place...].allSatisfy { $0 == "*" }
    }
}

/// A string searched for in others byte by byte; each byte is examined about once, whatever both strings contain
/// (Knuth, Morris and Pratt).
struct BytePattern: Sendable {
    let text: String
    private let bytes: [UInt8]
    /// For each prefix, the length of the longest proper prefix that is also its suffix.
    private let borders: [Int]

    init(_ text: String) {
        self.text = text
        let bytes = Array(text.utf8)
        var borders = [Int](repeating: 0, count: bytes.count)
        var length = 0
        for index in bytes.indices.dropFirst() {
            while length > 0, bytes[index] != bytes[length] { length = borders[length - 1] }
            if bytes[index] == bytes[length] { length += 1 }
            borders[index] = length
        }
        (self.bytes, self.borders) = (bytes, borders)
    }

    func occurs(in text: String, within budget: inout WorkBudget) -> Bool {
        guard budget.spend(onBytes: text.utf8.count) else { return false }
        if bytes.isEmpty { return true }
        var length = 0
        for byte in text.utf8 {
            while length > 0, byte != bytes[length] { length = borders[length - 1] }
            if byte == bytes[length] { length += 1 }
            if length == bytes.count { return true }
        }
        return false
    }
}
