/// An accepted connection on its way to the loop that will serve it.
struct AcceptedSocket: Sendable {
    let socket: Socket
    /// The client's address without the port.
    let remoteAddress: String
    /// The server's identity, for a listener that speaks TLS.
    let identity: TLSIdentity?
}
