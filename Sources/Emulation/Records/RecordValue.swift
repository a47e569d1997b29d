package import JSON

package protocol RecordValue {
    static func read(_ node: FixtureNode) throws(FixtureProblem) -> Self
    /// The value in the form that ``read(_:)`` reads.
    var written: JSON { get }
}

extension String: RecordValue {
    package static func read(_ node: FixtureNode) throws(FixtureProblem) -> String { try node.string() }
    package var written: JSON { .string(self) }
}

extension ExactText: RecordValue {
    package static func read(_ node: FixtureNode) throws(FixtureProblem) -> ExactText { ExactText(try node.string()) }
    package var written: JSON { json }
}

extension Int: RecordValue {
    package static func read(_ node: FixtureNode) throws(FixtureProblem) -> Int { try node.int() }
    package var written: JSON { JSON(self) }
}

/// In quotes: not every reader of JSON takes a number of 64 bits.
extension UInt64: RecordValue {
    package static func read(_ node: FixtureNode) throws(FixtureProblem) -> UInt64 {
        guard let number = UInt64(try node.string()) else {
            throw node.problem("expected a whole number in quotes, such as “12”")
        }
        return number
    }

    package var written: JSON { .string(String(self)) }
}

extension Double: RecordValue {
    package static func read(_ node: FixtureNode) throws(FixtureProblem) -> Double { try node.number() }
    package var written: JSON { .number(JSONNumber(self)) }
}

extension Bool: RecordValue {
    package static func read(_ node: FixtureNode) throws(FixtureProblem) -> Bool { try node.bool() }
    package var written: JSON { .bool(self) }
}

extension Moment: RecordValue {
    package static func read(_ node: FixtureNode) throws(FixtureProblem) -> Moment { try node.moment() }
    /// The Unix seconds, which read back as the same moment.
    package var written: JSON { .number(JSONNumber(unixSeconds)) }
}

extension Array: RecordValue where Element: RecordValue {
    package static func read(_ node: FixtureNode) throws(FixtureProblem) -> [Element] {
        var values: [Element] = []
        for element in try node.elements() { values.append(try Element.read(element)) }
        return values
    }

    package var written: JSON { .array(map(\.written)) }
}

/// JSON from a client, kept unchanged.
extension JSON: RecordValue {
    package static func read(_ node: FixtureNode) throws(FixtureProblem) -> JSON { try node.verbatim() }
    package var written: JSON { self }
}

/// A record that stands in another one, with its secrets.
extension RecordValue where Self: CodedRecord {
    package static func read(_ node: FixtureNode) throws(FixtureProblem) -> Self {
        var record = Self()
        try record.read(node, .export(.changes))
        return record
    }

    package var written: JSON { json(.changes) }
}

extension RecordValue where Self: RawRepresentable<String> & CaseIterable {
    package static func read(_ node: FixtureNode) throws(FixtureProblem) -> Self { try node.choice(of: Self.self) }
    package var written: JSON { .string(rawValue) }
}
