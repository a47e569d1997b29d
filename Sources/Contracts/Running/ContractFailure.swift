/// A difference between an answer and its case, or the reason why a case could not continue.
public struct ContractFailure: Error, Sendable, Hashable {
    /// Where the file states the expectation.
    public let place: HurlPlace
    /// What was expected and found, in one line.
    public let message: String
    /// The difference where one line is not enough; each line starts with `-` (expected), `+` (found) or a blank.
    public var difference: [String] = []
}
