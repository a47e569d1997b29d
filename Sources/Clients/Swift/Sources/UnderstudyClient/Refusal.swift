import Foundation

/// The server refused a control call; ``message`` is its own and says what would be right.
public struct Refusal: Error, Sendable, Hashable {
    /// The call, such as `PUT clock`.
    public let call: String
    /// 400: a wrong member, value or query. 401: the control token. 403: the host's name. 404: nothing has that name.
    /// 413: too long.
    public let status: Int
    /// The refusal's stable name.
    public let code: String
    /// What was found, and what would be right.
    public let message: String
}

extension Refusal: CustomStringConvertible, LocalizedError {
    /// The message with the call.
    public var description: String { "\(message) (\(call) answered \(status) \(code))" }

    /// The same words, for frameworks that ask for these.
    public var errorDescription: String? { description }
}
