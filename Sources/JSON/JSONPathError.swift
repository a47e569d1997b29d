/// Why a text is not a JSONPath query, and where.
package struct JSONPathError: Error, Sendable, Hashable {
    package let path: String
    /// The position of the error, in Unicode scalars from 1.
    package let position: Int
    package let found: String
    package let expected: String
}

extension JSONPathError: CustomStringConvertible {
    /// The text, the position, what was found and what was expected, in one line.
    package var description: String { "“\(path)”, character \(position): found \(found); \(expected)" }
}
