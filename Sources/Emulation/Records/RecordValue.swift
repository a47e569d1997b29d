public import JSON

/// A value that a member of a record can have.
public protocol RecordValue {
    /// Reads the value that stands there.
    static func read(_ node: FixtureNode) throws(FixtureProblem) -> Self
    /// The value as ``read(_:)`` reads it.
    var written: JSON { get }
}

extension String: RecordValue {
    public static func read(_ node: FixtureNode) throws(FixtureProblem) -> String { try node.string() }
    public var written: JSON { .string(self) }
}

extension ExactText: RecordValue {
    public static func read(_ node: FixtureNode) throws(FixtureProblem) -> ExactText { ExactText(try node.string()) }
    public var written: JSON { json }
}

extension Int: RecordValue {
    public static func read(_ node: FixtureNode) throws(FixtureProblem) -> Int { try node.int() }
    public var written: JSON { JSON(self) }
}

extension Double: RecordValue {
    public static func read(_ node: FixtureNode) throws(FixtureProblem) -> Double { try node.number() }
    public var written: JSON { .number(JSONNumber(self)) }
}

extension Bool: RecordValue {
    public static func read(_ node: FixtureNode) throws(FixtureProblem) -> Bool { try node.bool() }
    public var written: JSON { .bool(self) }
}

extension Moment: RecordValue {
    public static func read(_ node: FixtureNode) throws(FixtureProblem) -> Moment { try node.moment() }
    /// The Unix seconds, to be read back as the same moment.
    public var written: JSON { .number(JSONNumber(unixSeconds)) }
}

/// What a client sent, kept as it came.
extension JSON: RecordValue {
    public static func read(_ node: FixtureNode) throws(FixtureProblem) -> JSON { try node.verbatim() }
    public var written: JSON { self }
}

extension RecordValue where Self: RawRepresentable<String> & CaseIterable {
    public static func read(_ node: FixtureNode) throws(FixtureProblem) -> Self { try node.choice(of: Self.self) }
    public var written: JSON { .string(rawValue) }
}
