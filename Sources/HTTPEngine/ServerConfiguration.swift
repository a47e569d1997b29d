/// Where a server listens, on how many loops, and what it puts up with.
public struct ServerConfiguration: Sendable {
    /// One address to listen at.
    public struct Listener: Sendable, Hashable {
        /// An IPv4 or IPv6 address, or a name; of a name's addresses an IPv4 address is preferred.
        public var host: String
        /// The port; 0 picks a free one.
        public var port: Int

        /// A listener at that address.
        public init(host: String = "127.0.0.1", port: Int) {
            self.host = host
            self.port = port
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

/// What clients may ask of a server, in bytes, counts and time.
public struct Limits: Sendable {
    /// The bytes of a head: request line and field lines. Chunk extensions and trailers may take as many once more.
    public var headerBytes = 32 * 1024
    /// The field lines of a head.
    public var headerLines = 100
    /// The connections that are open at one time; further ones wait in the listener's queue.
    public var maximumConnections = 10_000
    /// How long a connection may stay open between two requests.
    public var idle: Duration = .seconds(30)
    /// How long a head may take from its first to its last byte.
    public var header: Duration = .seconds(15)
    /// How long the content may take from the end of the head to its last byte.
    public var body: Duration = .seconds(60)
    /// How long an answer may wait for the client to take more of it.
    public var write: Duration = .seconds(30)
    /// How long a connection that the server has finished stays readable, so that the client gets the last answer.
    public var linger: Duration = .seconds(2)

    /// The default limits.
    public init() {}
}

/// An address at which a server listens.
public struct BoundAddress: Sendable, Hashable, CustomStringConvertible {
    /// The address, without brackets.
    public let host: String
    /// The port, never 0.
    public let port: Int

    /// `host:port`, an IPv6 address in brackets.
    public var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}
