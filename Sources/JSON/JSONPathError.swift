/// Why a text is no JSONPath query, and where.
public struct JSONPathError: Error, Sendable, Hashable {
    /// The text that was read.
    public let path: String
    /// The place of what was found, in characters (Unicode scalars) from 1.
    public let position: Int
    /// What stands there, as a phrase.
    public let found: String
    /// What would be right there, as a phrase.
    public let expected: String
}

extension JSONPathError: CustomStringConvertible {
    /// The text, the place, what was found and what would be right, in one line.
    public var description: String { "“\(path)”, character \(position): found \(found); \(expected)" }
}
