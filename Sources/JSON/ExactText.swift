/// A text compared byte for byte, as names and ids on the wire are; ordered by its bytes.
///
/// `String` also equates texts that differ only in Unicode normalization, so a dictionary would merge two issuers. Used
/// as a property wrapper, it makes a type's synthesized `==` and `hash` compare that property byte for byte.
@propertyWrapper
public struct ExactText: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// The text as received.
    public var wrappedValue: String

    /// Wraps a text.
    public init(wrappedValue: String) {
        self.wrappedValue = wrappedValue
    }

    /// Wraps a text.
    public init(_ text: some StringProtocol) {
        wrappedValue = String(text)
    }

    /// The text as received.
    public var text: String { wrappedValue }

    /// The text as received.
    public var description: String { wrappedValue }

    /// The text as a JSON string.
    public var json: JSON { .string(text) }

    /// Whether both have the same bytes.
    public static func == (left: ExactText, right: ExactText) -> Bool { left.text.hasSameBytes(as: right.text) }

    /// Orders texts by their bytes.
    public static func < (left: ExactText, right: ExactText) -> Bool {
        left.text.utf8.lexicographicallyPrecedes(right.text.utf8)
    }

    /// Hashes the bytes.
    public func hash(into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}
