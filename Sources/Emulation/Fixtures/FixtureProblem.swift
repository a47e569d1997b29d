/// What is wrong with a fixture file: where, what was found and what would be right.
public struct FixtureProblem: Error, Sendable, Hashable {
    /// The file as a person would name it.
    package let file: String
    /// The line, counted from 1; `nil` when the problem concerns the whole file.
    package let line: Int?
    /// The column, counted from 1.
    package let column: Int?
    /// What was found and what would be right.
    package let message: String

    package init(file: String, line: Int? = nil, column: Int? = nil, message: String) {
        self.file = file
        self.line = line
        self.column = column
        self.message = message
    }
}

extension FixtureProblem: CustomStringConvertible {
    /// `FILE:LINE:COLUMN: MESSAGE`.
    public var description: String {
        let place = [line, column].compactMap { $0 }.map { ":\($0)" }.joined()
        return "\(file)\(place): \(message)"
    }
}
