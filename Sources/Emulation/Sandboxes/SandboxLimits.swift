/// How many sandboxes there may be, and how long each may lie unused.
public struct SandboxLimits: Sendable {
    /// How many there may be besides the standard one, unless told otherwise.
    public static let standardCapacity = 20_000

    /// How many there may be besides the standard one.
    public let capacity: Int
    /// How long a sandbox that has no time of its own may lie unused before it goes; `nil` for as long as there is room.
    public let timeToLive: Duration?

    /// Limits of that capacity, at least 1, and that time.
    public init(capacity: Int = standardCapacity, timeToLive: Duration? = nil) {
        self.capacity = max(1, capacity)
        self.timeToLive = timeToLive
    }
}
