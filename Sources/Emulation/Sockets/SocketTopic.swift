/// An address for messages to sockets.
///
/// A socket can be registered under any number of topics, such as `session:ID`, and many sockets may share one.
public struct SocketTopic: Hashable, Sendable {
    private let text: String

    /// Creates a topic from a string that only its vendor interprets.
    public init(_ text: String) {
        self.text = text
    }
}
