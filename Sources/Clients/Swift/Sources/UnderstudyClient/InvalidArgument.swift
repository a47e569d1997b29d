import Foundation

/// A test named something in a form that no server could take; nothing was sent.
public struct InvalidArgument: Error, Sendable, Hashable {
    /// What was given, and what would be right.
    public let message: String
}

extension InvalidArgument: CustomStringConvertible, LocalizedError {
    /// The message.
    public var description: String { message }

    /// The same words, for frameworks that ask for these.
    public var errorDescription: String? { message }
}
