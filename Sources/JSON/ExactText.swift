/// A text that equals another one only byte for byte, as names and ids on the wire do; smaller is what comes first in
/// the order of bytes.
///
/// A `String` also equals one in another Unicode normalization, so that a dictionary would take two issuers for one. As a
/// wrapper it has a property compared so, and everything that is compared by its properties.
@propertyWrapper
public struct ExactText: Sendable, Hashable, Comparable {
    /// The text as it came.
    public var wrappedValue: String

    /// A text that is to be compared by its bytes.
    public init(wrappedValue: String) {
        self.wrappedValue = wrappedValue
    }

    /// A text that is to be compared by its bytes.
    public init(_ text: some StringProtocol) {
        wrappedValue = String(text)
    }

    /// The text as it came.
    public var text: String { wrappedValue }

    /// The text as a JSON string.
    public var json: JSON { .string(text) }

    /// Whether both have the same bytes.
    public static func == (left: ExactText, right: ExactText) -> Bool { left.text.hasSameBytes(as: right.text) }

    /// Whether the bytes of the left one come first.
    public static func < (left: ExactText, right: ExactText) -> Bool {
        left.text.utf8.lexicographicallyPrecedes(right.text.utf8)
    }

    /// Hashes the bytes.
    public func hash(into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}
