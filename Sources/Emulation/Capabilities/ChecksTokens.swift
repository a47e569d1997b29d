/// A vendor whose clients check tokens before sending or trusting them, by rules that need no server;
/// ``Vendor/checkers`` lists them.
public protocol ChecksTokens<State, Switches>: Vendor {
    /// What a sandbox tells its clients' checks: its keys, and what its switches say.
    ///
    /// A client whose keys are elsewhere needs them here, since no request is made for a check inside the server.
    func checkerSettings(in state: State, _ switches: Switches) -> CheckerSettings
}

extension ChecksTokens {
    /// By default, everything is left to the clients.
    package func checkerSettings(in state: State, _ switches: Switches) -> CheckerSettings { CheckerSettings() }

    package var clientChecks: (any ChecksTokens<State, Switches>)? { self }
}
