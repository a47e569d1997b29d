package import JSON

/// What an assert or a capture examines.
package struct HurlQuery: Sendable, Hashable {
    package enum Subject: Sendable, Hashable {
        case status
        /// The value of a field; of several lines, all values.
        case header(HurlTemplate)
        /// The content as text.
        case body
        case bytes
        /// What a JSONPath finds in the content.
        case jsonPath(HurlTemplate)
        /// The first group of a regular expression's match in the content.
        case regex(HurlPattern)
        case variable(HurlTemplate)
    }

    package let place: HurlPlace
    package let subject: Subject
    package let filters: [HurlFilter]
}

/// A transformation of a value.
package enum HurlFilter: Sendable, Hashable {
    /// The number of elements or bytes.
    case count
    case first
    case last
    /// The element at an index.
    case nth(Int)
    /// The first group of a regular expression.
    case regex(HurlPattern)
    /// Every occurrence of a text replaced by another.
    case replace(HurlTemplate, by: HurlTemplate)
    /// The pieces between the occurrences of a text.
    case split(HurlTemplate)
    /// What a JSONPath finds in a text.
    case jsonPath(HurlTemplate)
    /// The text as an integer.
    case toInt
    /// The text as a number.
    case toFloat

    /// The filter's name in a file.
    var word: String {
        switch self {
        case .count: "count"
        case .first: "first"
        case .last: "last"
        case .nth: "nth"
        case .regex: "regex"
        case .replace: "replace"
        case .split: "split"
        case .jsonPath: "jsonpath"
        case .toInt: "toInt"
        case .toFloat: "toFloat"
        }
    }
}

/// A regular expression.
package enum HurlPattern: Sendable, Hashable {
    /// Between slashes, taken literally.
    case literal(String)
    /// In quotes, possibly with variables.
    case text(HurlTemplate)
}

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
