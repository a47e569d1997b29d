import Foundation

/// No server was started: there is no program, or it ended with a complaint.
public struct StartFailed: Error, Sendable, Hashable {
    /// What is missing, or what the program complained of.
    public let message: String
}

extension StartFailed: CustomStringConvertible, LocalizedError {
    /// The message.
    public var description: String { message }

    /// The same words, for frameworks that ask for these.
    public var errorDescription: String? { message }
}
