/// The way of the client's bytes: in the clear, or by TLS once the server has shown who it is.
struct ClientTransport {
    private let socket: Socket
    private let session: TLSSession?

    init(_ socket: Socket, _ session: TLSSession? = nil) {
        self.socket = socket
        self.session = session
    }

    /// Goes on with the handshake; true when nothing of it is left to do.
    func establish() throws(ClientError) -> Bool {
        guard let session else { return true }
        switch session.shakeHands() {
        case .complete: return true
        case .waiting: return false
        case .failed:
            if let reason = session.distrust { throw .notTrusted(reason) }
            throw .tlsFailed(session.handshakeProblem ?? "the handshake failed")
        }
    }

    /// What to wait for before the handshake or reading goes on.
    var interest: Interest { session?.needs.contains(.writing) == true ? .writing : .reading }

    /// Reads content; over TLS an end without close_notify is a broken connection, since anybody on the way can cut it.
    func read(into buffer: UnsafeMutableRawBufferPointer) -> Socket.Transfer {
        if let session { return session.read(into: buffer) }
        return socket.read(into: buffer)
    }

    func write(_ buffer: UnsafeRawBufferPointer) -> Socket.Transfer {
        if let session { return session.write(buffer) }
        return socket.write(buffer)
    }

    func close() {
        if let session { return session.close() }
        socket.close()
    }
}
