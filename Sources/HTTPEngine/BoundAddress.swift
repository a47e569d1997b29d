/// An address at which a server listens.
public struct BoundAddress: Sendable, Hashable, CustomStringConvertible {
    /// The address, without brackets.
    public let host: String
    /// The port, never 0.
    public let port: Int
    /// Whether TLS is spoken there.
    public let isSecure: Bool

    /// `http` or `https`.
    public var scheme: String { isSecure ? "https" : "http" }

    /// `host:port`, an IPv6 address in brackets.
    public var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}
