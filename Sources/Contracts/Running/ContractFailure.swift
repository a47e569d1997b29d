/// A difference between an answer and its case, or the reason why a case could not continue.
package struct ContractFailure: Error, Sendable, Hashable {
    /// Where the file states the expectation.
    package let place: HurlPlace
    /// What was expected and found, in one line.
    package let message: String
    /// The difference where one line is not enough; each line starts with `-` (expected), `+` (found) or a blank.
    package var difference: [String] = []
}
