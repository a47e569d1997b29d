public import JSON
public import Synchronization

/// Cached results for strings that recur, since a client sends the same token, and requests the same path, many times.
///
/// Only what follows from the string itself may be cached here: what depends on the moment, on switches or on the state
/// is judged again for each request, unless it is cached together with the switches or the key involved.
public final class RecentReadings<Reading: Sendable>: Sendable {
    /// A slot of the table. A string seen once leaves its hash there, and takes the slot when it recurs, so that
    /// one-time strings neither evict others nor cost more than a lookup.
    @usableFromInline
    struct Slot {
        @usableFromInline var hash = 0
        @usableFromInline var candidate = 0
        @usableFromInline var entry: (text: [UInt8], reading: Reading)?

        @inlinable
        init(hash: Int = 0, entry: (text: [UInt8], reading: Reading)? = nil) {
            self.hash = hash
            candidate = hash
            self.entry = entry
        }
    }

    @usableFromInline
    final class Table: Sendable {
        @usableFromInline let slots = Mutex<[Slot]>([])
    }

    /// Tables with a lock each, so that event loops seldom wait for each other.
    @usableFromInline let tables: [Table]
    /// The longest string that is kept, in bytes, so that the memory stays within a few megabytes.
    @usableFromInline static var longest: Int { 2048 }
    @usableFromInline static var tableCount: Int { 16 }
    @usableFromInline static var slotsPerTable: Int { 32 }

    public init() {
        // Not by `map`, whose types generic code would have to look up at run time.
        var tables: [Table] = []
        for _ in 0..<Self.tableCount { tables.append(Table()) }
        self.tables = tables
    }

    /// The cached result for the text, or what `read` makes of it now.
    @inlinable
    public func reading(of text: ArraySlice<UInt8>, _ read: ([UInt8]) -> Reading) -> Reading {
        guard text.count <= Self.longest else { return read(Array(text)) }
        let hash = Self.hash(of: text)
        let table = tables[hash & (Self.tableCount - 1)]
        let place = hash / Self.tableCount & (Self.slotsPerTable - 1)
        let (known, isWorthKeeping) = table.slots.withLock { slots -> (Reading?, Bool) in
            // Not at the start, when each would be copied by its type's witnesses.
            if slots.isEmpty { slots = Array(repeating: Slot(), count: Self.slotsPerTable) }
            if slots[place].hash == hash, let entry = slots[place].entry, text.hasSameBytes(as: entry.text[...]) {
                return (entry.reading, false)
            }
            defer { slots[place].candidate = hash }
            return (nil, slots[place].candidate == hash)
        }
        if let known { return known }
        let text = Array(text)
        let reading = read(text)
        if isWorthKeeping {
            let forgotten = table.slots.withLock { slots in
                defer { slots[place] = Slot(hash: hash, entry: (text, reading)) }
                return slots[place].entry
            }
            // The evicted entry is destroyed after unlocking.
            withExtendedLifetime(forgotten) {}
        }
        return reading
    }

    /// Hashes the last bytes of long strings: those of a signature are as good as random, and collisions only cause
    /// repeated reading. Paths are shorter, and often end alike.
    @inlinable
    static func hash(of text: ArraySlice<UInt8>) -> Int {
        var hasher = Hasher()
        (text.count > 128 ? text.suffix(16) : text).withUnsafeBytes { hasher.combine(bytes: $0) }
        return hasher.finalize() & .max
    }
}

extension Mutex {
    /// The value, which is made when it is first needed; the lock is held meanwhile.
    package func once<Made: Sendable>(_ make: () -> Made) -> Made where Value == Made? {
        withLock { value in
            if let value { return value }
            let made = make()
            value = made
            return made
        }
    }
}

/// Ids in insertion order.
///
/// Adding an id, removing one from the middle and removing the oldest each take constant time; a plain array would move
/// or visit all others each time.
public struct InsertionOrder<ID: Hashable & Sendable>: Sendable {
    /// The ids, with gaps where some were removed.
    @usableFromInline var slots: [ID?] = []
    @usableFromInline var places: [ID: Int] = [:]
    /// A lower bound for the oldest id's position; only gaps precede it.
    @usableFromInline var first = 0

    @inlinable public init() {}

    @inlinable public var count: Int { places.count }

    @inlinable public var isEmpty: Bool { places.isEmpty }

    @inlinable public func contains(_ id: ID) -> Bool { places[id] != nil }

    /// Appends an id; one that is already there keeps its position.
    ///
    /// - Returns: whether it is new.
    @discardableResult @inlinable
    public mutating func append(_ id: ID) -> Bool {
        guard places[id] == nil else { return false }
        places[id] = slots.count
        slots.append(id)
        return true
    }

    /// Removes an id, if it is there.
    ///
    /// - Returns: whether it was there.
    @discardableResult @inlinable
    public mutating func remove(_ id: ID) -> Bool {
        guard let place = places.removeValue(forKey: id) else { return false }
        slots[place] = nil
        closeGaps()
        return true
    }

    /// Removes the oldest ids.
    ///
    /// - Returns: as many as requested, or all.
    @inlinable
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
    @inlinable
    mutating func closeGaps() {
        guard slots.count > 2 * places.count + 16 else { return }
        slots.removeAll { $0 == nil }
        first = 0
        for (place, id) in slots.enumerated() { if let id { places[id] = place } }
    }
}

extension InsertionOrder: Sequence {
    /// The ids, oldest first.
    ///
    /// Not a lazy sequence, whose types would be made at run time.
    @inlinable
    public func makeIterator() -> IndexingIterator<[ID]> {
        var ids: [ID] = []
        for place in first..<slots.count { if let id = slots[place] { ids.append(id) } }
        return ids.makeIterator()
    }

    /// The exact number of ids.
    @inlinable public var underestimatedCount: Int { count }
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
