/// An address that a server listens on.
public struct BoundAddress: Sendable, Hashable, CustomStringConvertible {
    /// The address, without brackets.
    public let host: String
    /// The port, never 0.
    public let port: Int
    /// Whether the listener speaks TLS.
    public let isSecure: Bool

    /// `http` or `https`.
    public var scheme: String { isSecure ? "https" : "http" }

    /// `host:port`, with an IPv6 address in brackets.
    public var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}
