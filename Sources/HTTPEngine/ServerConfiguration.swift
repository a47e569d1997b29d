/// Where a server listens, on how many loops, and what it puts up with.
public struct ServerConfiguration: Sendable {
    /// One address to listen at.
    public struct Listener: Sendable, Hashable {
        /// An IPv4 or IPv6 address, or a name; of a name's addresses an IPv4 address is preferred.
        public var host: String
        /// The port; 0 picks a free one.
        public var port: Int
        /// What the server proves itself with by TLS; `nil` for a listener in the clear.
        public var identity: TLSIdentity?

        /// A listener at that address.
        public init(host: String = "127.0.0.1", port: Int, identity: TLSIdentity? = nil) {
            self.host = host
            self.port = port
            self.identity = identity
        }
    }

    /// The addresses to listen at.
    public var listeners: [Listener]
    /// How many event loops serve the connections, each on a thread of its own.
    public var loops: Int
    /// What clients may ask of the server.
    public var limits: Limits

    /// A configuration of these parts; one loop for each core unless told otherwise.
    public init(listeners: [Listener], loops: Int = ServerConfiguration.coreCount, limits: Limits = Limits()) {
        self.listeners = listeners
        self.loops = loops
        self.limits = limits
    }

    /// How many cores this process may use.
    public static var coreCount: Int { max(1, OperatingSystem.coreCount) }
}
