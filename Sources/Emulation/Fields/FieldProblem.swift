public import JSON

/// What is wrong with the content of a request, or with one field: a body member or a query item.
///
/// The vendor's ``FieldDialect`` words it and turns it into a failure.
public struct FieldProblem: Error, Hashable {
    public enum Kind: Sendable, Hashable {
        case notJSON(JSONError, isEmpty: Bool)
        case otherContent
        /// A required field is absent, or counts as absent.
        case missing
        case wrongType
        case wrongValue
        case noChoice([String])
        case noTime
        /// The string is too short, in characters.
        case tooShort(minimum: Int)
        /// The string is too long, in characters.
        case tooLong(maximum: Int)
        /// No field has that name; `known` lists the valid ones.
        case unknown(String, known: [String])
        /// A rule of the vendor's own; the string says what was found and what would be right.
        case other(String)
    }

    /// Where the field stands, such as `points.0.lat`; empty for the content itself.
    public let path: String
    /// What is wrong.
    public let kind: Kind
    /// What would be right, such as `a string`.
    public var expected = ""
    /// The value found; `nil` when there is none.
    public var found: JSON?
    /// The path of the list that directly contains the value, if any.
    public var list: String?
    public var isInQuery = false

    /// What is wrong with the content as a whole; `nil` when the problem is in a field.
    ///
    /// - Parameters:
    ///   - content: the name for the content.
    ///   - expected: what should have been JSON.
    ///   - emptiness: the wording for empty content; `nil` to treat it like any other content that is not JSON.
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
        case .tooLong(let maximum):
            return "\(path) has \(found?.string?.unicodeScalars.count ?? 0) characters; expected at most \(maximum)"
        case .noChoice(let choices):
            return "\(path) is invalid; expected \(choices.joined(separator: ", "))"
        case .unknown(let name, let known): return "\(path) is unknown\(Nearest.hint(to: name, among: known))"
        case .wrongValue where !expected.isEmpty: return "\(path) is invalid; expected \(expected)"
        case .other(let reason): return "\(path) \(reason)"
        default: return reason() ?? "\(path) \(typeMismatch)"
        }
    }
}
