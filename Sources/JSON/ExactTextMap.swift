/// A dictionary whose keys are equal only byte for byte.
///
/// Inlinable, so that other modules specialize it for their values.
public struct ExactTextMap<Value> {
    @usableFromInline var entries: [ExactText: Value] = [:]

    /// An empty map.
    @inlinable
    public init() {}

    /// The value for that text.
    @inlinable
    public subscript(text: String) -> Value? {
        get { entries[ExactText(text)] }
        _modify { yield &entries[ExactText(text)] }
    }

    /// The number of entries.
    @inlinable
    public var count: Int { entries.count }

    /// The texts, unordered.
    @inlinable
    public var keys: [String] { entries.keys.map(\.text) }

    /// The values, unordered.
    @inlinable
    public var values: some Collection<Value> { entries.values }

    /// Sets the value for a text.
    ///
    /// - Returns: the previous value.
    @inlinable @discardableResult
    public mutating func updateValue(_ value: Value, forKey text: String) -> Value? {
        entries.updateValue(value, forKey: ExactText(text))
    }

    /// Removes the value for a text.
    ///
    /// - Returns: the removed value.
    @inlinable @discardableResult
    public mutating func removeValue(forKey text: String) -> Value? { entries.removeValue(forKey: ExactText(text)) }

    /// The entries in the byte order of their texts.
    @inlinable
    public var sorted: [(key: String, value: Value)] {
        entries.sorted { $0.key < $1.key }.map { ($0.key.text, $0.value) }
    }
}

extension ExactTextMap: Sendable where Value: Sendable {}
extension ExactTextMap: Equatable where Value: Equatable {}
