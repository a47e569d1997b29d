/// At which level of the server a case is run; any difference between the two is a fault.
package enum Depth: String, CaseIterable, Sendable, CustomStringConvertible {
    /// The pipeline is called as the engine calls it, without a socket.
    case pipeline
    /// A client calls the server over a TCP connection.
    case socket

    /// The name in a test's title.
    package var description: String { rawValue }
}
