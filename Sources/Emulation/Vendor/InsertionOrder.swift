/// Ids in the order in which they came.
///
/// Adding one, taking one out of the midst and taking the oldest each cost the same however many there are; a plain array
/// has all others moved or looked at each time.
public struct InsertionOrder<ID: Hashable & Sendable>: Sendable {
    /// The ids, with gaps where some were taken out.
    private var slots: [ID?] = []
    private var places: [ID: Int] = [:]
    /// Where the oldest may be; before it there are gaps alone.
    private var first = 0

    /// No ids.
    public init() {}

    /// How many there are.
    public var count: Int { places.count }

    /// Whether there is none.
    public var isEmpty: Bool { places.isEmpty }

    /// Whether the id is there.
    public func contains(_ id: ID) -> Bool { places[id] != nil }

    /// Adds an id behind all others; one that is there stays where it is.
    ///
    /// - Returns: whether it is new.
    @discardableResult
    public mutating func append(_ id: ID) -> Bool {
        guard places[id] == nil else { return false }
        places[id] = slots.count
        slots.append(id)
        return true
    }

    /// Takes an id out; one that is not there is none.
    ///
    /// - Returns: whether it was there.
    @discardableResult
    public mutating func remove(_ id: ID) -> Bool {
        guard let place = places.removeValue(forKey: id) else { return false }
        slots[place] = nil
        closeGaps()
        return true
    }

    /// Takes the oldest out.
    ///
    /// - Returns: as many as were wanted, or all.
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

    /// Moves the ids together once most slots are gaps: as many were taken out as have to be moved.
    private mutating func closeGaps() {
        guard slots.count > 2 * places.count + 16 else { return }
        slots.removeAll { $0 == nil }
        first = 0
        for (place, id) in slots.enumerated() { if let id { places[id] = place } }
    }
}

extension InsertionOrder: Sequence {
    /// The ids, the oldest first.
    public func makeIterator() -> some IteratorProtocol<ID> { slots[first...].lazy.compactMap(\.self).makeIterator() }

    /// How many there are at least.
    public var underestimatedCount: Int { count }
}
