public import JSON

/// The types allowed for a member.
public struct ValueTypes: OptionSet, Sendable, Hashable {
    /// The bits of the set.
    public let rawValue: UInt16

    /// The set with these bits.
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// A string, including the empty one.
    public static let string: ValueTypes = [nonEmptyString, emptyString]
    /// A string of at least one byte.
    public static let nonEmptyString = ValueTypes(rawValue: 1)
    /// A number without fraction or exponent.
    public static let integer = ValueTypes(rawValue: 2)
    /// A number in any form, finite and at most 2^53.
    public static let number: ValueTypes = [integer, fraction]
    /// `true` or `false`.
    public static let boolean = ValueTypes(rawValue: 8)
    public static let array = ValueTypes(rawValue: 16)
    public static let object = ValueTypes(rawValue: 32)
    public static let null = ValueTypes(rawValue: 64)
    public static let any = ValueTypes(rawValue: .max)

    private static let fraction = ValueTypes(rawValue: 4)
    private static let emptyString = ValueTypes(rawValue: 128)
    private static let excessiveNumber = ValueTypes(rawValue: 256)

    public func allows(_ value: JSON) -> Bool { contains(Self.type(of: value)) }

    private static func type(of value: JSON) -> ValueTypes {
        switch value {
        case .null: return .null
        case .bool: return .boolean
        case .array: return .array
        case .object: return .object
        case .string(let string): return string.utf8.isEmpty ? .emptyString : .nonEmptyString
        case .number:
            let date = NumericDate(value)
            if date.seconds() == nil { return .excessiveNumber }
            return date.form == .integer ? .integer : .fraction
        }
    }
}

extension ValueTypes: CustomStringConvertible {
    public var description: String {
        if self == .any { return "any value" }
        var names: [String] = []
        if contains(.string) {
            names.append("string")
        } else if contains(.nonEmptyString) {
            names.append("non-empty string")
        }
        if contains(.number) { names.append("number") } else if contains(.integer) { names.append("integer") }
        let others: [(ValueTypes, String)] = [
            (.boolean, "boolean"), (.array, "array"), (.object, "object"), (.null, "null"),
        ]
        return (names + others.filter { contains($0.0) }.map(\.1)).joined(separator: " or ")
    }
}
