/// Why there is no answer; the description is one line for the user.
package enum ClientError: Error, Hashable, CustomStringConvertible {
    /// The text is not an absolute `http` or `https` URL.
    case invalidURL(String)
    case unknownHost(String)
    /// The host and port accept no connections.
    case notReachable(String, reason: String)
    /// The server's certificate is not trusted.
    case notTrusted(String)
    case tlsFailed(String)
    /// The answer was not complete in time.
    case timedOut
    /// The answer's content is longer than the limit.
    case tooLarge
    /// The connection ended before the answer was complete.
    case connectionLost
    /// The answer is malformed by RFC 9112.
    case malformedAnswer
    /// Too many requests are in progress, or too many bytes are buffered for them, to start or finish this one.
    case tooMany
    /// The waiting task was cancelled.
    case cancelled

    /// What was found and what would be right.
    package var description: String {
        switch self {
        case .invalidURL(let url):
            "\"\(url)\" is not a URL that can be asked: give http://host[:port][/path], or the same with https."
        case .unknownHost(let host): "\(host) has no address."
        case .notReachable(let authority, let reason): "\(authority) cannot be reached: \(reason)."
        case .notTrusted(let reason): "the server's certificate is not trusted: \(reason)."
        case .tlsFailed(let reason): "no TLS with the server: \(reason)."
        case .timedOut: "the answer did not arrive in time."
        case .tooLarge: "the answer is larger than allowed."
        case .connectionLost: "the connection ended before the answer was complete."
        case .malformedAnswer: "the answer is not HTTP/1.1."
        case .tooMany: "too many requests are under way; ask again when some of them have ended."
        case .cancelled: "the request was cancelled."
        }
    }
}
