import Foundation

/// No server answered, or what answered is none of ours.
public struct Unreachable: Error, Sendable, Hashable {
    /// Where, and what was found there.
    public let message: String
}

extension Unreachable: CustomStringConvertible, LocalizedError {
    /// The message.
    public var description: String { message }

    /// The same words, for frameworks that ask for these.
    public var errorDescription: String? { message }
}
