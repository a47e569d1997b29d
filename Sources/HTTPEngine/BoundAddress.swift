/// An address that a server listens on.
package struct BoundAddress: Sendable, Hashable, CustomStringConvertible {
    /// The address, without brackets.
    package let host: String
    /// The port, never 0.
    package let port: Int
    /// Whether the listener speaks TLS.
    package let isSecure: Bool

    package var scheme: String { isSecure ? "https" : "http" }

    /// `host:port`, with an IPv6 address in brackets.
    package var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}
