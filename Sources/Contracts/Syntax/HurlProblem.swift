/// Why a Hurl file cannot be read: where, what was found and what was expected.
package struct HurlProblem: Error, Sendable, Hashable {
    /// The file's name for messages.
    package let file: String
    package let place: HurlPlace
    /// What was found and what was expected.
    package let message: String
}

extension HurlProblem: CustomStringConvertible {
    package var description: String { "\(file):\(place.line):\(place.column): \(message)" }
}
