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

    public init() {}

    public var count: Int { places.count }

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

/// Increasing numbers: ids, revisions, event counts.
///
/// An import may set one of them to its maximum. Continuing from there must neither trap nor exceed what the next
/// import accepts.
public enum Ordinal {
    /// The default maximum for reading (ours): exact in every JSON parser, and never reached by counting.
    public static let largest = 1 << 52

    /// The next count, which stops at the maximum.
    public static func next(after count: Int, upTo largest: Int = largest) -> Int { min(count, largest - 1) + 1 }

    /// The sum of two non-negative counts, limited to the maximum.
    public static func sum(_ count: Int, _ other: Int, upTo largest: Int = largest) -> Int {
        min(min(count, largest) + min(other, largest), largest)
    }

    /// The next unused number; after the maximum it restarts at 1.
    ///
    /// - Parameter isTaken: whether a number is in use; at least one must be free.
    public static func free(after last: Int, upTo largest: Int = largest, _ isTaken: (Int) -> Bool) -> Int {
        var number = last
        repeat { number = number < largest ? number + 1 : 1 } while isTaken(number)
        return number
    }
}
