/// Timers of connections, the earliest first.
///
/// When a deadline moves back, the old entry stays and is renewed when it fires, so that a request does not cost an
/// entry.
struct TimerHeap {
    /// A time and its connection.
    struct Entry {
        let moment: MonotonicTime
        let descriptor: Int32
        let connection: UInt64
    }

    private var entries: [Entry] = []

    var earliest: MonotonicTime? { entries.first?.moment }

    mutating func insert(_ entry: Entry) {
        entries.append(entry)
        var child = entries.count - 1
        while child > 0, entries[child].moment < entries[(child - 1) / 2].moment {
            entries.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }

    /// Takes the earliest entry if it is due.
    mutating func takeDue(at now: MonotonicTime) -> Entry? {
        guard let first = entries.first, first.moment <= now else { return nil }
        let last = entries.removeLast()
        if !entries.isEmpty {
            entries[0] = last
            sink()
        }
        return first
    }

    private mutating func sink() {
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
