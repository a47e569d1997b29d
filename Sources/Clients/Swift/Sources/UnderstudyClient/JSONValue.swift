import Foundation

/// Any JSON, for what has no fixed form: claims, bodies, states, conditions.
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
    public var bool: Bool? {
        if case .bool(let value) = self { value } else { nil }
    }

    /// The whole number, if it is one.
    public var int: Int? {
        if case .integer(let value) = self { value } else { nil }
    }

    /// The number, if it is one.
    public var double: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .number(let value): value
        case .null, .bool, .string, .array, .object: nil
        }
    }

    /// The text, if it is one.
    public var string: String? {
        if case .string(let value) = self { value } else { nil }
    }

    /// The elements, if it is a list.
    public var array: [JSONValue]? {
        if case .array(let value) = self { value } else { nil }
    }

    /// The members, if it is an object.
    public var object: [String: JSONValue]? {
        if case .object(let value) = self { value } else { nil }
    }

    /// The member of that name, if it is an object that has one.
    public subscript(name: String) -> JSONValue? { object?[name] }

    /// The element at that place, if it is a list that is long enough.
    public subscript(place: Int) -> JSONValue? {
        guard let array, array.indices.contains(place) else { return nil }
        return array[place]
    }

    /// The value as one of a known form, such as `Control.BriefJournal`.
    public func decoded<Value: Decodable>(as type: Value.Type) throws -> Value {
        try JSONDecoder().decode(type, from: JSONEncoder().encode(self))
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
