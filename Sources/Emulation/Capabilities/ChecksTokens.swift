/// A vendor whose clients check tokens before sending them, by rules that need no server.
public protocol ChecksTokens<Switches>: Vendor {
    /// The rules of the vendor's clients.
    static var checkers: [TokenChecker] { get }

    /// How long before `exp` the clients of a sandbox treat a token as expiring; `nil` for their own default.
    static func margin(_ switches: Switches) -> Duration?
}

extension ChecksTokens {
    /// By default, the clients are not configurable.
    public static func margin(_ switches: Switches) -> Duration? { nil }

    package static var clientChecks: (any ChecksTokens<Switches>.Type)? { self }
}
