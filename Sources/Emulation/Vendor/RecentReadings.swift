public import JSON
public import Synchronization

/// What was made of texts that came more than once, since a client sends one token, and asks one path, many times.
///
/// Only what a text says of itself may be kept here: what depends on the moment, on switches or on the state is judged
/// anew for each request, unless it is kept together with the switches or the key it was made by.
public final class RecentReadings<Reading: Sendable>: Sendable {
    /// A place of the table. A text that came once leaves its hash there, and takes the place when it comes again, so
    /// that texts which are used once neither push out the others nor cost more than a look.
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
        @usableFromInline let slots = Mutex([Slot](repeating: Slot(), count: slotsPerTable))
    }

    /// Tables with a lock each, so that event loops seldom wait for each other.
    @usableFromInline let tables: [Table]
    /// The longest text that is kept, in bytes, so that the memory stays within a few megabytes.
    @usableFromInline static var longest: Int { 2048 }
    @usableFromInline static var tableCount: Int { 16 }
    @usableFromInline static var slotsPerTable: Int { 32 }

    /// Nothing is known yet.
    public init() {
        tables = (0..<Self.tableCount).map { _ in Table() }
    }

    /// What was made of the text before, or what `read` makes of it now.
    @inlinable
    public func reading(of text: ArraySlice<UInt8>, _ read: ([UInt8]) -> Reading) -> Reading {
        guard text.count <= Self.longest else { return read(Array(text)) }
        let hash = Self.hash(of: text)
        let table = tables[hash & (Self.tableCount - 1)]
        let place = hash / Self.tableCount & (Self.slotsPerTable - 1)
        let (known, isWorthKeeping) = table.slots.withLock { slots -> (Reading?, Bool) in
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
            // What had the place is destroyed behind the lock.
            withExtendedLifetime(forgotten) {}
        }
        return reading
    }

    /// Of long texts the last bytes: those of a signature are as good as random, and whoever makes tokens that collide only
    /// has them read anew.
    @inlinable
    static func hash(of text: ArraySlice<UInt8>) -> Int {
        var hasher = Hasher()
        (text.count > 256 ? text.suffix(16) : text).withUnsafeBytes { hasher.combine(bytes: $0) }
        return hasher.finalize() & .max
    }
}
