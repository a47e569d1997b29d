/// A connection that was accepted, on its way to the loop that will serve it.
struct Arrival: Sendable {
    let socket: Socket
    /// The client's address without port.
    let remoteAddress: String
    /// What the server proves itself with, at a listener that speaks TLS.
    let identity: TLSIdentity?
}
