/// How many sandboxes may exist, and how long each may stay unused.
package struct SandboxLimits: Sendable {
    /// The default maximum besides the standard one.
    package static let standardCapacity = 20_000

    /// The maximum number besides the standard one.
    package let capacity: Int
    /// How long a sandbox without a time to live of its own may stay unused before it is dropped; `nil` for as long as
    /// there is room.
    package let timeToLive: Duration?

    /// Creates limits with that capacity, at least 1, and that time to live.
    package init(capacity: Int = standardCapacity, timeToLive: Duration? = nil) {
        self.capacity = max(1, capacity)
        self.timeToLive = timeToLive
    }
}
