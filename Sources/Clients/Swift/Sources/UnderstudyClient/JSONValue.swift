import Foundation

/// Any JSON: claims, bodies, states, conditions, and the answers of control calls.
///
/// Written as literals: `["expires_in": 900, "claims": ["role": "admin"]]`, `nil` for `null`.
public enum JSONValue: Sendable, Hashable {
    /// `null`.
    case null
    /// `true` or `false`.
    case bool(Bool)
    /// A whole number.
    case integer(Int)
    /// A number with a fraction, or one that no `Int` holds.
    case number(Double)
    /// A text.
    case string(String)
    /// A list.
    case array([JSONValue])
    /// Members by name.
    case object([String: JSONValue])
}

extension JSONValue {
    /// The truth value, if it is one.
    public var bool: Bool? { if case .bool(let value) = self { value } else { nil } }

    /// The whole number, if it is one.
    public var int: Int? { if case .integer(let value) = self { value } else { nil } }

    /// The number, if it is one.
    public var double: Double? { if case .number(let value) = self { value } else { int.map(Double.init) } }

    /// The text, if it is one.
    public var string: String? { if case .string(let value) = self { value } else { nil } }

    /// The elements, if it is a list.
    public var array: [JSONValue]? { if case .array(let value) = self { value } else { nil } }

    /// The members, if it is an object.
    public var object: [String: JSONValue]? { if case .object(let value) = self { value } else { nil } }

    /// The member of that name, if it is an object that has one.
    public subscript(name: String) -> JSONValue? { object?[name] }

    /// The element at that place, if it is a list that is long enough.
    public subscript(place: Int) -> JSONValue? {
        guard let array, array.indices.contains(place) else { return nil }
        return array[place]
    }

    /// A member that every answer of its kind has.
    func member<Value>(_ name: String, _ read: (JSONValue) -> Value?) throws -> Value {
        if let value = self[name].flatMap(read) { return value }
        // The server may be newer or older than this client.
        throw Unreachable(message: "Understudy answered without the member \(name) that this client reads: \(self)")
    }

    /// A member in words, for people.
    func text(_ name: String) -> String {
        guard let value = self[name], value != .null else { return "nothing" }
        return value.description
    }
}

extension JSONValue: CustomStringConvertible {
    /// A text as it is, everything else as JSON, members by name.
    public var description: String {
        if case .string(let text) = self { return text }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // What is no JSON, such as an infinite number, still has to be shown.
        guard let text = try? encoder.encode(self) else { return "\(double ?? .nan)" }
        return String(decoding: text, as: UTF8.self)
    }
}

extension JSONValue: Codable {
    /// Reads any JSON.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        // One attempt per kind: a decoder does not say what it holds.
        func read<Value: Decodable>(_ kind: (Value) -> JSONValue) -> JSONValue? {
            (try? container.decode(Value.self)).map(kind)
        }
        self =
            try container.decodeNil()
            ? .null
            : read(JSONValue.string) ?? read(JSONValue.bool) ?? read(JSONValue.integer) ?? read(JSONValue.number)
                ?? read(JSONValue.array) ?? .object(container.decode([String: JSONValue].self))
    }

    /// Writes it as it is.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .bool(let value): try container.encode(value)
        case .integer(let value): try container.encode(value)
        case .number(let value): try container.encode(value)
        case .string(let value): try container.encode(value)
        case .array(let value): try container.encode(value)
        case .object(let value): try container.encode(value)
        }
    }
}

extension JSONValue: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByFloatLiteral, ExpressibleByStringInterpolation, ExpressibleByArrayLiteral,
    ExpressibleByDictionaryLiteral
{
    /// `null`.
    public init(nilLiteral: ()) { self = .null }
    /// A truth value.
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    /// A whole number.
    public init(integerLiteral value: Int) { self = .integer(value) }
    /// A number; a whole one is the same whether it is written `1` or `1.0`, as in JSON.
    public init(floatLiteral value: Double) { self = Int(exactly: value).map(JSONValue.integer) ?? .number(value) }
    /// A text.
    public init(stringLiteral value: String) { self = .string(value) }
    /// A list.
    public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
    /// An object; of members with the same name the last one counts.
    public init(dictionaryLiteral elements: (String, JSONValue)...) {
        self = .object(Dictionary(elements) { _, last in last })
    }
}
