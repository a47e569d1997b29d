package import JSON

/// What an assert claims about a value.
package struct HurlPredicate: Sendable, Hashable {
    /// An order comparison.
    package enum Relation: String, Sendable, Hashable {
        /// Greater or equal.
        case atLeast = ">="
        case greater = ">"
        /// Less or equal.
        case atMost = "<="
        case less = "<"
    }

    /// A position in a text or in bytes.
    package enum Position: String, Sendable, Hashable {
        /// At the beginning.
        case start = "startsWith"
        case end = "endsWith"
        case anywhere = "contains"
    }

    package enum Kind: String, Sendable, Hashable, CaseIterable {
        /// A number without fraction or exponent.
        case integer = "isInteger"
        /// A number with a fraction or an exponent.
        case float = "isFloat"
        case number = "isNumber"
        /// `true` or `false`.
        case boolean = "isBoolean"
        case string = "isString"
        /// An array or an object.
        case collection = "isCollection"
    }

    package enum Function: Sendable, Hashable {
        /// Equals this value.
        case equal(HurlLiteral)
        /// Does not equal this value.
        case unequal(HurlLiteral)
        case compared(Relation, HurlLiteral)
        /// Has this text, or these bytes, at a position.
        case holds(Position, HurlLiteral)
        /// Is a list with this element.
        case includes(HurlLiteral)
        /// Matches a regular expression somewhere.
        case matches(HurlPattern)
        case exists
        /// Has no element, member or character.
        case isEmpty
        case isKind(Kind)
    }

    package let isNegated: Bool
    package let function: Function
}

package enum HurlLiteral: Sendable, Hashable {
    /// `null`, a boolean or a number.
    case constant(JSON)
    /// A string, possibly with variables.
    case text(HurlTemplate)
    case variable(HurlVariable)
    /// Bytes in base64 or hexadecimal.
    case bytes([UInt8])
}
