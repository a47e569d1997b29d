/// The destination of a client's request.
struct ClientTarget: Sendable {
    /// Whether the connection uses TLS.
    let isSecure: Bool
    /// Host with port as in the URL, for `Host`.
    let authority: String
    /// The host without brackets.
    let host: String
    let port: Int
    /// The path, at least `/`, and the query.
    let pathAndQuery: String

    /// Parses an absolute URL with the scheme `http` or `https`.
    init(_ url: String) throws(ClientError) {
        let bytes = Array(url.utf8.prefix { $0 != UInt8(ascii: "#") })
        let targets = ByteSet.target
        isSecure = bytes.prefix(8).equals(ignoringCase: "https://")
        guard isSecure || bytes.prefix(7).equals(ignoringCase: "http://"), bytes.allSatisfy(targets.contains) else {
            throw .invalidURL(url)
        }
        let rest = bytes[(isSecure ? 8 : 7)...]
        let end = rest.firstIndex { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") } ?? rest.endIndex
        let authority = rest[..<end]
        guard Authority.isValid(authority) else { throw .invalidURL(url) }
        let path = String(decoding: rest[end...], as: UTF8.self)
        self.authority = String(decoding: authority, as: UTF8.self)
        pathAndQuery = path.hasPrefix("/") ? path : "/" + path
        (host, port) = Self.split(authority, standardPort: isSecure ? 443 : 80)
    }

    /// The addresses of a host that needs no look-up; empty for any other.
    var knownAddresses: [SocketAddress] {
        guard isThisMachine else { return SocketAddress.literal(host, port: port) }
        return ["::1", "127.0.0.1"].flatMap { SocketAddress.literal($0, port: port) }
    }

    /// RFC 6761 section 6.3: `localhost` and its subdomains are this machine, whatever a resolver says.
    private var isThisMachine: Bool {
        let name = host.lowercased()
        let absolute = name.hasSuffix(".") ? name.dropLast() : name[...]
        return absolute == "localhost" || absolute.hasSuffix(".localhost")
    }

    /// Host and port of a valid authority.
    private static func split(_ authority: ArraySlice<UInt8>, standardPort: Int) -> (String, Int) {
        let bracket = authority.lastIndex(of: UInt8(ascii: "]"))
        let colon = authority.lastIndex(of: UInt8(ascii: ":")).flatMap { $0 > (bracket ?? -1) ? $0 : nil }
        let host = authority[..<(colon ?? authority.endIndex)].filter { $0 != 0x5B && $0 != 0x5D }
        let port = colon.flatMap { authority[($0 + 1)...].decimalNumber } ?? standardPort
        return (String(decoding: host, as: UTF8.self), port)
    }
}
