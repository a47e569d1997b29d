/// A vendor whose clients judge tokens before they send them, by rules that need no server.
public protocol ChecksTokens<Switches>: Vendor {
    /// The rules of the vendor's clients.
    static var checkers: [TokenChecker] { get }

    /// How far before `exp` the clients of a sandbox take a token for nearly over; `nil` for their own standard.
    static func margin(_ switches: Switches) -> Duration?
}

extension ChecksTokens {
    /// A vendor whose clients cannot be set.
    public static func margin(_ switches: Switches) -> Duration? { nil }

    package static var clientChecks: (any ChecksTokens<Switches>.Type)? { self }
}
