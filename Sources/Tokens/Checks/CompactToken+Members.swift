public import JSON

extension TokenCheck {
    /// `header-NAME-present`: a header member is present and has one of these types.
    ///
    /// For a missing member the finding's `found` is ``Fact/absent``, so callers can distinguish the two failures.
    ///
    /// - Parameter required: Whether absence is a failure; otherwise it passes.
    public static func headerMember(
        _ name: String, is types: ValueTypes, required: Bool = true, source: String? = nil
    ) -> TokenCheck {
        TokenCheck(.headerMember(name, .present), expected: .types(types), source: source) {
            presence($0.header, name, types, required, &$1)
        }
    }

    /// `claim-NAME-present`: a claim is present and has one of these types.
    ///
    /// - Parameter required: Whether absence is a failure; otherwise it passes.
    public static func claim(
        _ name: String, is types: ValueTypes, required: Bool = true, source: String? = nil
    ) -> TokenCheck {
        TokenCheck(.claim(name, .present), expected: .types(types), source: source) {
            $0.claim(name, is: types, required: required, &$1)
        }
    }

    /// `header-NAME-equals`: a header member is this string, byte for byte.
    ///
    /// - Parameter required: Whether absence is a failure; otherwise it is not judged.
    public static func headerMember(
        _ name: String, equals text: String, required: Bool = true, source: String? = nil
    ) -> TokenCheck {
        TokenCheck(.headerMember(name, .equals), expected: .text(text), source: source) {
            compare($0.header, name, required: required, &$1) { $0.string?.hasSameBytes(as: text) == true }
        }
    }

    /// `claim-NAME-equals`: a claim is this string, byte for byte.
    package static func claim(_ name: String, equals text: String) -> TokenCheck {
        TokenCheck(.claim(name, .equals), expected: nil, source: nil) { $0.claim(name, equals: text, &$1) }
    }

    /// `claim-NAME-equals`: a claim is this value, in the same notation: `1` is not `1.0`.
    package static func claim(_ name: String, equals value: JSON) -> TokenCheck {
        TokenCheck(.claim(name, .equals), expected: .json(value), source: nil) {
            compare($0.claims, name, &$1) { $0.bytes == value.bytes }
        }
    }

    fileprivate static func presence(
        _ members: JSONObject?, _ name: String, _ types: ValueTypes, _ required: Bool, _ finding: inout Finding?
    ) -> Finding.Outcome {
        guard let members else { return .notJudged }
        guard let value = members[name] else {
            finding?.found = .absent
            return required ? .failed : .passed
        }
        finding?.found = .json(value)
        if types.allows(value) { return .passed }
        if value.number != nil, NumericDate(value).size == .excessive {
            finding?.note = "The number is above 2^53, above which adjacent integers cannot be told apart."
        }
        return .failed
    }

    fileprivate static func compare(
        _ members: JSONObject?, _ name: String, required: Bool = true, _ finding: inout Finding?,
        _ fits: (JSON) -> Bool
    ) -> Finding.Outcome {
        guard let members else { return .notJudged }
        guard let found = members[name] else {
            finding?.found = .absent
            return required ? .failed : .notJudged
        }
        finding?.found = .json(found)
        return fits(found) ? .passed : .failed
    }
}

extension CompactToken {
    /// `claim-NAME-present`: a claim is present and has one of these types.
    public func claim(_ name: String, is types: ValueTypes, source: String? = nil) -> Finding {
        certain(.claim(name, is: types, source: source))
    }

    /// The judgement of ``TokenCheck/claim(_:is:required:source:)``.
    public func claim(
        _ name: String, is types: ValueTypes, required: Bool = true, _ finding: inout Finding?
    ) -> Finding.Outcome {
        TokenCheck.presence(claims, name, types, required, &finding)
    }

    /// Whether a claim is this string, byte for byte.
    public func claim(_ name: String, equals text: String, _ finding: inout Finding?) -> Finding.Outcome {
        finding?.expected = .text(text)
        return TokenCheck.compare(claims, name, &finding) { $0.string?.hasSameBytes(as: text) == true }
    }

    /// Whether the claim `aud` is one of these strings, or an array that contains one.
    ///
    /// - Parameter acceptsArray: Whether an array is accepted, as RFC 7519 section 4.1.3 allows.
    public func audience(
        isOneOf texts: [String], acceptsArray: Bool = true, _ finding: inout Finding?
    ) -> Finding.Outcome {
        finding?.expected = .anyOf(texts)
        return TokenCheck.compare(claims, "aud", &finding) { found in
            let candidates = acceptsArray ? found.array ?? [found] : [found]
            return candidates.contains { candidate in
                candidate.string.map { name in texts.contains { $0.hasSameBytes(as: name) } } ?? false
            }
        }
    }
}

/// The types allowed for a member.
public struct ValueTypes: OptionSet, Sendable, Hashable {
    /// The bits of the set.
    public let rawValue: UInt16

    /// The set with these bits.
    public init(rawValue: UInt16) { self.rawValue = rawValue }

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
