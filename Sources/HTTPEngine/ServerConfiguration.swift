/// A server's listeners, loops and limits.
package struct ServerConfiguration: Sendable {
    package struct Listener: Sendable, Hashable {
        /// An IPv4 or IPv6 address, or a name, for which an IPv4 address is preferred.
        package var host: String
        /// The port; 0 picks a free one.
        package var port: Int
        /// The server's TLS identity; `nil` for plain text.
        package var identity: TLSIdentity?

        /// A listener on that address.
        package init(host: String = "127.0.0.1", port: Int, identity: TLSIdentity? = nil) {
            self.host = host
            self.port = port
            self.identity = identity
        }
    }

    /// The addresses to listen on.
    package var listeners: [Listener]
    /// The number of event loops, each on its own thread.
    package var loops: Int
    package var limits: Limits

    /// A configuration with these parts; by default one loop per core.
    package init(listeners: [Listener], loops: Int = ServerConfiguration.coreCount, limits: Limits = Limits()) {
        self.listeners = listeners
        self.loops = loops
        self.limits = limits
    }

    /// The number of cores that this process may use.
    package static var coreCount: Int { max(1, OperatingSystem.coreCount) }
}
