/// Ids in insertion order.
///
/// Adding an id, removing one from the middle and removing the oldest each take constant time; a plain array would move
/// or visit all others each time.
public struct InsertionOrder<ID: Hashable & Sendable>: Sendable {
    /// The ids, with gaps where some were removed.
    private var slots: [ID?] = []
    private var places: [ID: Int] = [:]
    /// A lower bound for the oldest id's position; only gaps precede it.
    private var first = 0

    /// Creates an empty collection.
    public init() {}

    /// The number of ids.
    public var count: Int { places.count }

    /// Whether there are none.
    public var isEmpty: Bool { places.isEmpty }

    public func contains(_ id: ID) -> Bool { places[id] != nil }

    /// Appends an id; one that is already there keeps its position.
    ///
    /// - Returns: whether it is new.
    @discardableResult
    public mutating func append(_ id: ID) -> Bool {
        guard places[id] == nil else { return false }
        places[id] = slots.count
        slots.append(id)
        return true
    }

    /// Removes an id, if it is there.
    ///
    /// - Returns: whether it was there.
    @discardableResult
    public mutating func remove(_ id: ID) -> Bool {
        guard let place = places.removeValue(forKey: id) else { return false }
        slots[place] = nil
        closeGaps()
        return true
    }

    /// Removes the oldest ids.
    ///
    /// - Returns: as many as requested, or all.
    public mutating func removeFirst(_ wanted: Int) -> [ID] {
        var oldest: [ID] = []
        while oldest.count < wanted, first < slots.count {
            if let id = slots[first] {
                oldest.append(id)
                places[id] = nil
                slots[first] = nil
            }
            first += 1
        }
        closeGaps()
        return oldest
    }

    /// Compacts the ids once most slots are gaps, so that at least as many were removed as are moved.
    private mutating func closeGaps() {
        guard slots.count > 2 * places.count + 16 else { return }
        slots.removeAll { $0 == nil }
        first = 0
        for (place, id) in slots.enumerated() { if let id { places[id] = place } }
    }
}

extension InsertionOrder: Sequence {
    /// The ids, oldest first.
    ///
    /// Not by a key path, which would be made at run time.
    public func makeIterator() -> some IteratorProtocol<ID> { slots[first...].lazy.compactMap { $0 }.makeIterator() }

    /// The exact number of ids.
    public var underestimatedCount: Int { count }
}
