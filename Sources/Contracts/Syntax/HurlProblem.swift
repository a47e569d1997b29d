/// Why a Hurl file cannot be read: where, what was found and what was expected.
public struct HurlProblem: Error, Sendable, Hashable {
    /// The file's name for messages.
    public let file: String
    /// Where the problem is.
    public let place: HurlPlace
    /// What was found and what was expected.
    public let message: String
}

extension HurlProblem: CustomStringConvertible {
    /// `FILE:LINE:COLUMN: MESSAGE`
    public var description: String { "\(file):\(place.line):\(place.column): \(message)" }
}
