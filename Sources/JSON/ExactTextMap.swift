/// Values by texts that are the same only byte for byte.
///
/// Inlinable, so that other modules compile it for their own values.
public struct ExactTextMap<Value> {
    @usableFromInline var entries: [ExactText: Value] = [:]

    /// No values.
    @inlinable
    public init() {}

    /// The value of that text.
    @inlinable
    public subscript(text: String) -> Value? {
        get { entries[ExactText(text)] }
        _modify { yield &entries[ExactText(text)] }
    }

    /// How many values there are.
    @inlinable
    public var count: Int { entries.count }

    /// The texts, in no order.
    @inlinable
    public var keys: [String] { entries.keys.map(\.text) }

    /// The values, in no order.
    @inlinable
    public var values: some Collection<Value> { entries.values }

    /// Sets the value of a text.
    ///
    /// - Returns: the value that it had.
    @inlinable @discardableResult
    public mutating func updateValue(_ value: Value, forKey text: String) -> Value? {
        entries.updateValue(value, forKey: ExactText(text))
    }

    /// Removes the value of a text.
    ///
    /// - Returns: the value that it had.
    @inlinable @discardableResult
    public mutating func removeValue(forKey text: String) -> Value? { entries.removeValue(forKey: ExactText(text)) }

    /// Texts with their values, in the order of the texts' bytes.
    @inlinable
    public var sorted: [(key: String, value: Value)] {
        entries.sorted { $0.key < $1.key }.map { ($0.key.text, $0.value) }
    }
}

extension ExactTextMap: Sendable where Value: Sendable {}
extension ExactTextMap: Equatable where Value: Equatable {}
