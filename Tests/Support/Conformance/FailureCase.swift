/// One way to provoke a failure, and what it looks like in profile `documented`.
public struct FailureCase: Sendable, CustomStringConvertible {
    /// The failure's name.
    public let name: String
    /// The status code of the answer.
    public let status: Int
    /// The exact content of the answer.
    public let body: String
    /// Whether the failing call leaves the state unchanged, unless other requests precede it.
    public let keepsState: Bool
    /// Makes the failing call.
    public let provoke: @Sendable (World) async throws -> ReceivedAnswer

    /// A failure, its answer, and a way to provoke it.
    public init(
        _ name: String, status: Int, body: String, keepsState: Bool = true,
        by provoke: @escaping @Sendable (World) async throws -> ReceivedAnswer
    ) {
        (self.name, self.status, self.body, self.keepsState) = (name, status, body, keepsState)
        self.provoke = provoke
    }

    /// The failure's name.
    public var description: String { name }
}
