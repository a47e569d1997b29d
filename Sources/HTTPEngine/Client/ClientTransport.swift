#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

/// The way of the client's bytes: in the clear, or by TLS once the server has shown who it is.
struct ClientTransport {
    let socket: Socket
    private let session: TLSSession?

    init(_ socket: Socket, _ session: TLSSession? = nil) {
        self.socket = socket
        self.session = session
    }

    /// Goes on with the handshake; the result is what `poll` has to wait for, `nil` when nothing is left to do.
    func establish() throws(ClientError) -> Int16? {
        guard let session else { return nil }
        switch session.shakeHands() {
        case .complete: return nil
        case .waiting: return events
        case .failed:
            if let reason = session.distrust { throw .notTrusted(reason) }
            throw .tlsFailed(session.handshakeProblem ?? "the handshake failed")
        }
    }

    /// What `poll` has to wait for after a read.
    var events: Int16 { session?.needs == .writing ? Int16(POLLOUT) : Int16(POLLIN) }

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
