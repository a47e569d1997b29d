/// What a Hurl file holds that the reader does not understand: where, what was found, and what would be right.
public struct HurlProblem: Error, Sendable, Hashable {
    /// The file's name, as people know it.
    public let file: String
    /// The place of what was found.
    public let place: HurlPlace
    /// What was found, and what would be right.
    public let message: String
}

extension HurlProblem: CustomStringConvertible {
    /// `FILE:LINE:COLUMN: MESSAGE`
    public var description: String { "\(file):\(place.line):\(place.column): \(message)" }
}
