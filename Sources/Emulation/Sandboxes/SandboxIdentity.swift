/// Identifies a sandbox and the start of the program that it belongs to.
///
/// For vendors whose credentials belong to a sandbox, or that must recognize those of an earlier start.
public struct SandboxIdentity: Sendable, Hashable {
    public let name: String
    /// Eight hexadecimal digits, the same in all sandboxes of the emulator: drawn at startup, or derived from the
    /// startup seed so that values made from them repeat.
    public let start: String
    /// Whether the digits come from a seed, so that an earlier start may have had the same.
    public let isSeeded: Bool
    /// The address under which clients reach the server.
    public let publicBase: PublicBase

    public init(name: String, start: String, isSeeded: Bool = false, publicBase: PublicBase = PublicBase()) {
        self.name = name
        self.start = start
        self.isSeeded = isSeeded
        self.publicBase = publicBase
    }

    /// The digits for a new start.
    package static func drawStart(seed: UInt64?) -> String {
        String(IdentifierSource(seed: seed).uuid().prefix(8))
    }
}
