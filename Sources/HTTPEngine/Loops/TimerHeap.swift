/// Moments at which connections want to be looked at, the earliest first.
///
/// A connection whose deadline moves back keeps its old entry and asks for a new one when that comes up, so that a
/// request costs no entry of its own.
struct TimerHeap {
    /// A moment, and the connection that it is about.
    struct Entry {
        let moment: Moment
        let descriptor: Int32
        let connection: UInt64
    }

    private var entries: [Entry] = []

    /// The earliest moment.
    var earliest: Moment? { entries.first?.moment }

    mutating func insert(_ entry: Entry) {
        entries.append(entry)
        var child = entries.count - 1
        while child > 0, entries[child].moment < entries[(child - 1) / 2].moment {
            entries.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }

    /// Takes the earliest entry if its moment has come.
    mutating func takeDue(at now: Moment) -> Entry? {
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
