public import HTTPTypes

/// A request for the keys that an issuer publishes.
///
/// Only the pipeline sends it: vendors state what they need, and never open a connection.
public struct KeyRequest: Sendable, Hashable {
    /// The prefix of a URL that points at this server, in the sandbox of the caller.
    package static let ownServer = "{self}"
    /// The time limit for the whole answer, by the machine's clock.
    public static let timeLimit = Duration.seconds(5)
    /// The largest content of an answer, in bytes.
    public static let longestBody = 256 * 1024

    /// An absolute URL, or a path on this server after ``ownServer``.
    public let url: String

    public init(url: String) {
        self.url = url
    }

    /// The target on this server; `nil` for a URL that leads elsewhere.
    package var ownTarget: String? {
        url.hasPrefix(Self.ownServer) ? String(url.dropFirst(Self.ownServer.count)) : nil
    }

    public var fields: HTTPFields { [.accept: "application/json"] }
}

public enum KeyAnswer: Sendable {
    /// A complete answer, whatever its status.
    case answered(HTTPResponse.Status, cacheControl: [String], body: [UInt8])
    case failed(KeyFetchProblem)
}

/// Why a request for keys returned none.
public enum KeyFetchProblem: Error, Sendable, Hashable {
    /// The URL was not requested; the phrase says why.
    case notAsked(String)
    /// No connection, no TLS, or no HTTP; the phrase says what.
    case unreachable(String)
    /// The connection ended before the answer was complete.
    case connectionLost
    /// The answer was not complete within that time.
    case slow(within: Duration)
    case tooLarge
    case redirected(Int)
    case status(Int)
    /// The content is not JSON; the phrase says why.
    case notJSON(String)
    /// The content is JSON of another form; the phrase says what is expected.
    case otherForm(String)
    case noUsableKey
}

extension KeyFetchProblem: CustomStringConvertible {
    /// What was found and what would be right.
    public var description: String {
        switch self {
        case .notAsked(let why): "not asked: \(why)"
        case .unreachable(let what): what
        case .connectionLost: "the connection ended before the answer was complete."
        case .slow(let limit): "the answer was not complete within \(Int(limit.inSeconds)) s"
        case .tooLarge: "the answer has more than \(KeyRequest.longestBody) bytes"
        case .redirected(let status): "status \(status) sends elsewhere; redirects are not followed"
        case .status(let status): "status \(status); expected 200"
        case .notJSON(let why): "the content is not JSON: \(why)"
        case .otherForm(let expected): "the content is JSON of another form; expected \(expected)"
        case .noUsableKey: "no key in the answer can be used"
        }
    }
}
