public import JSON

/// What is wrong with the content of a request, or with one field of it: a member of a body, or an item of a query.
///
/// It is worded, and becomes a failure, in the vendor's ``FieldDialect``.
public struct FieldProblem: Error, Hashable {
    /// The kinds of wrong.
    public enum Kind: Sendable, Hashable {
        /// The content is not JSON.
        case notJSON(JSONError, isEmpty: Bool)
        /// The content is JSON of another type.
        case otherContent
        /// A required field is absent, or what counts as that.
        case missing
        /// The value has another JSON type.
        case wrongType
        /// The value is not what is expected.
        case wrongValue
        /// The value is none of these.
        case noChoice([String])
        /// The value is no time.
        case noTime
        /// A text has fewer characters.
        case tooShort(minimum: Int)
        /// A text has more characters.
        case tooLong(maximum: Int)
        /// No field has that name; these are known.
        case unknown(String, known: [String])
        /// A rule of the vendor's own; the text says what was found and what would be right.
        case other(String)
    }

    /// Where the field stands, such as `points.0.lat`; empty for the content itself.
    public let path: String
    /// What is wrong.
    public let kind: Kind
    /// What would be right, such as `a string`.
    public var expected = ""
    /// What stands there; `nil` when nothing does.
    public var found: JSON?
    /// The path of the list in which the value stands itself, if it does.
    public var list: String?
    /// Whether it stands in the query.
    public var isInQuery = false

    /// What is wrong with the content as a whole; `nil` when something is wrong with a field.
    ///
    /// - Parameters:
    ///   - content: what the content is called.
    ///   - expected: what should have been JSON.
    ///   - emptiness: what is said when it is empty; `nil` when that is no different from other texts that are not JSON.
    public func reason(
        of content: String = "the body", expected: String? = "a JSON object",
        whenEmpty emptiness: String? = "is empty, not a JSON object"
    ) -> String? {
        switch kind {
        case .notJSON(_, isEmpty: true) where emptiness != nil: "\(content) \(emptiness ?? "")"
        case .notJSON(let error, _): "\(content) is not JSON: \(error)" + (expected.map { "; expected \($0)" } ?? "")
        case .otherContent: "\(content) \(typeMismatch)"
        default: nil
        }
    }

    /// `is a JSON number, not a string`.
    public var typeMismatch: String { "is a JSON \(found?.typeName ?? "null"), not \(expected)" }
}

extension FieldProblem: CustomStringConvertible {
    /// The problem for people: where it is, what was found and what would be right.
    public var description: String {
        switch kind {
        case .missing: return "there is no member \(path); expected \(expected)"
        case .tooShort(let minimum):
            let length = found?.string?.count ?? 0
            return length == 0
                ? "\(path) is empty; expected at least \(minimum) character\(minimum == 1 ? "" : "s")"
                : "\(path) has \(length) characters; expected at least \(minimum)"
        case .other(let reason): return "\(path) \(reason)"
        default: return reason() ?? "\(path) \(typeMismatch)"
        }
    }
}
