/// A text compared byte for byte, as names and ids on the wire are; ordered by its bytes.
///
/// `String` also equates texts that differ only in Unicode normalization, so a dictionary would merge two issuers. Used
/// as a property wrapper, it makes a type's synthesized `==` and `hash` compare that property byte for byte.
@propertyWrapper
public struct ExactText: Sendable, Hashable, Comparable, CustomStringConvertible {
    public var wrappedValue: String

    public init(wrappedValue: String) {
        self.wrappedValue = wrappedValue
    }

    public init(_ text: some StringProtocol) {
        wrappedValue = String(text)
    }

    public var text: String { wrappedValue }

    public var description: String { wrappedValue }

    public var json: JSON { .string(text) }

    public static func == (left: ExactText, right: ExactText) -> Bool { left.text.hasSameBytes(as: right.text) }

    /// Orders texts by their bytes.
    public static func < (left: ExactText, right: ExactText) -> Bool {
        left.text.utf8.lexicographicallyPrecedes(right.text.utf8)
    }

    public func hash(into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}
