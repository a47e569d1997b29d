import Synchronization

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

/// A listening socket, closed explicitly or when released.
final class ListeningSocket: Sendable {
    let socket: Socket
    /// The address with the port that was actually bound.
    let address: BoundAddress
    /// The server's identity, for a listener that speaks TLS.
    let identity: TLSIdentity?
    private let isOpen = Atomic(true)

    init(_ listener: ServerConfiguration.Listener) throws(ServerError) {
        let address = try Self.address(of: listener)
        guard let socket = Socket(family: address.family) else { throw .lastFailure(of: "socket") }
        do throws(ServerError) {
            self.address = try Self.listen(socket, address, listener)
            identity = listener.identity
            self.socket = socket
        } catch {
            socket.close()
            throw error
        }
    }

    deinit { close() }

    /// Stops listening; further calls do nothing.
    func close() {
        if isOpen.exchange(false, ordering: .relaxed) { socket.close() }
    }

    private static func address(of listener: ServerConfiguration.Listener) throws(ServerError) -> SocketAddress {
        guard (0...65535).contains(listener.port) else { throw .invalidPort(listener.port) }
        // An empty name would resolve to all addresses, which must be requested explicitly.
        let found = listener.host.isEmpty ? [] : SocketAddress.resolve(host: listener.host, port: listener.port)
        guard let address = found.first(where: \.isIPv4) ?? found.first(where: \.isIPv6) else {
            throw .unknownHost(listener.host)
        }
        return address
    }

    private static func listen(
        _ socket: Socket, _ address: SocketAddress, _ listener: ServerConfiguration.Listener
    ) throws(ServerError) -> BoundAddress {
        socket.setOption(SOL_SOCKET, SO_REUSEADDR)
        // `::` means only IPv6 on every system; listening on both families takes two listeners.
        if address.isIPv6 { socket.setOption(Int32(IPPROTO_IPV6), IPV6_V6ONLY) }
        guard address.withPointer({ bind(socket.descriptor, $0, $1) }) == 0 else { throw failure(of: "bind", listener) }
        guard startListening(socket.descriptor) == 0 else { throw failure(of: "listen", listener) }
        guard let bound = SocketAddress(boundTo: socket) else { throw .lastFailure(of: "getsockname") }
        return BoundAddress(host: bound.host, port: bound.port, isSecure: listener.identity != nil)
    }

    private static func failure(of call: String, _ listener: ServerConfiguration.Listener) -> ServerError {
        switch OperatingSystem.lastError {
        case EADDRINUSE: .portTaken(host: listener.host, port: listener.port)
        case EADDRNOTAVAIL: .foreignAddress(host: listener.host)
        case EACCES, EPERM: .notPermitted(host: listener.host, port: listener.port)
        default: .lastFailure(of: call)
        }
    }
}

/// `listen`, which a method of that name would hide. The system lowers the backlog to its limit.
private func startListening(_ descriptor: Int32) -> Int32 { listen(descriptor, 4096) }

/// An IPv4 or IPv6 address with its port, as system calls take it.
struct SocketAddress: Sendable {
    private var storage = sockaddr_storage()
    private var length = socklen_t(MemoryLayout<sockaddr_storage>.size)

    /// An empty address for a system call to fill in.
    init() {}

    private init(_ address: UnsafePointer<sockaddr>, length: socklen_t) {
        let size = min(Int(length), MemoryLayout<sockaddr_storage>.size)
        withUnsafeMutableBytes(of: &storage) {
            $0.copyMemory(from: UnsafeRawBufferPointer(start: address, count: size))
        }
        self.length = socklen_t(size)
    }

    /// The addresses of a host, a literal or a name; empty when there is none.
    ///
    /// Blocks for as long as the resolver takes.
    static func resolve(host: String, port: Int) -> [SocketAddress] { find(host, port, AI_NUMERICSERV) }

    /// The address of a literal, without asking a resolver; empty for a name.
    static func literal(_ host: String, port: Int) -> [SocketAddress] {
        find(host, port, AI_NUMERICSERV | AI_NUMERICHOST)
    }

    private static func find(_ host: String, _ port: Int, _ flags: Int32) -> [SocketAddress] {
        var hints = addrinfo()
        #if canImport(Darwin)
            hints.ai_socktype = SOCK_STREAM
        #else
            hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        #endif
        hints.ai_flags = flags
        var list: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(host, String(port), &hints, &list) == 0 else { return [] }
        defer { freeaddrinfo(list) }
        return sequence(first: list) { $0?.pointee.ai_next }.prefix { $0 != nil }.compactMap { entry in
            guard let info = entry?.pointee, let address = info.ai_addr else { return nil }
            return SocketAddress(address, length: info.ai_addrlen)
        }
    }

    init?(boundTo socket: Socket) {
        let code = withMutablePointer { getsockname(socket.descriptor, $0, $1) }
        guard code == 0 else { return nil }
    }

    /// `AF_INET` or `AF_INET6`.
    var family: Int32 { Int32(storage.ss_family) }
    var isIPv4: Bool { family == AF_INET }
    var isIPv6: Bool { family == AF_INET6 }

    /// Whether only this machine has the address: `127.0.0.0/8` and `::1`.
    var isLoopback: Bool { isIPv4 ? host.hasPrefix("127.") : host == "::1" }

    /// The address without the port, such as `127.0.0.1` or `::1`.
    var host: String {
        var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
        let code = withPointer {
            getnameinfo($0, $1, &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST)
        }
        guard code == 0 else { return "" }
        return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    var port: Int {
        withUnsafeBytes(of: storage) { bytes in
            // The port has the same place in both families, in network byte order.
            Int(bytes[2]) << 8 | Int(bytes[3])
        }
    }

    /// Calls `body` with the address as system calls take it.
    func withPointer<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
        withUnsafePointer(to: storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, length) }
        }
    }

    /// Calls `body`, which fills in the address.
    mutating func withMutablePointer<Result>(
        _ body: (UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> Result
    ) -> Result {
        var filled = socklen_t(MemoryLayout<sockaddr_storage>.size)
        defer { length = filled }
        return withUnsafeMutablePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, &filled) }
        }
    }
}
