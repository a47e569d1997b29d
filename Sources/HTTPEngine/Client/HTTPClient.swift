package import HTTPTypes
package import Wire

/// A small client for single requests over HTTP and HTTPS: key URLs, health probes and contract runs.
///
/// It follows no redirect, keeps no connection, and limits time and size of the answer. Each request has its own
/// thread; beyond 64, requests wait for a free one.
package enum HTTPClient {
    /// Sends a request and returns the complete answer, whatever its status.
    ///
    /// - Parameters:
    ///   - method: The method.
    ///   - url: An absolute `http` or `https` URL; a fragment is not sent.
    ///   - fields: Further fields; `Host`, `Content-Length` and `Connection` are the client's own.
    ///   - body: The content.
    ///   - trust: Whose certificates are trusted over `https`.
    ///   - limit: The time for everything, from this call to the last byte.
    ///   - maximumBody: The largest content of an answer in bytes.
    /// - Throws: ``ClientError/tooMany`` at once when a thousand requests wait for a thread.
    package static func send(
        method: HTTPRequest.Method = .get, url: String, fields: HTTPFields = [:], body: [UInt8] = [],
        trust: TLSTrust = .system, within limit: Duration, maximumBody: Int = 1024 * 1024
    ) async throws(ClientError) -> ClientResponse {
        let exchange = try exchange(method, url, fields, body, trust, maximumBody)
        return try await exchange.outcome(on: .shared, within: limit).get()
    }

    /// Whether a request for that URL reaches only this machine, judged by the URL itself.
    package static func staysOnThisMachine(_ url: String) -> Bool {
        // An invalid URL reaches no machine, not even this one.
        guard let addresses = try? ClientTarget(url).knownAddresses else { return false }
        return !addresses.isEmpty && addresses.allSatisfy(\.isLoopback)
    }

    /// The path and query of a URL.
    ///
    /// - Throws: ``ClientError/invalidURL(_:)``
    package static func pathAndQuery(of url: String) throws(ClientError) -> String {
        try ClientTarget(url).pathAndQuery
    }

    static func exchange(
        _ method: HTTPRequest.Method, _ url: String, _ fields: HTTPFields, _ body: [UInt8], _ trust: TLSTrust,
        _ maximumBody: Int
    ) throws(ClientError) -> ClientExchange {
        let target = try ClientTarget(url)
        return ClientExchange(
            target, request(method, target, fields, body), isHead: method == .head, trust, maximumBody)
    }

    private static func request(
        _ method: HTTPRequest.Method, _ target: ClientTarget, _ fields: HTTPFields, _ body: [UInt8]
    ) -> [UInt8] {
        var head = "\(method.rawValue) \(target.pathAndQuery) HTTP/1.1\r\nHost: \(target.authority)\r\n"
        head += "Connection: close\r\n"
        let takesContent = method == .post || method == .put || method == .patch
        if !body.isEmpty || takesContent { head += "Content-Length: \(body.count)\r\n" }
        var bytes = Array(head.utf8)
        for field in fields where !ownNames.contains(field.name.canonicalName) {
            bytes.append(contentsOf: "\(field.name.rawName): ".utf8)
            field.withUnsafeBytesOfValue { bytes.append(contentsOf: $0) }
            bytes.append(contentsOf: "\r\n".utf8)
        }
        bytes.append(contentsOf: "\r\n".utf8)
        return bytes + body
    }

    private static let ownNames = ["host", "content-length", "transfer-encoding", "connection"]
}

/// The answer to a request of ``HTTPClient``.
package struct ClientResponse: Sendable {
    package let status: HTTPResponse.Status
    package let fields: FieldLines
    /// The content, transfer coding removed.
    package let body: [UInt8]
}

/// Why there is no answer; the description is one line for the user.
package enum ClientError: Error, Hashable, CustomStringConvertible {
    case invalidURL(String)
    case unknownHost(String)
    case notReachable(String, reason: String)
    case notTrusted(String)
    case tlsFailed(String)
    case timedOut
    case tooLarge
    case connectionLost
    /// The answer is malformed by RFC 9112.
    case malformedAnswer
    /// Too many requests wait for this one to wait as well.
    case tooMany
    case cancelled

    package var description: String {
        switch self {
        case .invalidURL(let url):
            "\"\(url)\" is not a URL for a request: give http://host[:port][/path], or the same with https."
        case .unknownHost(let host): "\(host) has no address."
        case .notReachable(let authority, let reason): "\(authority) cannot be reached: \(reason)."
        case .notTrusted(let reason): "the server's certificate is not trusted: \(reason)."
        case .tlsFailed(let reason): "no TLS with the server: \(reason)."
        case .timedOut: "the answer did not arrive in time."
        case .tooLarge: "the answer is larger than allowed."
        case .connectionLost: "the connection ended before the answer was complete."
        case .malformedAnswer: "the answer is not HTTP/1.1."
        case .tooMany: "too many requests are in progress; try again when some have ended."
        case .cancelled: "the request was cancelled."
        }
    }
}

/// The destination of a client's request.
struct ClientTarget: Sendable {
    /// Whether the connection uses TLS.
    let isSecure: Bool
    /// Host with port as in the URL, for `Host`.
    let authority: String
    /// The host without brackets.
    let host: String
    let port: Int
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
