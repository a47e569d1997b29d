/// A mistake of whoever writes a client or signs its tokens, and what the reason of the refusal has to name.
public struct Mistake: Sendable, CustomStringConvertible {
    /// The mistake in a few words.
    public let description: String
    /// The failure that it leads to.
    public let failure: String
    /// What stands in the reason, whatever the case of letters.
    public let words: [String]
    /// Makes the mistake.
    public let provoke: @Sendable (World) async throws -> ReceivedAnswer

    /// A mistake, the failure that it leads to, and what the reason names.
    public init(
        _ description: String, _ failure: String, says words: String...,
        by provoke: @escaping @Sendable (World) async throws -> ReceivedAnswer
    ) {
        (self.description, self.failure, self.words, self.provoke) = (description, failure, words, provoke)
    }
}
