/// Which sandbox of which start of the program something happens in.
///
/// For vendors whose credentials belong to a sandbox, or tell those of an earlier start from their own.
public struct SandboxIdentity: Sendable, Hashable {
    /// The sandbox's name.
    public let name: String
    /// Eight hexadecimal digits, drawn when the emulator started; the same in all its sandboxes.
    public let start: String

    /// The sandbox of that name in that start.
    public init(name: String, start: String) {
        self.name = name
        self.start = start
    }

    /// The digits of a new start.
    static func drawStart() -> String {
        String(IdentifierSource().uuid().prefix(8))
    }
}
