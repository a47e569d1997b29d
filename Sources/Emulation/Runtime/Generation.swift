import Synchronization

/// Numbers vendors in the order they were loaded, to tell the later of two fixture loads.
@usableFromInline
enum Generation {
    private static let last = Atomic(0)

    @usableFromInline
    static func next() -> Int { last.add(1, ordering: .relaxed).newValue }
}
