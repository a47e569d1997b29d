/// Records by key: those of the fixtures, shared by all sandboxes, overlaid with what requests added, changed or
/// removed.
///
/// Fixture records are never copied, and an unchanged table stores nothing of its own. Copying a table costs one
/// reference; the next change to either copy then copies the overlay, but no fixture records.
public struct RecordTable<Record: KeyedRecord>: Sendable {
    public typealias Key = Record.Key

    /// What the fixtures give.
    @usableFromInline
    final class Base: Sendable {
        @usableFromInline let records: [Key: Record]
        @usableFromInline let order: [Key]
        @usableFromInline let names: [Record.Name: Key]
        @usableFromInline let untouched: Overlay

        init(_ list: [Record], lastNumber: Int) {
            var (records, names): ([Key: Record], [Record.Name: Key]) = ([:], [:])
            var (keys, untouched): ([Key], Overlay) = ([], Overlay())
            untouched.lastNumber = lastNumber
            for record in list {
                records[record.key] = record
                keys.append(record.key)
                for name in record.names { names[name] = record.key }
                untouched.byteCount += record.memory
                if let secret = record.secretText { untouched.secrets.add(secret) }
                untouched.lastNumber = max(untouched.lastNumber, record.key as? Int ?? 0)
            }
            order = Record.keyOrder.map { keys.sorted(by: $0) } ?? keys
            (self.records, self.names, self.untouched) = (records, names, untouched)
        }
    }

    /// What requests added, changed or removed.
    @usableFromInline
    struct Overlay: Sendable {
        @usableFromInline var records: [Key: Record] = [:]
        /// Keys of fixture records that were removed, even if added again later.
        @usableFromInline var hidden: Set<Key> = []
        /// The names of ``records``; names from the fixtures count only for keys that are not in it.
        @usableFromInline var names: [Record.Name: Key] = [:]
        @usableFromInline var groups: [Record.Group: InsertionOrder<Key>] = [:]
        /// Keys of records that do not replace a fixture record, in insertion order.
        @usableFromInline var added = InsertionOrder<Key>()
        @usableFromInline var byteCount = 0
        @usableFromInline var secrets = SecretLedger()
        @usableFromInline var lastNumber = 0

        @usableFromInline init() {}
    }

    /// Which records changed since the trail was last taken.
    @usableFromInline
    struct Trail: Sendable {
        /// The new keys, in insertion order.
        @usableFromInline var keys = InsertionOrder<Key>()
        /// Those of records that were removed, even if added again later.
        @usableFromInline var removed: Set<Key> = []

        @usableFromInline init() {}
    }

    @usableFromInline let base: Base
    /// Empty or one element: it is copied as one reference, and changed in place while unshared.
    @usableFromInline var overlay: [Overlay] = []
    /// Whether somebody follows the table's changes.
    @usableFromInline var isFollowed = false
    /// Empty, or one element once something has changed.
    @usableFromInline var trail: [Trail] = []

    /// Creates a table of the fixtures' records, in their order; groups contain only what requests added.
    ///
    /// - Parameter lastNumber: the number after which numbers are issued, unless the fixtures have a larger one.
    package init(fixtures records: [Record] = [], lastNumber: Int = 0) { base = Base(records, lastNumber: lastNumber) }

    // MARK: - Lookup

    @inlinable
    public subscript(key: Key) -> Record? {
        guard !overlay.isEmpty else { return base.records[key] }
        if let record = overlay[0].records[key] { return record }
        return overlay[0].hidden.contains(key) ? nil : base.records[key]
    }

    @inlinable
    public func key(named name: Record.Name) -> Key? {
        guard !overlay.isEmpty else { return base.names[name] }
        if let key = overlay[0].names[name] { return key }
        guard let key = base.names[name], overlay[0].records.index(forKey: key) == nil,
            !overlay[0].hidden.contains(key)
        else { return nil }
        return key
    }

    @inlinable
    public subscript(named name: Record.Name) -> Record? { key(named: name).flatMap { self[$0] } }

    package func records(in group: Record.Group) -> [Record] {
        overlay.isEmpty ? [] : (overlay[0].groups[group] ?? InsertionOrder()).compactMap { self[$0] }
    }

    package func count(in group: Record.Group) -> Int { overlay.isEmpty ? 0 : overlay[0].groups[group]?.count ?? 0 }

    package var count: Int {
        base.order.count + (overlay.isEmpty ? 0 : overlay[0].added.count - overlay[0].hidden.count)
    }

    /// Keys of records that do not replace a fixture record, oldest first.
    package var added: InsertionOrder<Key> { overlay.isEmpty ? InsertionOrder() : overlay[0].added }

    /// An estimate of the memory that the records take, in bytes.
    @inlinable
    public var byteCount: Int { overlay.isEmpty ? base.untouched.byteCount : overlay[0].byteCount }

    /// The current and past values in the records that must not be shown.
    package var secrets: SecretLedger { overlay.isEmpty ? base.untouched.secrets : overlay[0].secrets }

    /// The largest number that was given to a record, even if that record is gone.
    package var lastNumber: Int { overlay.isEmpty ? base.untouched.lastNumber : overlay[0].lastNumber }

    /// All keys: those of the fixtures in their positions, then in insertion order, unless keys define an order.
    package var keys: [Key] {
        guard let overlay = overlay.first else { return base.order }
        let kept = overlay.hidden.isEmpty ? base.order : base.order.filter { !overlay.hidden.contains($0) }
        var keys = kept
        // Not by `+`, whose types generic code would have to look up at run time.
        for key in overlay.added { keys.append(key) }
        return Self.ordered(keys)
    }

    package var all: [Record] { keys.compactMap { self[$0] } }

    private static func ordered(_ keys: [Key]) -> [Key] { Record.keyOrder.map { keys.sorted(by: $0) } ?? keys }

    // MARK: - Changes by requests

    /// The records that are not in the fixtures or differ from them.
    package var changed: [Record] {
        guard let overlay = overlay.first else { return [] }
        let kept = base.order.filter { overlay.records[$0] != nil && !overlay.hidden.contains($0) }
        return Self.ordered(kept + overlay.added).compactMap { changed($0) }
    }

    /// Whether any record is not in the fixtures or differs from them.
    var hasChanged: Bool { overlay.first?.records.keys.contains { changed($0) != nil } ?? false }

    /// The record with that key if it is not in the fixtures or differs from them.
    package func changed(_ key: Key) -> Record? {
        guard let record = overlay.first?.records[key] else { return nil }
        return base.records[key].map { record.isSame(as: $0) } == true ? nil : record
    }

    package var removed: [Key] { overlay.isEmpty ? [] : base.order.filter { self[$0] == nil } }

    package func isOfFixtures(_ key: Key) -> Bool { base.records[key] != nil }

    /// The fixtures' records alone, without changes by requests.
    package var untouched: RecordTable {
        var table = self
        (table.overlay, table.trail, table.isFollowed) = ([], [], false)
        return table
    }
}

// MARK: - Mutation

extension RecordTable {
    @inlinable
    mutating func touch() { if overlay.isEmpty { overlay.append(base.untouched) } }

    /// Stores a record in its position, or at the end if it is new; a removed fixture record gets its old position
    /// back.
    @inlinable
    public mutating func store(_ record: Record) {
        let key = record.key
        var old = self[key]
        touch()
        if isFollowed { note(key) }
        if old == nil, let given = base.records[key] {
            overlay[0].hidden.remove(key)
            overlay[0].byteCount += given.memory
            old = given
        }
        if let secret = record.secretText, old?.secretText != secret { overlay[0].secrets.add(secret) }
        overlay[0].byteCount += record.memory - (old?.memory ?? 0)
        if let before = overlay[0].records.updateValue(record, forKey: key) { forgetNames(of: before) }
        for name in record.names { overlay[0].names[name] = key }
        overlay[0].lastNumber = max(overlay[0].lastNumber, key as? Int ?? 0)
        guard old == nil else { return }
        overlay[0].added.append(key)
        if let group = record.group { overlay[0].groups[group, default: InsertionOrder()].append(key) }
    }

    /// Replaces all records that share its key or a name with a record.
    package mutating func put(_ record: Record) {
        let key = record.key
        for name in record.names { if let other = self.key(named: name), other != key { remove(other) } }
        store(record)
    }

    /// Changes a record in place; its names and secrets must stay the same.
    ///
    /// - Returns: `nil` when there is no such record.
    @inlinable @discardableResult
    public mutating func change<Value>(_ key: Key, _ body: (inout Record) -> Value) -> Value? {
        if overlay.isEmpty || overlay[0].records.index(forKey: key) == nil {
            guard let record = self[key] else { return nil }
            store(record)
        }
        guard let index = overlay[0].records.index(forKey: key) else { return nil }
        if isFollowed { note(key) }
        let before = overlay[0].records.values[index].memory
        // In place: changing a copy would copy all that the record holds.
        let value = body(&overlay[0].records.values[index])
        overlay[0].byteCount += overlay[0].records.values[index].memory - before
        return value
    }

    @discardableResult
    package mutating func remove(_ key: Key) -> Record? {
        guard let old = self[key] else { return nil }
        touch()
        if isFollowed { note(removed: key) }
        if overlay[0].records.removeValue(forKey: key) != nil { forgetNames(of: old) }
        if isOfFixtures(key) { overlay[0].hidden.insert(key) }
        overlay[0].byteCount -= old.memory
        overlay[0].added.remove(key)
        if let group = old.group {
            overlay[0].groups[group]?.remove(key)
            if overlay[0].groups[group]?.isEmpty == true { overlay[0].groups[group] = nil }
        }
        return old
    }

    @inlinable
    mutating func forgetNames(of record: Record) {
        for name in record.names where overlay[0].names[name] == record.key { overlay[0].names[name] = nil }
    }

    /// Removes every record, those of the fixtures included.
    package mutating func removeAll() {
        var nothing = Overlay()
        nothing.hidden = Set(base.order)
        (nothing.secrets, nothing.lastNumber) = (base.untouched.secrets, base.untouched.lastNumber)
        (overlay, trail, isFollowed) = ([nothing], [], false)
    }

    package func fits(_ bound: RecordBound) -> Bool {
        overlay.isEmpty || overlay[0].added.count <= bound.count && overlay[0].byteCount <= bound.bytes
    }

    /// Enforces a limit by removing the oldest records that are not in the fixtures.
    ///
    /// - Parameter spared: the key of a record that always stays.
    /// - Returns: the removed records.
    package mutating func shrink(to bound: RecordBound, sparing spared: Key? = nil) -> [Record] {
        guard !fits(bound) else { return [] }
        let least = bound.share.map { max(1, overlay[0].added.count / $0) } ?? 0
        var gone: [Record] = []
        for key in added where key != spared {
            if gone.count >= least, fits(bound) { break }
            if let record = remove(key) { gone.append(record) }
        }
        return gone
    }

    /// Continues numbering after that number, unless it is already there.
    package mutating func count(from number: Int) {
        guard number > lastNumber else { return }
        touch()
        if isFollowed, trail.isEmpty { trail = [Trail()] }
        overlay[0].lastNumber = number
    }
}

extension RecordTable where Key == Int {
    /// The number for a new record: the next after ``lastNumber`` that no record has.
    package func nextNumber(upTo largest: Int = Ordinal.largest, besides isTaken: (Int) -> Bool = { _ in false }) -> Int
    {
        Ordinal.free(after: lastNumber, upTo: largest) { self[$0] != nil || isTaken($0) }
    }
}

// MARK: - Following changes

extension RecordTable {
    /// From now on, notes which records change.
    mutating func follow() { (isFollowed, trail) = (true, []) }

    /// Whether the next pass over it may find a change.
    package var hasNews: Bool { !isFollowed || !trail.isEmpty }

    /// What has changed since the last time; `nil` if the table notes nothing.
    mutating func takeTrail() -> Trail? {
        guard isFollowed else { return nil }
        defer { trail = [] }
        return trail.first ?? Trail()
    }

    @usableFromInline
    mutating func note(_ key: Key) {
        if trail.isEmpty { trail = [Trail()] }
        trail[0].keys.append(key)
    }

    private mutating func note(removed key: Key) {
        // Added again, it follows those that were added meanwhile.
        if !trail.isEmpty { trail[0].keys.remove(key) }
        note(key)
        trail[0].removed.insert(key)
    }
}

/// A record that a ``RecordTable`` holds by a unique key.
public protocol KeyedRecord: Sendable {
    /// Identifies the record; no two keys have the same description.
    associatedtype Key: Hashable & Sendable & CustomStringConvertible
    /// An additional unique name of a record.
    associatedtype Name: Hashable & Sendable = Never
    /// A property shared by records that are looked up together.
    associatedtype Group: Hashable & Sendable = Never

    var key: Key { get }
    var names: [Name] { get }
    var group: Group? { get }
    /// An estimate of the memory that it takes, in bytes, which must be cheap to get.
    var memory: Int { get }
    /// The part of it that must not be shown.
    var secretText: String? { get }

    /// Whether one key is listed before another; `nil` to list records in insertion order.
    static var keyOrder: ((Key, Key) -> Bool)? { get }

    /// Whether the exported parts are equal.
    func isSame(as other: Self) -> Bool
    /// Takes over what an export, whole or of changes, omits from the previous record with the same key.
    mutating func keepSecrets(of known: Self, fromWhole isWhole: Bool)
    /// The complaint about a record whose key, or the given name, is already used in a list.
    func clash(over name: Name?) -> String
}

extension KeyedRecord where Name == Never {
    @inlinable public var names: [Never] { [] }
}

extension KeyedRecord where Group == Never {
    @inlinable public var group: Never? { nil }
}

extension KeyedRecord {
    @inlinable public var memory: Int { 0 }
    @inlinable public var secretText: String? { nil }
    package static var keyOrder: ((Key, Key) -> Bool)? { nil }
    package mutating func keepSecrets(of known: Self, fromWhole isWhole: Bool) {}
    package func clash(over name: Name?) -> String { "another one is called \(key)" }
}

extension KeyedRecord where Self: CodedRecord {
    package func isSame(as other: Self) -> Bool { isExported(like: other, .changes) }
}

extension KeyedRecord where Self: CodedRecord & Equatable {
    package func isSame(as other: Self) -> Bool { self == other }
}

/// How much a table may hold beyond the fixtures, and how it makes room.
public struct RecordBound: Sendable {
    let count: Int
    /// The most bytes in total, including those of the fixtures.
    let bytes: Int
    /// The fraction of the records to remove at once (one part in `share`), since removing single ones would cost as
    /// much each time; `nil` for no more than necessary.
    let share: Int?

    /// Creates a bound; room is made by removing one record in a hundred, unless it says otherwise.
    package init(count: Int, bytes: Int = .max, share: Int? = 100) {
        (self.count, self.bytes, self.share) = (count, bytes, share)
    }
}
