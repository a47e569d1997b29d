/// The members of a JSON object in the order of the text, including repeated names.
public struct JSONObject: Sendable, Hashable {
    public struct Member: Sendable, Hashable {
        /// The name, unescaped.
        public var name: String
        public var value: JSON

        public init(name: String, value: JSON) {
            self.name = name
            self.value = value
        }

        /// Whether name and value are equal, the name byte for byte.
        public static func == (left: Member, right: Member) -> Bool {
            left.name.hasSameBytes(as: right.name) && left.value == right.value
        }
    }

    public private(set) var members: [Member]

    /// An object with these members, in order; names may repeat.
    @inlinable
    public init(_ members: some Sequence<(String, JSON)> = []) { self.init(pairs: Array(members)) }

    @usableFromInline
    init(pairs: [(String, JSON)]) { members = pairs.map(Member.init(name:value:)) }

    init(members: [Member]) { self.members = members }

    /// The first member with that name, compared byte for byte.
    ///
    /// Setting replaces that member in place, or appends one; setting `nil` removes all members with the name.
    public subscript(name: String) -> JSON? {
        get {
            guard let position = position(of: name) else { return nil }
            return members[position].value
        }
        set {
            guard let newValue else {
                members.removeAll { $0.name.hasSameBytes(as: name) }
                return
            }
            if let index = members.firstIndex(where: { $0.name.hasSameBytes(as: name) }) {
                members[index].value = newValue
            } else {
                members.append(Member(name: name, value: newValue))
            }
        }
    }

    /// The position of the first member with that name.
    public func position(of name: String) -> Int? {
        // By index, since a closure would copy every member it visits; lengths first, for the same reason.
        let length = name.utf8.count
        for index in members.indices where members[index].name.utf8.count == length {
            if members[index].name.hasSameBytes(as: name) { return index }
        }
        return nil
    }

    /// The first member of that name, unless it is null.
    public func present(_ name: String) -> JSON? {
        // No closure with nil in it: that would be a null.
        guard let value = self[name], !value.isNull else { return nil }
        return value
    }

    /// Appends a member even if the name already occurs.
    public mutating func append(_ name: String, _ value: JSON) { members.append(Member(name: name, value: value)) }

    /// Whether a name occurs more than once. For few members this is faster than listing the duplicates.
    public var repeatsName: Bool {
        guard members.count <= 16 else { return !duplicateNames.isEmpty }
        for index in members.indices {
            for earlier in 0..<index where members[earlier].name.utf8.count == members[index].name.utf8.count {
                if members[earlier].name.hasSameBytes(as: members[index].name) { return true }
            }
        }
        return false
    }

    /// The names that occur more than once, each listed once, in byte order.
    public var duplicateNames: [String] {
        guard members.count > 1 else { return [] }
        let names = members.map(\.name).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        var duplicates: [String] = []
        for (name, next) in zip(names, names.dropFirst()) where name.hasSameBytes(as: next) {
            if duplicates.last?.hasSameBytes(as: name) != true { duplicates.append(name) }
        }
        return duplicates
    }
}

extension JSONObject: RandomAccessCollection {
    /// The position of the first member.
    public var startIndex: Int { members.startIndex }
    /// The position after the last member.
    public var endIndex: Int { members.endIndex }
    public subscript(position: Int) -> Member { members[position] }
}

extension JSONObject: ExpressibleByDictionaryLiteral {
    /// An object with its members in the literal's order.
    public init(dictionaryLiteral elements: (String, JSON)...) { self.init(elements) }
}

/// A JSON number, kept as written.
///
/// `1800000000`, `1800000000.0`, `1.8e9` and `1e400` are four different values here: the form of a claim can decide
/// whether a server accepts it.
public struct JSONNumber: Sendable, Hashable {
    /// The number's text (RFC 8259 section 6).
    public let literal: String

    /// Takes a text already known to be a number.
    init(checked literal: String) { self.literal = literal }

    public init(_ value: Int) { literal = String(value) }

    /// The shortest form that reads back as the same double. Infinities and NaN, which JSON cannot express, become `0`.
    public init(_ value: Double) {
        if let whole = Int(exactly: value) {
            literal = String(whole)
        } else {
            literal = value.isFinite ? value.description : "0"
        }
    }

    /// Whether the text has neither fraction nor exponent.
    public var isInteger: Bool {
        literal.utf8.withContiguousStorageIfAvailable(Self.areDigits) ?? Self.areDigits(literal.utf8)
    }

    private static func areDigits(_ text: some Sequence<UInt8>) -> Bool {
        text.allSatisfy { $0 != UInt8(ascii: ".") && $0 | 0x20 != UInt8(ascii: "e") }
    }

    /// The integer value; `nil` when the text has a fraction or an exponent, or the value does not fit.
    public var int: Int? {
        if let digits = literal.utf8.withContiguousStorageIfAvailable(Self.shortInt), let int = digits { return int }
        return isInteger ? Int(literal) : nil
    }

    /// Parses at most 18 plain digits, as nearly every number has; faster than the library.
    private static func shortInt(_ text: UnsafeBufferPointer<UInt8>) -> Int? {
        guard text.count <= 18 else { return nil }
        var value = 0
        for byte in text {
            let digit = Int(byte) - 0x30
            guard (0...9).contains(digit) else { return nil }
            value = value * 10 + digit
        }
        return value
    }

    /// The nearest double; infinite for texts such as `1e400`.
    public var double: Double {
        // Integers of up to fifteen characters are exact, and this is several times faster.
        if literal.utf8.count <= 15, let int = Int(literal) { return Double(int) }
        return Double(literal) ?? .infinity
    }
}

extension JSONNumber: CustomStringConvertible {
    public var description: String { literal }
}

/// A JSON number (RFC 8259) as digits and a power of ten, so that equal numbers have equal forms.
struct DecimalForm: Hashable {
    private let isNegative: Bool
    /// Without leading or trailing zeros; empty for 0.
    private let digits: [UInt8]
    /// The power of ten of the last digit.
    private let exponent: Int

    /// Fails when the exponent's magnitude is 2⁶⁰ or more.
    init?(_ literal: String) {
        let parts = literal.utf8.split(maxSplits: 1) { $0 | 0x20 == UInt8(ascii: "e") }
        let significand = parts[0].split(separator: UInt8(ascii: "."))
        let sign = significand[0].first == UInt8(ascii: "-")
        var digits = Array(significand[0].dropFirst(sign ? 1 : 0))
        if significand.count > 1 { digits += significand[1] }
        guard let first = digits.firstIndex(where: { $0 != UInt8(ascii: "0") }) else {
            (isNegative, self.digits, exponent) = (false, [], 0)
            return
        }
        var exponent = significand.count > 1 ? -significand[1].count : 0
        if parts.count > 1 {
            guard let power = Int(String(decoding: parts[1], as: UTF8.self)), power.magnitude < 1 << 60 else {
                return nil
            }
            exponent += power
        }
        while digits.last == UInt8(ascii: "0") {
            digits.removeLast()
            exponent += 1
        }
        (isNegative, self.digits, self.exponent) = (sign, Array(digits[first...]), exponent)
    }
}
