/// Journals in least-recently-used order; every step takes constant time.
struct JournalEviction {
    /// A journal and its neighbours in a ring. A lone journal is its own neighbour.
    private struct Node {
        weak var journal: Journal?
        var older: Int
        var newer: Int
    }

    /// The sentinel at which the ring begins and ends.
    static let nobody = 0

    private var nodes = [Node(journal: nil, older: nobody, newer: nobody)]
    private var vacant: [Int] = []

    /// The least recently used journal among those that keep something.
    var longestUnused: (place: Int, journal: Journal)? {
        let place = nodes[Self.nobody].newer
        return nodes[place].journal.map { (place, $0) }
    }

    /// Creates a place that stays outside the ring until it is used.
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

    /// Makes the journal at that place the most recently used.
    mutating func use(_ place: Int) {
        unlink(place)
        let newest = nodes[Self.nobody].older
        (nodes[place].older, nodes[place].newer) = (newest, Self.nobody)
        nodes[newest].newer = place
        nodes[Self.nobody].older = place
    }

    /// Takes the journal at that place out of the ring until it is used again.
    mutating func unlink(_ place: Int) {
        let (older, newer) = (nodes[place].older, nodes[place].newer)
        nodes[older].newer = newer
        nodes[newer].older = older
        (nodes[place].older, nodes[place].newer) = (place, place)
    }
}
