/// Values by the moment at which they are due, the earliest first. Public, so that each user compiles it for its own types.
public struct DueHeap<Moment: Comparable & Sendable, Value: Sendable>: Sendable {
    @usableFromInline var entries: [(moment: Moment, value: Value)] = []

    @inlinable
    public init() {}

    @inlinable public var count: Int { entries.count }
    @inlinable public var first: Moment? { entries.first?.moment }

    @inlinable
    public mutating func insert(_ moment: Moment, _ value: Value) {
        entries.append((moment, value))
        var child = entries.count - 1
        while child > 0, entries[child].moment < entries[(child - 1) / 2].moment {
            entries.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }

    /// Takes the earliest value if it is due.
    @inlinable
    public mutating func removeFirst(until now: Moment) -> (moment: Moment, value: Value)? {
        guard let first = entries.first, first.moment <= now else { return nil }
        let last = entries.removeLast()
        if !entries.isEmpty {
            entries[0] = last
            sink()
        }
        return first
    }

    @inlinable
    public mutating func keep(_ isKept: (Value) -> Bool) {
        let kept = entries.filter { isKept($0.value) }
        entries = []
        for entry in kept { insert(entry.moment, entry.value) }
    }

    @inlinable
    mutating func sink() {
        var parent = 0
        while true {
            var child = 2 * parent + 1
            guard child < entries.count else { return }
            if child + 1 < entries.count, entries[child + 1].moment < entries[child].moment { child += 1 }
            guard entries[child].moment < entries[parent].moment else { return }
            entries.swapAt(child, parent)
            parent = child
        }
    }
}
