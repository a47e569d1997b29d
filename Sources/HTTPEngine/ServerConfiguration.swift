/// A server's listeners, loops and limits.
public struct ServerConfiguration: Sendable {
    /// One address to listen on.
    public struct Listener: Sendable, Hashable {
        /// An IPv4 or IPv6 address, or a name, for which an IPv4 address is preferred.
        public var host: String
        /// The port; 0 picks a free one.
        public var port: Int
        /// The server's TLS identity; `nil` for plain text.
        public var identity: TLSIdentity?

        /// A listener on that address.
        public init(host: String = "127.0.0.1", port: Int, identity: TLSIdentity? = nil) {
            self.host = host
            self.port = port
            self.identity = identity
        }
    }

    /// The addresses to listen on.
    public var listeners: [Listener]
    /// The number of event loops, each on its own thread.
    public var loops: Int
    /// Limits on clients.
    public var limits: Limits

    /// A configuration with these parts; by default one loop per core.
    public init(listeners: [Listener], loops: Int = ServerConfiguration.coreCount, limits: Limits = Limits()) {
        self.listeners = listeners
        self.loops = loops
        self.limits = limits
    }

    /// The number of cores that this process may use.
    public static var coreCount: Int { max(1, OperatingSystem.coreCount) }
}
