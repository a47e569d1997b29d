public import Emulation

/// What a server for tests is like; tests with equal configurations share one.
public struct UnderstudyConfiguration: Sendable, Hashable {
    /// A folder whose files go before the installed fixtures; `nil` for these alone.
    public var fixtures: String?
    /// How sandboxes want the vendors to behave to begin with.
    public var settings: Settings

    /// A configuration of these parts.
    public init(fixtures: String? = nil, settings: Settings = Settings()) {
        self.fixtures = fixtures
        self.settings = settings
    }
}
