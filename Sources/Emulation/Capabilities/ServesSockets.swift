public import Wire

/// A vendor with WebSockets; a handler opens one by ``Call/openSocket(_:_:)``.
public protocol ServesSockets: Vendor {
    /// What the vendor wants to know of a socket again, such as the id of its session.
    associatedtype SocketLabel: Sendable

    /// Greets a socket that a handler has opened; always its first event.
    ///
    /// Since the handshake other calls may have changed the state, so that there is nothing to be open for any more.
    func socketOpened(_ call: inout SocketCall<Self>, _ state: inout State)

    /// Deals with a message of a client.
    func socketReceived(_ message: WebSocketMessage, _ call: inout SocketCall<Self>, _ state: inout State)

    /// Deals with the end of a socket, by whomever; always its last event.
    ///
    /// Sockets that are closed since their whole state was replaced, as by a reset, are not told of.
    func socketClosed(_ closure: WebSocketClosure, _ call: inout SocketCall<Self>, _ state: inout State)
}
