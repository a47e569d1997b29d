/// Journals in the order of their last use; every step takes the same short time, however many there are.
struct JournalEviction {
    /// A journal and its neighbours in a ring. Alone, it is its own neighbour.
    private struct Node {
        weak var journal: Journal?
        var older: Int
        var newer: Int
    }

    /// The place at which the ring begins and ends.
    static let nobody = 0

    private var nodes = [Node(journal: nil, older: nobody, newer: nobody)]
    private var vacant: [Int] = []

    /// The journal that was longest unused, among those that keep something.
    var longestUnused: (place: Int, journal: Journal)? {
        let place = nodes[Self.nobody].newer
        return nodes[place].journal.map { (place, $0) }
    }

    /// A place that is in nobody's way until it is used.
    mutating func makePlace() -> Int {
        if let place = vacant.popLast() { return place }
        nodes.append(Node(journal: nil, older: nodes.count, newer: nodes.count))
        return nodes.count - 1
    }

    mutating func settle(_ journal: Journal, at place: Int) { nodes[place].journal = journal }

    mutating func leave(_ place: Int) {
        unlink(place)
        nodes[place].journal = nil
        vacant.append(place)
    }

    /// Makes the journal at that place the one that was used last.
    mutating func use(_ place: Int) {
        unlink(place)
        let newest = nodes[Self.nobody].older
        (nodes[place].older, nodes[place].newer) = (newest, Self.nobody)
        nodes[newest].newer = place
        nodes[Self.nobody].older = place
    }

    /// Leaves out the journal at that place until it is used again.
    mutating func unlink(_ place: Int) {
        let (older, newer) = (nodes[place].older, nodes[place].newer)
        nodes[older].newer = newer
        nodes[newer].older = older
        (nodes[place].older, nodes[place].newer) = (place, place)
    }
}
