public import JSON

/// What an assert says of a value.
public struct HurlPredicate: Sendable, Hashable {
    /// A comparison by size.
    public enum Relation: String, Sendable, Hashable {
        /// At least as large.
        case atLeast = ">="
        /// Larger.
        case greater = ">"
        /// At most as large.
        case atMost = "<="
        /// Smaller.
        case less = "<"
    }

    /// A place in a text or in bytes.
    public enum Position: String, Sendable, Hashable {
        /// At the beginning.
        case start = "startsWith"
        /// At the end.
        case end = "endsWith"
        /// Anywhere.
        case anywhere = "contains"
    }

    /// A kind of value.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// A number without fraction.
        case integer = "isInteger"
        /// A number with a fraction or an exponent.
        case float = "isFloat"
        /// A number.
        case number = "isNumber"
        /// `true` or `false`.
        case boolean = "isBoolean"
        /// A string.
        case string = "isString"
        /// An array or an object.
        case collection = "isCollection"
    }

    /// What is said.
    public enum Function: Sendable, Hashable {
        /// It is this value.
        case equal(HurlLiteral)
        /// It is another value.
        case unequal(HurlLiteral)
        /// It is larger or smaller than this value.
        case compared(Relation, HurlLiteral)
        /// It has this text, or these bytes, at a place.
        case holds(Position, HurlLiteral)
        /// It is a list with this element.
        case includes(HurlLiteral)
        /// A regular expression is found in it.
        case matches(HurlPattern)
        /// It is there.
        case exists
        /// It has no element, member or character.
        case isEmpty
        /// It is of a kind.
        case isKind(Kind)
    }

    /// Whether the opposite is said.
    public let isNegated: Bool
    /// What is said.
    public let function: Function
}

/// A value in a predicate.
public enum HurlLiteral: Sendable, Hashable {
    /// `null`, a boolean or a number.
    case constant(JSON)
    /// A string, which may hold variables.
    case text(HurlTemplate)
    /// A variable with its type.
    case variable(HurlVariable)
    /// Bytes in base64 or hexadecimal.
    case bytes([UInt8])
}
