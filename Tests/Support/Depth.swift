/// How deep in the server a case is run; what differs between the two is a fault.
public enum Depth: String, CaseIterable, Sendable, CustomStringConvertible {
    /// The pipeline is called as the engine calls it, without a socket.
    case pipeline
    /// A client asks the server over a TCP connection.
    case socket

    /// The name in a test's title.
    public var description: String { rawValue }
}
