/// Why a text is not a JSONPath query, and where.
public struct JSONPathError: Error, Sendable, Hashable {
    /// The text.
    public let path: String
    /// The position of the error, in Unicode scalars from 1.
    public let position: Int
    /// What was found there, as a phrase.
    public let found: String
    /// What was expected there, as a phrase.
    public let expected: String
}

extension JSONPathError: CustomStringConvertible {
    /// The text, the position, what was found and what was expected, in one line.
    public var description: String { "“\(path)”, character \(position): found \(found); \(expected)" }
}
