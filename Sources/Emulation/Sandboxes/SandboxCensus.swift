import Synchronization

/// Counts the sandboxes in memory: those that can be named, and removed ones still in use.
final class SandboxCensus: Sendable {
    private let sandboxes = Atomic(0)

    init() {}

    var count: Int { sandboxes.load(ordering: .relaxed) }

    func enter() { sandboxes.add(1, ordering: .relaxed) }
    func leave() { sandboxes.subtract(1, ordering: .relaxed) }
}
