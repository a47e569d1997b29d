/// Which sandbox of which start of the program something happens in.
///
/// For vendors whose credentials belong to a sandbox, or tell those of an earlier start from their own.
public struct SandboxIdentity: Sendable, Hashable {
    /// The sandbox's name.
    public let name: String
    /// Eight hexadecimal digits, the same in all sandboxes of the emulator: drawn when it started, or derived from the seed
    /// that it was started with, so that what is made of them repeats.
    public let start: String
    /// Whether the digits come from a seed, so that an earlier start may have had the same.
    public let isSeeded: Bool

    /// The sandbox of that name in that start.
    public init(name: String, start: String, isSeeded: Bool = false) {
        self.name = name
        self.start = start
        self.isSeeded = isSeeded
    }

    /// The digits of a new start.
    static func drawStart(seed: UInt64?) -> String {
        String(IdentifierSource(seed: seed).uuid().prefix(8))
    }
}
