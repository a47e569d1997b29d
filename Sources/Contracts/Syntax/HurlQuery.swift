package import JSON

/// What an assert or a capture examines.
package struct HurlQuery: Sendable, Hashable {
    package enum Subject: Sendable, Hashable {
        case status
        /// The value of a field; of several lines, all values.
        case header(HurlTemplate)
        case body
        case bytes
        case jsonPath(HurlTemplate)
        /// The first group of a regular expression's match in the content.
        case regex(HurlPattern)
        case variable(HurlTemplate)
    }

    package let place: HurlPlace
    package let subject: Subject
    package let filters: [HurlFilter]
}

package enum HurlFilter: Sendable, Hashable {
    /// The number of elements or bytes.
    case count
    case first
    case last
    case nth(Int)
    case regex(HurlPattern)
    case replace(HurlTemplate, by: HurlTemplate)
    case split(HurlTemplate)
    case jsonPath(HurlTemplate)
    case toInt
    case toFloat

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

package enum HurlPattern: Sendable, Hashable {
    /// Between slashes, taken literally.
    case literal(String)
    /// In quotes, possibly with variables.
    case text(HurlTemplate)
}

package struct HurlPredicate: Sendable, Hashable {
    package enum Relation: String, Sendable, Hashable {
        case atLeast = ">="
        case greater = ">"
        case atMost = "<="
        case less = "<"
    }

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
        case boolean = "isBoolean"
        case string = "isString"
        /// An array or an object.
        case collection = "isCollection"
    }

    package enum Function: Sendable, Hashable {
        case equal(HurlLiteral)
        case unequal(HurlLiteral)
        case compared(Relation, HurlLiteral)
        case holds(Position, HurlLiteral)
        case includes(HurlLiteral)
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
    case constant(JSON)
    case text(HurlTemplate)
    case variable(HurlVariable)
    case bytes([UInt8])
}
