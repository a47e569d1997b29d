/// A record that a ``RecordTable`` holds by a unique key.
public protocol KeyedRecord: Sendable {
    /// What tells records apart; no two keys have the same description.
    associatedtype Key: Hashable & Sendable & CustomStringConvertible
    /// An additional unique name of a record.
    associatedtype Name: Hashable & Sendable = Never
    /// A property shared by records that are looked up together.
    associatedtype Group: Hashable & Sendable = Never

    var key: Key { get }
    /// Its current additional names.
    var names: [Name] { get }
    /// Its permanent group.
    var group: Group? { get }
    /// An estimate of the memory that it takes, in bytes, which must be cheap to get.
    var memory: Int { get }
    /// The part of it that must not be shown.
    var secretText: String? { get }

    /// Whether one key is listed before another; `nil` to list records in insertion order.
    static var keyOrder: ((Key, Key) -> Bool)? { get }

    /// Whether the exported parts are equal.
    func isSame(as other: Self) -> Bool
    /// Takes over what an export omits from the previous record with the same key.
    mutating func keepSecrets(of known: Self, leftOutBy extent: StateExtent?)
    /// The complaint about a record whose key, or the given name, is already used in a list.
    func clash(over name: Name?) -> String
}

extension KeyedRecord where Name == Never {
    /// By default, it has no other names.
    @inlinable public var names: [Never] { [] }
}

extension KeyedRecord where Group == Never {
    /// By default, it belongs to no group.
    @inlinable public var group: Never? { nil }
}

extension KeyedRecord {
    /// By default, its memory is not counted.
    @inlinable public var memory: Int { 0 }
    /// By default, all of it may be shown.
    @inlinable public var secretText: String? { nil }
    package static var keyOrder: ((Key, Key) -> Bool)? { nil }
    package mutating func keepSecrets(of known: Self, leftOutBy extent: StateExtent?) {}
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
