/// A connection's byte stream, in plain text or over TLS.
struct Transport {
    private let socket: Socket
    let session: TLSSession?

    /// The transport of an accepted connection; `nil` when OpenSSL has no memory.
    init?(_ accepted: AcceptedSocket) {
        guard let identity = accepted.identity else {
            self.init(accepted.socket)
            return
        }
        self.init(accepted.socket, identity: identity)
    }

    /// A plain-text transport.
    init(_ socket: Socket) { self.init(socket, nil) }

    /// A TLS server with that identity; `nil` when OpenSSL has no memory.
    init?(_ socket: Socket, identity: TLSIdentity) {
        guard let session = TLSSession(socket, identity: identity) else { return nil }
        self.init(socket, session)
    }

    /// A transport over that TLS session, or in plain text without one.
    init(_ socket: Socket, _ session: TLSSession?) {
        self.socket = socket
        self.session = session
    }

    var descriptor: Int32 { socket.descriptor }

    /// Whether requests and answers can flow: over TLS only after the handshake, which reading drives.
    var isEstablished: Bool { session.map { $0.isEstablished || $0.hasFallenBack } ?? true }

    /// The events that TLS needs besides those the connection waits for, such as writing during a handshake.
    ///
    /// When the socket is ready for them, ``read(into:)`` continues.
    var needs: Interest { session?.needs ?? [] }

    /// Whether received input is buffered that the next read returns and no poller reports.
    ///
    /// It may also be the end of the connection or, at worst, an incomplete record.
    var hasBufferedInput: Bool { session?.hasBufferedInput ?? false }

    /// Whether the client speaks HTTP on a TLS connection: ``read(into:)`` then reports a broken connection, and writes
    /// are plain text.
    var hasFallenBack: Bool { session?.hasFallenBack ?? false }

    /// Why the handshake failed, for an operator; `nil` if it did not.
    var handshakeProblem: String? { session?.handshakeProblem }

    var hasBegunHandshake: Bool { session?.hasBegun ?? false }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> Socket.Transfer {
        if let session { return session.read(into: buffer) }
        return socket.read(into: buffer)
    }

    /// Writes some of the bytes; the next call must start with the unwritten ones, unchanged.
    func write(_ buffer: UnsafeRawBufferPointer) -> Socket.Transfer {
        if let session { return session.write(buffer) }
        return socket.write(buffer)
    }

    /// Reads input that is only discarded, without decrypting: after ``finishWriting()`` TLS is over.
    func drain(into buffer: UnsafeMutableRawBufferPointer) -> Socket.Transfer { socket.read(into: buffer) }

    /// Tells the client that nothing more follows; false if it must be retried when the socket is writable.
    func finishWriting() -> Bool {
        if let session { return session.finishWriting() }
        socket.shutdownWriting()
        return true
    }

    /// Makes ``close()`` discard unsent bytes and reset the connection.
    func discardUnsent() {
        if let session { return session.discardUnsent() }
        socket.discardUnsent()
    }

    func close() {
        if let session { return session.close() }
        socket.close()
    }
}

/// An accepted connection on its way to the loop that will serve it.
struct AcceptedSocket: Sendable {
    let socket: Socket
    /// The client's address without the port.
    let remoteAddress: String
    /// The server's identity, for a listener that speaks TLS.
    let identity: TLSIdentity?
}

/// Bytes on their way to the client.
struct OutputBuffer {
    /// The bytes to send; encoders append here.
    var bytes: [UInt8] = []
    private var sent = 0

    /// The number of unsent bytes.
    var count: Int { bytes.count - sent }

    /// Writes until the buffer is empty or the client accepts no more, and returns how many bytes were sent.
    ///
    /// `nil` when the connection is broken.
    mutating func flush(to transport: Transport) -> Int? {
        var total = 0
        while sent < bytes.count {
            let transfer = bytes.withUnsafeBytes { transport.write(UnsafeRawBufferPointer(rebasing: $0[sent...])) }
            switch transfer {
            case .moved(let count):
                sent += count
                total += count
            case .wouldBlock:
                letGo()
                return total
            case .ended, .broken: return nil
            }
        }
        reset()
        return total
    }

    /// Drops the sent part of a buffer that may never drain; only from half of it on, so that moving the rest pays.
    private mutating func letGo() {
        guard sent >= 64 * 1024, sent >= bytes.count / 2 else { return }
        bytes.removeFirst(sent)
        sent = 0
    }

    /// Keeps a small buffer for the next answer and frees a large one.
    private mutating func reset() {
        sent = 0
        bytes.capacity > 4096 ? bytes = [] : bytes.removeAll(keepingCapacity: true)
    }
}
