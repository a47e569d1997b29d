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

extension JSON {
    /// The value as compact JSON: no whitespace, members in order, numbers as written, minimal escaping.
    public var bytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(256)
        write(to: &bytes)
        return bytes
    }

    /// The value as compact JSON text.
    public var text: String { String(decoding: bytes, as: UTF8.self) }

    /// The value as indented JSON text: two spaces a level, empty containers on one line.
    public var prettyText: String {
        var bytes: [UInt8] = []
        write(to: &bytes, indentation: 0)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Appends the value as compact JSON.
    public func write(to bytes: inout [UInt8]) { write(to: &bytes, indentation: nil) }

    private func write(to bytes: inout [UInt8], indentation: Int?) {
        switch self {
        case .null: bytes.append(contentsOf: "null".utf8)
        case .bool(let value): bytes.append(contentsOf: (value ? "true" : "false").utf8)
        case .number(let number): bytes.append(contentsOf: number.literal.utf8)
        case .string(let string): Self.write(string, to: &bytes)
        case .array(let elements):
            Self.write(elements, between: "[", "]", to: &bytes, indentation: indentation) { element, bytes, inner in
                element.write(to: &bytes, indentation: inner)
            }
        case .object(let object):
            Self.write(object, between: "{", "}", to: &bytes, indentation: indentation) { member, bytes, inner in
                Self.write(member.name, to: &bytes)
                bytes.append(UInt8(ascii: ":"))
                if inner != nil { bytes.append(UInt8(ascii: " ")) }
                member.value.write(to: &bytes, indentation: inner)
            }
        }
    }

    private static func write<Item>(
        _ items: some Collection<Item>, between open: Unicode.Scalar, _ close: Unicode.Scalar,
        to bytes: inout [UInt8], indentation: Int?, _ writeItem: (Item, inout [UInt8], Int?) -> Void
    ) {
        let inner = indentation.map { $0 + 1 }
        bytes.append(UInt8(ascii: open))
        var isFirst = true
        for item in items {
            if !isFirst { bytes.append(UInt8(ascii: ",")) }
            isFirst = false
            breakLine(&bytes, inner)
            writeItem(item, &bytes, inner)
        }
        if !isFirst { breakLine(&bytes, indentation) }
        bytes.append(UInt8(ascii: close))
    }

    private static func breakLine(_ bytes: inout [UInt8], _ indentation: Int?) {
        guard let indentation else { return }
        bytes.append(UInt8(ascii: "\n"))
        bytes.append(contentsOf: repeatElement(UInt8(ascii: " "), count: 2 * indentation))
    }

    /// Appends the string in quotes, with only the escapes that RFC 8259 section 7 requires.
    private static func write(_ string: String, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        // Most strings need no escaping and are copied whole.
        let isCopied: Void? = string.utf8.withContiguousStorageIfAvailable { text in
            if needsEscape(text) {
                writeEscaped(text, to: &bytes)
            } else {
                bytes.append(contentsOf: text)
            }
        }
        if isCopied == nil { writeEscaped(string.utf8, to: &bytes) }
        bytes.append(UInt8(ascii: "\""))
    }

    private static func needsEscape(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        // A loop without an early exit can be vectorized.
        var found: UInt8 = 0
        for byte in text {
            found |= (byte < 0x20 ? 1 : 0) | (byte == UInt8(ascii: "\"") ? 1 : 0) | (byte == UInt8(ascii: "\\") ? 1 : 0)
        }
        return found != 0
    }

    private static func writeEscaped(_ text: some Collection<UInt8>, to bytes: inout [UInt8]) {
        for byte in text {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes.append(contentsOf: [UInt8(ascii: "\\"), byte])
            case 0x0A: bytes.append(contentsOf: "\\n".utf8)
            case 0x0D: bytes.append(contentsOf: "\\r".utf8)
            case 0x09: bytes.append(contentsOf: "\\t".utf8)
            case 0..<0x20:
                bytes.append(contentsOf: (byte < 0x10 ? "\\u000" : "\\u00").utf8)
                bytes.append(contentsOf: String(byte, radix: 16).utf8)
            default: bytes.append(byte)
            }
        }
    }
}
