import Synchronization

/// Numbers in the order in which vendors were made ready, so that of two readings of the fixtures the later one is known.
@usableFromInline
enum Generation {
    private static let last = Atomic(0)

    @usableFromInline
    static func next() -> Int { last.add(1, ordering: .relaxed).newValue }
}
