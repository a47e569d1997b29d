#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

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
