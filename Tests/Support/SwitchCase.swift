import Testing

/// What a request comes to under one value of a switch: a failure, or none.
public struct SwitchCase: Sendable, CustomStringConvertible {
    /// The switch's name, without its vendor.
    public let name: String
    /// The value under test.
    public let value: String
    private let note: String
    private let failure: String?
    private let send: @Sendable (World) async throws -> ReceivedAnswer

    /// A value of a switch, the failure that a request meets under it, and that request.
    public init(
        _ name: String, _ value: String, note: String = "", _ failure: String?,
        _ send: @escaping @Sendable (World) async throws -> ReceivedAnswer
    ) {
        (self.name, self.value, self.note, self.failure, self.send) = (name, value, note, failure, send)
    }

    /// The switch, its value, and what is special about the request.
    public var description: String { "\(name) = \(value) \(note)" }

    /// Sets the switch of a vendor, sends the request, and holds the answer and the journal against what is expected.
    public func check(_ vendor: String, in world: World) async throws {
        try await world.set("\(vendor).\(name)", value)
        let answer = try await send(world)
        #expect(answer.failure == failure, "\(answer.text)")
        #expect((200...299).contains(answer.status) == (failure == nil), "\(answer.text)")
    }
}
