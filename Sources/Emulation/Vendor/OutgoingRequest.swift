public import HTTPTypes
public import JSON

/// A request that an action wants the server to send.
///
/// Only the server sends it, within limits: vendors state what they want, and never open a connection.
public struct OutgoingRequest: Sendable {
    /// The time limit for the whole answer, by the machine's clock.
    package static let timeLimit = Duration.seconds(5)
    /// The largest content of an answer, in bytes.
    package static let longestBody = 256 * 1024

    /// The method.
    package let method: HTTPRequest.Method
    /// An absolute URL.
    package let url: String
    /// The fields.
    package let fields: HTTPFields
    /// The content.
    package let body: [UInt8]
    /// The hosts that may be asked besides this machine, in lower case.
    package let allowedHosts: [String]
    /// The name, in answers of the control API, of the refusal to ask another host.
    package let refusal: String

    /// Creates a request from its parts.
    package init(
        method: HTTPRequest.Method = .post, url: String, fields: HTTPFields, body: [UInt8], allowedHosts: [String],
        refusal: String
    ) {
        (self.method, self.url, self.fields, self.body) = (method, url, fields, body)
        (self.allowedHosts, self.refusal) = (allowedHosts, refusal)
    }
}

/// The result of an outgoing request.
public enum OutgoingAnswer: Sendable {
    /// A complete answer, whatever its status; redirects are not followed.
    case answered(HTTPResponse.Status)
    /// No answer.
    case failed(OutgoingProblem)

    /// The status code; `null` without an answer.
    package var status: JSON { if case .answered(let status) = self { JSON(status.code) } else { .null } }
}

/// Why an outgoing request has no answer.
public struct OutgoingProblem: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kinds of problem.
    public enum Kind: String, Sendable, CaseIterable {
        case notSent = "not-sent"
        case unknownHost = "unknown-host"
        case refused
        case untrusted
        case slow
        case malformed
    }

    /// The kind.
    public let kind: Kind
    /// What was found, in a phrase.
    public let description: String

    /// Creates a problem of that kind.
    public init(_ kind: Kind, _ description: String) {
        (self.kind, self.description) = (kind, description)
    }
}

/// What an action leads to.
public enum ActionOutcome: Sendable {
    /// It is done, and this is its result for people.
    case done(JSON)
    /// The server sends a request; its answer leads to the result.
    case calls(OutgoingRequest, then: @Sendable (OutgoingAnswer) -> JSON)
}
