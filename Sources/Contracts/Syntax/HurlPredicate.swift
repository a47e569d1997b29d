package import JSON

/// What an assert claims about a value.
package struct HurlPredicate: Sendable, Hashable {
    /// An order comparison.
    package enum Relation: String, Sendable, Hashable {
        /// Greater or equal.
        case atLeast = ">="
        /// Greater.
        case greater = ">"
        /// Less or equal.
        case atMost = "<="
        /// Less.
        case less = "<"
    }

    /// A position in a text or in bytes.
    package enum Position: String, Sendable, Hashable {
        /// At the beginning.
        case start = "startsWith"
        /// At the end.
        case end = "endsWith"
        /// Anywhere.
        case anywhere = "contains"
    }

    /// A kind of value.
    package enum Kind: String, Sendable, Hashable, CaseIterable {
        /// A number without fraction or exponent.
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

    /// The claim.
    package enum Function: Sendable, Hashable {
        /// Equals this value.
        case equal(HurlLiteral)
        /// Does not equal this value.
        case unequal(HurlLiteral)
        /// Compares so with this value.
        case compared(Relation, HurlLiteral)
        /// Has this text, or these bytes, at a position.
        case holds(Position, HurlLiteral)
        /// Is a list with this element.
        case includes(HurlLiteral)
        /// Matches a regular expression somewhere.
        case matches(HurlPattern)
        /// Exists.
        case exists
        /// Has no element, member or character.
        case isEmpty
        /// Is of a kind.
        case isKind(Kind)
    }

    /// Whether the claim is negated.
    package let isNegated: Bool
    /// The claim.
    package let function: Function
}

/// A value in a predicate.
package enum HurlLiteral: Sendable, Hashable {
    /// `null`, a boolean or a number.
    case constant(JSON)
    /// A string, possibly with variables.
    case text(HurlTemplate)
    /// A variable, which keeps its type.
    case variable(HurlVariable)
    /// Bytes in base64 or hexadecimal.
    case bytes([UInt8])
}
