/// A record of which a ``RecordTable`` has one for each key.
public protocol KeyedRecord: Sendable {
    associatedtype Key: Hashable & Sendable
    /// What else a record is found by; no two have the same.
    associatedtype Name: Hashable & Sendable = Never
    /// What records have in common that are looked for together.
    associatedtype Group: Hashable & Sendable = Never

    /// What the record is called by, for good.
    var key: Key { get }
    /// What else it is found by just now.
    var names: [Name] { get }
    /// With whom it is looked for, for good.
    var group: Group? { get }
    /// An estimate of the memory that it takes, in bytes, which must be at hand.
    var memory: Int { get }
    /// What of it nobody may see.
    var secretText: String? { get }

    /// Which of two keys is listed first; `nil` where records are listed in the order in which they came.
    static var keyOrder: ((Key, Key) -> Bool)? { get }

    /// Whether nothing that is exported differs.
    func isSame(as other: Self) -> Bool
    /// Takes over what an export leaves out from the record that had the same key before.
    mutating func keepSecrets(of known: Self, leftOutBy extent: StateExtent?)
    /// What to say of a record whose key or, if it is given, whose name another one of a list has.
    func clash(over name: Name?) -> String
}

extension KeyedRecord where Name == Never {
    /// It has no other names.
    @inlinable public var names: [Never] { [] }
}

extension KeyedRecord where Group == Never {
    /// It belongs to no group.
    @inlinable public var group: Never? { nil }
}

extension KeyedRecord {
    /// Its memory is not counted.
    @inlinable public var memory: Int { 0 }
    /// Everybody may see all of it.
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

/// How much of a table may be kept besides what the fixtures give, and what makes room.
public struct RecordBound: Sendable {
    /// The most records.
    let count: Int
    /// The most bytes of all, those of the fixtures among them.
    let bytes: Int
    /// Which part of the records goes at once, since taking single ones each time would cost as much for each; `nil` for
    /// no more than have to.
    let share: Int?

    package init(count: Int, bytes: Int = .max, share: Int? = 100) {
        (self.count, self.bytes, self.share) = (count, bytes, share)
    }
}
