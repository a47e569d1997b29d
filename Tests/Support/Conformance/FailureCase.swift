/// One way to provoke a failure, and what it looks like in profile `documented`.
public struct FailureCase: Sendable, CustomStringConvertible {
    /// The failure's name.
    public let name: String
    /// The status code of the answer.
    public let status: Int
    /// The exact content of the answer.
    public let body: String
    /// Whether the state is afterwards what it was, unless requests came before the one that fails.
    public let keepsState: Bool
    /// Does what fails.
    public let provoke: @Sendable (World) async throws -> ReceivedAnswer

    /// A failure, the answer to it, and what provokes it.
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
