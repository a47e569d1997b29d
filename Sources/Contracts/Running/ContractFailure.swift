/// One thing in which an answer differs from what its case expects, or because of which a case could not go on.
public struct ContractFailure: Error, Sendable, Hashable {
    /// Where the file says what was expected.
    public let place: HurlPlace
    /// What was expected and what was found, in one line.
    public let message: String
    /// Both side by side, where a line is not enough; each line begins with `-` (expected), `+` (found) or a blank.
    public var difference: [String] = []
}
