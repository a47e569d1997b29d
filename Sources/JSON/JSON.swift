/// A JSON value that keeps the order of members, repeated names and the form of every number.
public enum JSON: Sendable, Hashable {
    /// The literal `null`.
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
    /// An integer.
    public init(_ value: Int) { self = .number(JSONNumber(value)) }

    /// A string, or `null` for `nil`.
    public init(_ value: String?) { self = value.map(JSON.string) ?? .null }
}
