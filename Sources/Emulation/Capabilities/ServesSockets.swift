public import Wire

/// A vendor with WebSockets; a handler opens one with ``Call/openSocket(_:_:)``.
public protocol ServesSockets: Vendor {
    /// What the vendor remembers about a socket, such as the id of its session.
    associatedtype SocketLabel: Sendable

    /// Greets a socket that a handler has opened; always its first event.
    ///
    /// Other calls may have changed the state since the handshake, so the socket may no longer have a purpose.
    func socketOpened(_ call: inout SocketCall<Self>, _ state: inout State)

    /// Handles a client's message.
    func socketReceived(_ message: WebSocketMessage, _ call: inout SocketCall<Self>, _ state: inout State)

    /// Handles the end of a socket, whoever closed it; always its last event.
    ///
    /// Not called for sockets closed because their whole state was replaced, as by a reset.
    func socketClosed(_ closure: WebSocketClosure, _ call: inout SocketCall<Self>, _ state: inout State)
}
