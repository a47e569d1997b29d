import Testing

/// The outcome of a request under one value of a switch.
package struct SwitchCase: Sendable, CustomStringConvertible {
    /// The switch's name, without its vendor.
    package let name: String
    /// The value under test.
    package let value: String
    /// What is special about the request.
    package let note: String
    /// The failure that the request meets; `nil` for success.
    package let failure: String?
    /// What the answer contains, in status, fields or content.
    package let shows: String?
    /// Sends the request.
    package let send: @Sendable (World) async throws -> ReceivedAnswer

    /// A value of a switch, the outcome of a request under it, and that request.
    package init(
        _ name: String, _ value: String, note: String = "", failure: String? = nil, shows: String? = nil,
        _ send: @escaping @Sendable (World) async throws -> ReceivedAnswer
    ) {
        (self.name, self.value, self.note) = (name, value, note)
        (self.failure, self.shows, self.send) = (failure, shows, send)
    }

    /// The switch, its value, and what is special about the request.
    package var description: String { "\(name) = \(value) \(note)" }
}

extension ReceivedAnswer {
    /// Everything that a client sees, as text.
    var wire: String {
        "\(status)\n" + fields.map { "\($0.name): \($0.value)\n" }.joined() + "\n" + text
    }
}
