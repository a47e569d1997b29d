package import HTTPTypes
package import JSON

/// Requests and the answers they expect, in the syntax of hurl.dev.
///
/// Only the subset that the module's documentation lists is supported; everything else is rejected with line and
/// column.
package struct HurlFile: Sendable, Hashable {
    package let name: String
    package let entries: [HurlEntry]

    /// - Parameter name: the file's name, for messages and reports.
    package init(name: String, bytes: [UInt8]) throws(HurlProblem) {
        var reader = try HurlReader(file: name, bytes: bytes)
        self.name = name
        entries = try reader.document()
    }
}

package struct HurlEntry: Sendable, Hashable {
    /// The comment directly above the request; empty without one.
    package let remark: String
    package let request: HurlRequest
    /// The expected answer; `nil` accepts any.
    package let response: HurlResponse?
}

package struct HurlPlace: Sendable, Hashable {
    package let line: Int
    /// The column, in Unicode scalars from 1.
    package let column: Int

    /// The place of something that stands in no file.
    package static let none = HurlPlace(line: 0, column: 0)

    package init(line: Int, column: Int) {
        self.line = line
        self.column = column
    }
}

/// Why a Hurl file cannot be read: where, what was found and what was expected.
package struct HurlProblem: Error, Sendable, Hashable, CustomStringConvertible {
    package let file: String
    package let place: HurlPlace
    /// What was found and what was expected.
    package let message: String

    package var description: String { "\(file):\(place.line):\(place.column): \(message)" }
}

package struct HurlPair: Sendable, Hashable {
    package let name: HurlTemplate
    package let value: HurlTemplate
}

package struct HurlRequest: Sendable, Hashable {
    package let place: HurlPlace
    package let method: HTTPRequest.Method
    package let url: HurlTemplate
    package var fields: [HurlPair] = []
    /// `[Query]`: items to append to the URL's query.
    package var query: [HurlPair] = []
    package var form: [HurlPair] = []
    package var cookies: [HurlPair] = []
    /// `[BasicAuth]`: user and password.
    package var credentials: HurlPair?
    /// `[Options]`: settings for this entry.
    package var options: [HurlOption] = []
    package var body: HurlBody?
}

package enum HurlOption: Sendable, Hashable {
    /// `variable: name=value`: sets a variable for this and later entries.
    case variable(name: String, value: HurlOptionValue, HurlPlace)
    /// `skip: true`: the request is not sent.
    case skip(Bool)
}

package enum HurlOptionValue: Sendable, Hashable {
    case constant(JSON)
    case text(HurlTemplate)
}

package struct HurlResponse: Sendable, Hashable {
    package let place: HurlPlace
    /// The status; `nil` for `*`.
    package let status: Int?
    /// Field lines that the answer must include.
    package var fields: [HurlPair] = []
    /// `[Captures]`: variables to set from the answer.
    package var captures: [HurlCapture] = []
    /// `[Asserts]`: claims that must hold.
    package var asserts: [HurlAssert] = []
    package var body: HurlBody?
}

package struct HurlCapture: Sendable, Hashable {
    package let name: HurlTemplate
    package let query: HurlQuery
}

package struct HurlAssert: Sendable, Hashable {
    package let query: HurlQuery
    package let predicate: HurlPredicate
    package let source: String
}

/// The content of a request, or the exact expected content of an answer.
package struct HurlBody: Sendable, Hashable {
    package enum Content: Sendable, Hashable {
        /// JSON exactly as written, whitespace included.
        case json([JSONPart])
        /// Text between single or triple backquotes, and the language after the triple ones.
        case text(HurlTemplate, language: String?)
        case bytes([UInt8])
    }

    package enum JSONPart: Sendable, Hashable {
        case text(String)
        /// A variable inside a string; its value is escaped.
        case inString(HurlVariable)
        case value(HurlVariable)
    }

    package let place: HurlPlace
    package let content: Content

    /// The default media type of a request with this content.
    package var contentType: String? {
        switch content {
        case .json, .text(_, language: "json"?): "application/json"
        case .text(_, language: "xml"?): "application/xml"
        case .text, .bytes: nil
        }
    }
}

/// A text in which `{{name}}` stands for the value of a variable.
package struct HurlTemplate: Sendable, Hashable {
    package enum Part: Sendable, Hashable {
        /// Characters, with escapes resolved.
        case text(String)
        case variable(HurlVariable)
    }

    package let parts: [Part]
    package let place: HurlPlace

    /// The text with its variables as `{{name}}`.
    package var source: String { text { "{{\($0.name)}}" } }

    /// The text with these values for its variables.
    func text<Failure>(_ value: (HurlVariable) throws(Failure) -> String) throws(Failure) -> String {
        var text = ""
        for part in parts {
            switch part {
            case .text(let piece): text += piece
            case .variable(let variable): text += try value(variable)
            }
        }
        return text
    }

    package var isEmpty: Bool { parts.isEmpty }
}

package struct HurlVariable: Sendable, Hashable {
    package let name: String
    /// Where its braces start.
    package let place: HurlPlace

    /// Whether a text is a variable name: a letter, then letters, digits, `_` and `-`; not a Hurl function.
    package static func isName(_ text: String) -> Bool {
        text.unicodeScalars.first?.properties.isAlphabetic == true && text.unicodeScalars.allSatisfy(isInName)
            && !functions.contains(text)
    }

    static func isInName(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "a"..."z", "A"..."Z", "0"..."9", "_", "-": true
        default: false
        }
    }

    /// Names in braces that Hurl computes.
    static let functions: Set = ["newUuid", "newDate"]
}

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
        case regex(HurlTemplate)
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
    case regex(HurlTemplate)
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
        case matches(HurlTemplate)
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
