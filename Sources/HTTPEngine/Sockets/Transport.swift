/// The way of a connection's bytes: reads and writes go through here, so that TLS has one place to stand in.
struct Transport {
    private let socket: Socket

    /// A transport that sends and receives in the clear.
    init(_ socket: Socket) { self.socket = socket }

    var descriptor: Int32 { socket.descriptor }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> Socket.Transfer { socket.read(into: buffer) }

    func write(_ buffer: UnsafeRawBufferPointer) -> Socket.Transfer { socket.write(buffer) }

    /// Tells the client that nothing more comes.
    func finishWriting() { socket.shutdownWriting() }

    /// Has ``close()`` drop what the client has not taken.
    func discardUnsent() { socket.discardUnsent() }

    func close() { socket.close() }
}
