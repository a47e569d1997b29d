/// A JSON value that keeps the order of members, repeated names and the form of every number.
public enum JSON: Sendable, Hashable {
    case null
    /// `true` or `false`.
    case bool(Bool)
    case number(JSONNumber)
    /// A string, unescaped.
    case string(String)
    case array([JSON])
    /// An object, its members in the order of the text.
    case object(JSONObject)
}

extension JSON {
    /// Whether both have the same form: texts byte for byte, numbers as written, members in order.
    public static func == (left: JSON, right: JSON) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.bool(let one), .bool(let other)): one == other
        case (.number(let one), .number(let other)): one == other
        case (.string(let one), .string(let other)): one.hasSameBytes(as: other)
        case (.array(let one), .array(let other)): one == other
        case (.object(let one), .object(let other)): one == other
        default: false
        }
    }

    /// The string, or `nil` for another type.
    public var string: String? {
        if case .string(let value) = self { value } else { nil }
    }

    /// The number, or `nil` for another type; a numeric string is not a number.
    public var number: JSONNumber? {
        if case .number(let value) = self { value } else { nil }
    }

    /// The number as an integer, or `nil` when it has a fraction or an exponent, or does not fit.
    public var int: Int? { number?.int }

    /// The boolean, or `nil` for another type.
    public var bool: Bool? {
        if case .bool(let value) = self { value } else { nil }
    }

    /// The elements, or `nil` for another type.
    public var array: [JSON]? {
        if case .array(let elements) = self { elements } else { nil }
    }

    /// The object, or `nil` for another type.
    public var object: JSONObject? {
        if case .object(let object) = self { object } else { nil }
    }

    public var isNull: Bool {
        if case .null = self { true } else { false }
    }

    /// The first member with that name; `nil` when there is none or the value is not an object.
    public subscript(name: String) -> JSON? { object?[name] }

    /// The element at that index; `nil` when there is none or the value is not an array.
    public subscript(index: Int) -> JSON? {
        guard let array, array.indices.contains(index) else { return nil }
        return array[index]
    }

    /// The name of the type as JSON Schema spells it: `null`, `boolean`, `number`, `string`, `array`, `object`.
    public var typeName: String {
        switch self {
        case .null: "null"
        case .bool: "boolean"
        case .number: "number"
        case .string: "string"
        case .array: "array"
        case .object: "object"
        }
    }

    /// How deep arrays and objects are nested; 0 for other types.
    public var depth: Int {
        switch self {
        case .array(let elements): 1 + (elements.lazy.map(\.depth).max() ?? 0)
        case .object(let object): 1 + (object.lazy.map(\.value.depth).max() ?? 0)
        case .null, .bool, .number, .string: 0
        }
    }
}

extension JSON {
    /// Whether any object in it, at any depth, repeats a member name.
    public var repeatsNames: Bool {
        switch self {
        case .null, .bool, .number, .string: false
        // By index: a closure would copy every value it visits.
        case .array(let elements): elements.indices.contains { elements[$0].repeatsNames }
        case .object(let object):
            object.repeatsName
                || object.members.indices.contains {
                    object.members[$0].value.isContainer && object.members[$0].value.repeatsNames
                }
        }
    }

    private var isContainer: Bool {
        switch self {
        case .null, .bool, .number, .string: false
        case .array, .object: true
        }
    }
}

extension JSON: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByFloatLiteral, ExpressibleByStringInterpolation, ExpressibleByArrayLiteral,
    ExpressibleByDictionaryLiteral
{
    public init(nilLiteral: ()) { self = .null }

    public init(booleanLiteral value: Bool) { self = .bool(value) }

    public init(integerLiteral value: Int) { self = .number(JSONNumber(value)) }

    /// A number in the shortest form that reads back as the same double.
    public init(floatLiteral value: Double) { self = .number(JSONNumber(value)) }

    public init(stringLiteral value: String) { self = .string(value) }

    public init(arrayLiteral elements: JSON...) { self = .array(elements) }

    /// An object with its members in the literal's order.
    public init(dictionaryLiteral elements: (String, JSON)...) { self = .object(JSONObject(elements)) }
}

extension JSON {
    public init(_ value: Int) { self = .number(JSONNumber(value)) }

    /// A string, or `null` for `nil`.
    public init(_ value: String?) { self = value.map(JSON.string) ?? .null }
}

extension JSON {
    /// Whether both are equal by RFC 9535 section 2.3.5.2.2: numbers by value (`1` equals `1.0`), objects regardless of
    /// member order. Members with the same name are compared in order.
    ///
    /// `==` is stricter: the form of a number and the order of members can matter to a client.
    public func isEquivalent(to other: JSON) -> Bool {
        switch (self, other) {
        case (.number(let own), .number(let other)): own.isEquivalent(to: other)
        case (.string(let own), .string(let other)): own.hasSameBytes(as: other)
        case (.array(let own), .array(let other)):
            own.count == other.count && zip(own, other).allSatisfy { $0.isEquivalent(to: $1) }
        case (.object(let own), .object(let other)):
            own.count == other.count
                && zip(own.sortedByName, other.sortedByName).allSatisfy { own, other in
                    own.name.hasSameBytes(as: other.name) && own.value.isEquivalent(to: other.value)
                }
        default: self == other
        }
    }
}

extension JSONObject {
    /// Members in the byte order of their names. The sort keeps the order of members with equal names, which `sort`
    /// does not promise.
    fileprivate var sortedByName: [Member] {
        let order = members.indices.sorted { left, right in
            let (one, other) = (members[left].name, members[right].name)
            return one.hasSameBytes(as: other) ? left < right : one.utf8.lexicographicallyPrecedes(other.utf8)
        }
        return order.map { members[$0] }
    }
}

extension JSONNumber {
    /// Whether both denote the same number, however it is written.
    public func isEquivalent(to other: JSONNumber) -> Bool {
        if let own = int, let other = other.int { return own == other }
        // Beyond 2⁵³ different numbers share the same nearest double, and very large ones are all infinite.
        return double == other.double && isExactly(other)
    }

    private func isExactly(_ other: JSONNumber) -> Bool {
        if literal.utf8.elementsEqual(other.literal.utf8) { return true }
        guard let own = DecimalForm(literal), let other = DecimalForm(other.literal) else { return false }
        return own == other
    }

    public func isLess(than other: JSONNumber) -> Bool {
        if let own = int, let other = other.int { return own < other }
        return double < other.double
    }
}
