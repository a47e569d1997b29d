import Testing

/// A mistake of a client, and what the one line that people read must and must not say of it.
public struct Mistake: Sendable, CustomStringConvertible {
    /// What is wrong, in a few words.
    public let description: String
    /// What the reason must not repeat.
    public let secrets: [String]
    /// What the reason has to say.
    public let phrases: [String]
    /// Makes the mistake.
    public let send: @Sendable (World) async throws -> ReceivedAnswer

    /// A mistake of that description.
    public init(
        description: String, secrets: [String] = [], phrases: [String],
        send: @escaping @Sendable (World) async throws -> ReceivedAnswer
    ) {
        (self.description, self.secrets, self.phrases, self.send) = (description, secrets, phrases, send)
    }

    /// Makes the mistake, and holds the reason in the journal against what it has to say.
    public func check(in world: World) async throws {
        let answer = try await send(world)
        #expect(answer.status >= 400)
        let reason = answer.entry?.explanation ?? ""
        for phrase in phrases where !reason.contains(phrase) {
            Issue.record("“\(phrase)” is not in: \(reason)")
        }
        for secret in secrets { #expect(!reason.contains(secret), "\(reason)") }
    }
}
