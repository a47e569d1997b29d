/// A JSON value that keeps what the text said: the order of members, repeated names and the form of every number.
public enum JSON: Sendable, Hashable {
    /// The literal `null`.
    case null
    /// `true` or `false`.
    case bool(Bool)
    /// A number, in the form in which it was written.
    case number(JSONNumber)
    /// A string, unescaped.
    case string(String)
    /// An array.
    case array([JSON])
    /// An object, in the order of its text.
    case object(JSONObject)
}

extension JSON {
    /// Whether both say the same in the same way: texts by their bytes, numbers as they were written, members in order.
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

    /// The value as a string, or `nil` when it is of another type.
    public var string: String? {
        if case .string(let value) = self { value } else { nil }
    }

    /// The value as a number, or `nil` when it is of another type; a numeric string is not a number.
    public var number: JSONNumber? {
        if case .number(let value) = self { value } else { nil }
    }

    /// The value as an integer that was written without fraction and exponent, or `nil`.
    public var int: Int? { number?.int }

    /// The value as a boolean, or `nil` when it is of another type.
    public var bool: Bool? {
        if case .bool(let value) = self { value } else { nil }
    }

    /// The elements, or `nil` when the value is no array.
    public var array: [JSON]? {
        if case .array(let elements) = self { elements } else { nil }
    }

    /// The object, or `nil` when the value is of another type.
    public var object: JSONObject? {
        if case .object(let object) = self { object } else { nil }
    }

    /// Whether the value is `null`.
    public var isNull: Bool {
        if case .null = self { true } else { false }
    }

    /// The first member of that name; `nil` when there is none or the value is no object.
    public subscript(name: String) -> JSON? { object?[name] }

    /// The element at that index; `nil` when there is none or the value is no array.
    public subscript(index: Int) -> JSON? {
        guard let array, array.indices.contains(index) else { return nil }
        return array[index]
    }

    /// The type's name as JSON's documents spell it: `null`, `boolean`, `number`, `string`, `array`, `object`.
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

    /// How many arrays and objects lie inside each other; 0 for everything else.
    public var depth: Int {
        switch self {
        case .array(let elements): 1 + (elements.lazy.map(\.depth).max() ?? 0)
        case .object(let object): 1 + (object.lazy.map(\.value.depth).max() ?? 0)
        case .null, .bool, .number, .string: 0
        }
    }
}

extension JSON {
    /// Whether an object in it, however deep inside, has two members of one name.
    public var repeatsNames: Bool {
        switch self {
        case .null, .bool, .number, .string: false
        // By index: a search with a closure copies every value that it passes.
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
    /// `null`.
    public init(nilLiteral: ()) { self = .null }

    /// A boolean.
    public init(booleanLiteral value: Bool) { self = .bool(value) }

    /// A number without fraction.
    public init(integerLiteral value: Int) { self = .number(JSONNumber(value)) }

    /// A number in the shortest form that reads back as the same value.
    public init(floatLiteral value: Double) { self = .number(JSONNumber(value)) }

    /// A string.
    public init(stringLiteral value: String) { self = .string(value) }

    /// An array.
    public init(arrayLiteral elements: JSON...) { self = .array(elements) }

    /// An object whose members stand in the literal's order.
    public init(dictionaryLiteral elements: (String, JSON)...) { self = .object(JSONObject(elements)) }
}

extension JSON {
    /// A number without fraction.
    public init(_ value: Int) { self = .number(JSONNumber(value)) }

    /// A string, or `null` for `nil`.
    public init(_ value: String?) { self = value.map(JSON.string) ?? .null }
}
