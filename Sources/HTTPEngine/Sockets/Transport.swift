/// The way of a connection's bytes: reads and writes go through here, in the clear or by TLS.
struct Transport {
    private let socket: Socket

    /// A transport that sends and receives in the clear.
    init(_ socket: Socket) { self.socket = socket }

    var descriptor: Int32 { socket.descriptor }

    /// Whether requests can come and answers go: over TLS only after the handshake.
    var isEstablished: Bool { true }

    /// What TLS waits for by itself, besides what the connection waits for: the writing of a handshake, say.
    var needs: Interest { [] }

    /// Whether input has been received already that a further read gives, and that no poller reports.
    var hasBufferedInput: Bool { false }

    /// Whether the client turned out to speak HTTP where TLS is spoken: ``read(into:)`` says that the connection is
    /// broken, and what is written goes in the clear.
    var hasFallenBack: Bool { false }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> Socket.Transfer { socket.read(into: buffer) }

    func write(_ buffer: UnsafeRawBufferPointer) -> Socket.Transfer { socket.write(buffer) }

    /// Reads what nobody looks at any more.
    func drain(into buffer: UnsafeMutableRawBufferPointer) -> Socket.Transfer { socket.read(into: buffer) }

    /// Tells the client that nothing more comes; false when that must be tried again once the socket takes more.
    func finishWriting() -> Bool {
        socket.shutdownWriting()
        return true
    }

    /// Has ``close()`` drop what the client has not taken, and reset the connection.
    func discardUnsent() { socket.discardUnsent() }

    func close() { socket.close() }
}
