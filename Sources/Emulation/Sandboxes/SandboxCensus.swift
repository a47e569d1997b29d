import Synchronization

/// Counts the sandboxes that memory holds: those that can be named, and those gone that somebody still works with.
final class SandboxCensus: Sendable {
    private let sandboxes = Atomic(0)

    init() {}

    /// How many there are now.
    var count: Int { sandboxes.load(ordering: .relaxed) }

    func enter() { sandboxes.add(1, ordering: .relaxed) }
    func leave() { sandboxes.subtract(1, ordering: .relaxed) }
}
