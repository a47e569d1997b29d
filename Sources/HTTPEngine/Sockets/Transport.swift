/// The way of a connection's bytes: reads and writes go through here, in the clear or by TLS.
struct Transport {
    private let socket: Socket
    let session: TLSSession?

    /// The transport of an accepted connection; `nil` when OpenSSL has no room for it.
    init?(_ arrival: Arrival) {
        guard let identity = arrival.identity else {
            self.init(arrival.socket)
            return
        }
        self.init(arrival.socket, identity: identity)
    }

    /// A transport that sends and receives in the clear.
    init(_ socket: Socket) { self.init(socket, nil) }

    /// A transport that speaks TLS as a server of that identity; `nil` when OpenSSL has no room for it.
    init?(_ socket: Socket, identity: TLSIdentity) {
        guard let session = TLSSession(socket, identity: identity) else { return nil }
        self.init(socket, session)
    }

    /// A transport that speaks TLS by that session, or in the clear without one.
    init(_ socket: Socket, _ session: TLSSession?) {
        self.socket = socket
        self.session = session
    }

    var descriptor: Int32 { socket.descriptor }

    /// Whether requests can come and answers go: over TLS only after the handshake, which reading brings on.
    var isEstablished: Bool { session.map { $0.isEstablished || $0.hasFallenBack } ?? true }

    /// What TLS waits for by itself, besides what the connection waits for: the writing of a handshake, say.
    ///
    /// Once the socket is ready for that, ``read(into:)`` goes on with it.
    var needs: Interest { session?.needs ?? [] }

    /// Whether input has been received already that a further read gives, and that no poller reports.
    ///
    /// It may also be the connection's end, and at worst a record of which the rest has not arrived.
    var hasBufferedInput: Bool { session?.hasBufferedInput ?? false }

    /// Whether the client turned out to speak HTTP where TLS is spoken: ``read(into:)`` says that the connection is
    /// broken, and what is written goes in the clear.
    var hasFallenBack: Bool { session?.hasFallenBack ?? false }

    /// Why the handshake failed, in words for whoever runs the server; `nil` when it did not.
    var handshakeProblem: String? { session?.handshakeProblem }

    /// Whether the client has sent something of a handshake.
    var hasBegunHandshake: Bool { session?.hasBegun ?? false }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> Socket.Transfer {
        if let session { return session.read(into: buffer) }
        return socket.read(into: buffer)
    }

    /// Writes some of the bytes; what could not be written comes first, unchanged, in the next call.
    func write(_ buffer: UnsafeRawBufferPointer) -> Socket.Transfer {
        if let session { return session.write(buffer) }
        return socket.write(buffer)
    }

    /// Reads what nobody looks at any more, as it comes: behind ``finishWriting()`` TLS is over.
    func drain(into buffer: UnsafeMutableRawBufferPointer) -> Socket.Transfer { socket.read(into: buffer) }

    /// Tells the client that nothing more comes; false when that must be tried again once the socket takes more.
    func finishWriting() -> Bool {
        if let session { return session.finishWriting() }
        socket.shutdownWriting()
        return true
    }

    /// Has ``close()`` drop what the client has not taken, and reset the connection.
    func discardUnsent() {
        if let session { return session.discardUnsent() }
        socket.discardUnsent()
    }

    func close() {
        if let session { return session.close() }
        socket.close()
    }
}
