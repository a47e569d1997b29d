/// One way to provoke a failure, and what it looks like in profile `documented`.
package struct FailureCase: Sendable, CustomStringConvertible {
    /// The failure's name.
    package let name: String
    /// The status code of the answer.
    package let status: Int
    /// The exact content of the answer.
    package let body: String
    /// Fields of the answer.
    package let fields: World.Fields
    /// Whether the answer has another form than `failures.yaml` says, such as a redirect that names the failure.
    package let isToldElsewhere: Bool
    /// Whether the failing call leaves the state unchanged, unless other requests precede it.
    package let keepsState: Bool
    /// Makes the failing call.
    package let provoke: @Sendable (World) async throws -> ReceivedAnswer

    /// A failure, its answer, and a way to provoke it.
    package init(
        _ name: String, status: Int, body: String, fields: World.Fields = [], isToldElsewhere: Bool = false,
        keepsState: Bool = true,
        by provoke: @escaping @Sendable (World) async throws -> ReceivedAnswer
    ) {
        (self.name, self.status, self.body, self.keepsState) = (name, status, body, keepsState)
        (self.fields, self.isToldElsewhere) = (fields, isToldElsewhere)
        self.provoke = provoke
    }

    /// The failure's name.
    package var description: String { name }
}
