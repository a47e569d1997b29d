public import JSON

/// What a value must be: equal to one, or what words such as `contains` say of it; all must hold.
///
/// A header or a query parameter is a text, and counts as equal to a number that is written like it.
public struct ValueMatcher: Sendable {
    private enum Test: Sendable {
        case equal(JSON)
        case unequal(JSON)
        case contains([UInt8])
        case like(Wildcard)
        case present(Bool)
        case over(Double)
        case under(Double)
    }

    private let tests: [(test: Test, expected: String)]

    private static let words = ["is", "not", "contains", "like", "present", "over", "under"]

    /// Reads a value, or a mapping of the words `is`, `not`, `contains`, `like` (with `*` and `?`), `present`, `over` and
    /// `under`.
    ///
    /// There are no regular expressions: a crafted one could keep a loop busy for ever.
    public init(_ node: FixtureNode) throws(FixtureProblem) {
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
        case "contains": .contains(Array(try text(value).utf8))
        case "like": .like(Wildcard(try text(value)))
        case "present": .present(try value.bool())
        case "over": .over(try number(value))
        default: .under(try number(value))
        }
    }

    /// The longest text that is searched for (ours): what it takes to search grows with its length.
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
            throw node.problem("\(value.text) stands where a number or a duration such as 90s is expected")
        }
        return duration.inSeconds
    }

    /// Whether one of these values is as it must be; none at all stands for something that is absent.
    public func holds(for values: [JSON]) -> Bool { unmet(for: values) == nil }

    /// What the values are not, in words; `nil` when they are as they must be.
    public func unmet(for values: [JSON]) -> String? {
        // One value has to pass all tests: “over 3 and under 9” is not met by 2 and 10 together.
        if tests.allSatisfy({ Self.holds($0.test, absent: values.isEmpty) }) { return nil }
        if values.contains(where: { value in tests.allSatisfy { Self.holds($0.test, value) } }) { return nil }
        return tests.map(\.expected).joined(separator: ", ")
    }

    /// What an absent value satisfies.
    private static func holds(_ test: Test, absent: Bool) -> Bool {
        guard absent else { return false }
        return switch test {
        case .present(let wanted): !wanted
        case .unequal: true
        case .equal, .contains, .like, .over, .under: false
        }
    }

    private static func holds(_ test: Test, _ value: JSON) -> Bool {
        switch test {
        case .equal(let wanted): isSame(value, wanted)
        case .unequal(let unwanted): !isSame(value, unwanted)
        case .contains(let part):
            value.array?.contains { isSame($0, .string(String(decoding: part, as: UTF8.self))) }
                ?? text(value).utf8.contains(sequence: part)
        case .like(let wildcard): wildcard.matches(text(value))
        case .present(let wanted): wanted
        case .over(let bound): number(value).map { $0 > bound } ?? false
        case .under(let bound): number(value).map { $0 < bound } ?? false
        }
    }

    /// A text and a number or truth by their letters, everything else by what it says.
    private static func isSame(_ left: JSON, _ right: JSON) -> Bool {
        switch (left, right) {
        case (.string(let text), .number(let number)), (.number(let number), .string(let text)):
            text.hasSameBytes(as: number.literal)
        case (.string(let text), .bool(let value)): text.hasSameBytes(as: value ? "true" : "false")
        default: left.isEquivalent(to: right)
        }
    }

    private static func text(_ value: JSON) -> String { value.string ?? value.text }

    private static func number(_ value: JSON) -> Double? {
        value.number?.double ?? value.string.flatMap { Double($0) }
    }
}

/// A text in which `*` stands for any characters and `?` for one.
struct Wildcard: Sendable {
    private let pattern: [Unicode.Scalar]

    init(_ text: String) {
        pattern = Array(text.unicodeScalars)
    }

    /// Whether the whole text fits; takes at most the product of both lengths.
    func matches(_ text: String) -> Bool {
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
                // The last star takes one character more.
                star = (last.place, last.position + 1)
                (place, position) = (last.place + 1, last.position + 1)
            } else {
                return false
            }
        }
        return pattern[place...].allSatisfy { $0 == "*" }
    }
}

extension Collection where Element == UInt8 {
    /// Whether the bytes occur in order and without a gap.
    fileprivate func contains(sequence part: some Collection<UInt8>) -> Bool {
        guard let first = part.first else { return true }
        var rest = self[...]
        while let index = rest.firstIndex(of: first) {
            rest = rest[index...]
            if rest.starts(with: part) { return true }
            rest = rest.dropFirst()
        }
        return false
    }
}
