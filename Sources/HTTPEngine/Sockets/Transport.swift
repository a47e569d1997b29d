import Wire

#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

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
    /// The bytes to send last; encoders append here.
    var bytes: [UInt8] = []
    /// What comes before them.
    private var frames: [SharedFrame] = []
    private var frameBytes = 0
    /// Of the first of the frames, or else of the bytes.
    private var sent = 0

    /// The number of unsent bytes.
    var count: Int { frameBytes + bytes.count - sent }

    /// The memory in bytes that is this buffer's own.
    var memory: Int { bytes.count + SharedFrame.referenceBytes * frames.count }

    /// Adds a frame without copying it.
    mutating func append(_ frame: SharedFrame) {
        if !bytes.isEmpty { frames.append(SharedFrame(bytes, frame.occupancy)) }
        frames.append(frame)
        frameBytes += bytes.count + frame.bytes.count
        bytes = []
    }

    /// Writes until the buffer is empty or the client accepts no more, and returns how many bytes were sent.
    ///
    /// `nil` when the connection is broken.
    mutating func flush(to transport: Transport) -> Int? {
        var total = 0
        while count > 0 {
            switch frames.isEmpty ? write(bytes, to: transport) : write(frames[0].bytes, to: transport) {
            case .moved(let count):
                sent += count
                total += count
                guard let frame = frames.first, sent == frame.bytes.count else { continue }
                frames.removeFirst()
                frameBytes -= sent
                sent = 0
            case .wouldBlock:
                letGo()
                return total
            case .ended, .broken: return nil
            }
        }
        reset()
        return total
    }

    private func write(_ bytes: [UInt8], to transport: Transport) -> Socket.Transfer {
        bytes.withUnsafeBytes { transport.write(UnsafeRawBufferPointer(rebasing: $0[sent...])) }
    }

    /// Drops the sent part of a buffer that may never drain; only from half of it on, so that moving the rest pays.
    private mutating func letGo() {
        guard frames.isEmpty, sent >= 64 * 1024, sent >= bytes.count / 2 else { return }
        bytes.removeFirst(sent)
        sent = 0
    }

    /// Keeps a small buffer for the next answer and frees a large one.
    private mutating func reset() {
        sent = 0
        bytes.capacity > 4096 ? bytes = [] : bytes.removeAll(keepingCapacity: true)
    }
}

/// The frame of a long message: kept and counted once, however many sockets of a loop wait for it.
final class SharedFrame {
    let bytes: [UInt8]
    let occupancy: ServerOccupancy
    /// Where the payload of a text begins.
    private let text: Int?

    /// A shorter message is copied, which costs less.
    static let leastBytes = 1024
    /// What each socket needs to refer to a frame.
    static let referenceBytes = 64

    init(_ bytes: [UInt8], text: Int? = nil, _ occupancy: ServerOccupancy) {
        (self.bytes, self.text, self.occupancy) = (bytes, text, occupancy)
        occupancy.keep(bytes.count)
    }

    convenience init(_ message: WebSocketMessage, _ occupancy: ServerOccupancy) {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(message.byteCount + 16)
        WebSocketEncoder.encode(message, into: &bytes)
        let text = if case .text = message { bytes.count - message.byteCount } else { Int?.none }
        self.init(bytes, text: text, occupancy)
    }

    deinit { occupancy.keep(-bytes.count) }

    /// Whether it is the frame of that message. Each socket of a crowd asks, so not byte by byte.
    func carries(_ message: WebSocketMessage) -> Bool {
        guard let text, case .text(let other) = message, text + other.utf8.count == bytes.count else { return false }
        let isSame = other.utf8.withContiguousStorageIfAvailable { other in
            bytes[text...].withUnsafeBytes { own in
                guard let own = own.baseAddress, let start = other.baseAddress else { return false }
                return memcmp(own, start, other.count) == 0
            }
        }
        return isSame ?? false
    }
}
