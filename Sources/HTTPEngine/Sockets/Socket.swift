#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

/// A non-blocking TCP socket: the descriptor and the engine's calls on it.
///
/// A plain value; the owner of the connection or listener closes it, once.
struct Socket: Sendable {
    enum Transfer {
        /// That many bytes were moved, at least one.
        case moved(Int)
        /// Nothing can be moved now.
        case wouldBlock
        /// The peer sends nothing more.
        case ended
        case broken
    }

    let descriptor: Int32

    /// A new socket of that address family; `nil` with `errno` set on failure.
    init?(family: Int32) {
        #if canImport(Darwin)
            descriptor = socket(family, SOCK_STREAM, 0)
        #else
            descriptor = socket(family, Int32(SOCK_STREAM.rawValue), 0)
        #endif
        guard descriptor >= 0 else { return nil }
        prepare()
    }

    private init(accepted descriptor: Int32) {
        self.descriptor = descriptor
        prepare()
        setOption(Int32(IPPROTO_TCP), TCP_NODELAY)
        setOption(Int32(IPPROTO_TCP), TCP_NOTSENT_LOWAT, Self.unsentBytes)
    }

    /// How much of an answer the system buffers for a slow client. By default it would buffer megabytes and ask for
    /// more only after a third is gone, so that a client which reads slowly but steadily looks stalled.
    private static let unsentBytes: Int32 = 128 * 1024

    /// Accepts the next connection; `nil` with `errno` set when there is none.
    func accept() -> (socket: Socket, client: SocketAddress)? {
        var address = SocketAddress()
        let accepted = address.withMutablePointer { acceptConnection(descriptor, $0, $1) }
        return accepted >= 0 ? (Socket(accepted: accepted), address) : nil
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> Transfer {
        while true {
            let count = recv(descriptor, buffer.baseAddress, buffer.count, 0)
            if count > 0 { return .moved(count) }
            if count == 0 { return .ended }
            if errno != EINTR { return Self.isTemporary(errno) ? .wouldBlock : .broken }
        }
    }

    func write(_ buffer: UnsafeRawBufferPointer) -> Transfer {
        while true {
            let count = send(descriptor, buffer.baseAddress, buffer.count, Self.sendFlags)
            if count >= 0 { return .moved(count) }
            if errno != EINTR { return Self.isTemporary(errno) ? .wouldBlock : .broken }
        }
    }

    /// Tells the peer that nothing more follows.
    func shutdownWriting() { _ = shutdown(descriptor, Int32(SHUT_WR)) }

    func close() { closeDescriptor(descriptor) }

    /// Makes ``close()`` discard unsent bytes and reset the connection.
    func discardUnsent() {
        var option = linger(l_onoff: 1, l_linger: 0)
        _ = setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
    }

    func setOption(_ level: Int32, _ name: Int32, _ value: Int32 = 1) {
        var value = value
        _ = setsockopt(descriptor, level, name, &value, socklen_t(MemoryLayout<Int32>.size))
    }

    /// The error of an attempt to connect; 0 if it succeeded.
    var pendingError: Int32 {
        var value: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        return getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &value, &length) == 0 ? value : errno
    }

    private func prepare() {
        makeNonBlocking(descriptor)
        #if canImport(Darwin)
            setOption(SOL_SOCKET, SO_NOSIGPIPE)
        #endif
    }

    private static func isTemporary(_ reason: Int32) -> Bool { reason == EAGAIN || reason == EWOULDBLOCK }

    #if canImport(Darwin)
        private static let sendFlags: Int32 = 0
    #else
        private static let sendFlags = Int32(MSG_NOSIGNAL)
    #endif
}

/// Makes the descriptor non-blocking and keeps child processes from inheriting it.
func makeNonBlocking(_ descriptor: Int32) {
    _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
}

/// `close`, which a method of that name would hide.
func closeDescriptor(_ descriptor: Int32) { _ = close(descriptor) }

/// `accept`, which a method of that name would hide.
private func acceptConnection(
    _ descriptor: Int32, _ address: UnsafeMutablePointer<sockaddr>, _ length: UnsafeMutablePointer<socklen_t>
) -> Int32 {
    accept(descriptor, address, length)
}
