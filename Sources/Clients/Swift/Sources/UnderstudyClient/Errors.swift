import Foundation

/// What a control call or a start can end with; frameworks show the ``description``.
public protocol UnderstudyError: LocalizedError, CustomStringConvertible, Sendable, Hashable {
    /// What was found, and what would be right.
    var message: String { get }
}

extension UnderstudyError {
    public var description: String { message }
    public var errorDescription: String? { description }
}

/// The server refused a control call; ``message`` is its own.
public struct Refusal: UnderstudyError {
    /// The call, such as `PUT clock`.
    public let call: String
    /// 400: a wrong member, value or query. 401: the control token. 403: the host's name. 404: nothing has that name.
    /// 413: too long.
    public let status: Int
    /// The refusal's stable name.
    public let code: String
    public let message: String

    public var description: String { "\(message) (\(call) answered \(status) \(code))" }
}

/// The journal does not hold the calls that a test expects.
public struct UnmetExpectation: UnderstudyError {
    /// The answer of `journal/verify`: `count`, the bounds, and the `nearest` calls with what each of them `missed`.
    public let verdict: JSONValue

    /// What was expected and found, then the nearest calls and what each missed.
    public var message: String {
        let calls = (verdict["nearest"]?.array ?? []).flatMap { call in
            ["  #\(call.text("id")) \(call.text("summary"))"]
                + (call["missed"]?.array ?? []).map {
                    "      \($0.text("condition")): expected \($0.text("expected")), found \($0.text("found"))"
                }
        }
        return ([verdict.text("message")] + calls).joined(separator: "\n")
    }
}

/// No server was started: there is no program, or it ended with a complaint.
public struct StartFailed: UnderstudyError {
    public let message: String
}

/// No server answered, or what answered is not Understudy.
public struct Unreachable: UnderstudyError {
    public let message: String
}

/// An argument has a form that no server accepts; nothing was sent.
public struct InvalidArgument: UnderstudyError {
    public let message: String
}
