/// Whom something is sent to.
///
/// A socket is registered under any number of topics, such as `session:ID`, and many sockets may share one.
public struct SocketTopic: Hashable, Sendable {
    private let text: String

    /// The topic of that text, which means something to its vendor alone.
    public init(_ text: String) {
        self.text = text
    }
}
