public import Emulation

/// The configuration of a test server; tests with equal configurations share one.
public struct UnderstudyConfiguration: Sendable, Hashable {
    /// A folder of fixtures that override the installed ones; `nil` to use only those.
    public var fixtures: String?
    /// The vendors' settings that each sandbox starts with.
    public var settings: Settings

    /// A configuration with these parts.
    public init(fixtures: String? = nil, settings: Settings = Settings()) {
        self.fixtures = fixtures
        self.settings = settings
    }
}
