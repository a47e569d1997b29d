import Testing

/// A mistake in a client or in signing its tokens, and what the one-line reason says about it.
package struct Mistake: Sendable, CustomStringConvertible {
    /// The mistake in a few words.
    package let description: String
    /// The resulting failure; `nil` if any will do.
    package let failure: String?
    /// What the reason must not repeat.
    package let secrets: [String]
    /// Phrases that the reason contains.
    package let phrases: [String]
    /// Makes the mistake.
    package let send: @Sendable (World) async throws -> ReceivedAnswer

    /// A mistake with that description.
    package init(
        description: String, secrets: [String] = [], phrases: [String],
        send: @escaping @Sendable (World) async throws -> ReceivedAnswer
    ) {
        (self.description, self.secrets, self.phrases, self.send) = (description, secrets, phrases, send)
        failure = nil
    }

    /// A mistake, the resulting failure, and what the reason names, ignoring case.
    package init(
        _ description: String, _ failure: String, says words: String...,
        by send: @escaping @Sendable (World) async throws -> ReceivedAnswer
    ) {
        (self.description, self.failure, phrases, self.send) = (description, failure, words, send)
        secrets = []
    }

    /// Makes the mistake, and checks the reason in the journal.
    package func check(in world: World) async throws {
        let answer = try await send(world)
        #expect(answer.status >= 400)
        if let failure { #expect(answer.entry?.record.failure == failure) }
        let reason = answer.entry?.explanation ?? ""
        for phrase in phrases where !reason.lowercased().contains(phrase.lowercased()) {
            Issue.record("“\(phrase)” is not in: \(reason)")
        }
        for secret in secrets { #expect(!reason.contains(secret), "\(reason)") }
    }
}
