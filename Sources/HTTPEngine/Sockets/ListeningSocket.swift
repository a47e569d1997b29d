internal import Synchronization

#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

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
        guard address.withPointer({ bind(socket.descriptor, $0, $1) }) == 0 else {
            throw failure(of: "bind", listener)
        }
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
