import Emulation
import JSON
import Tokens

/// Source: the shape of the answer is observed, Android SDK; the texts are ours.
extension Comapi: FieldDialect {
    static let fieldPolicy = FieldPolicy(tellsAll: true, nullIsAbsent: true, emptyIsAbsent: true)

    /// `missing-field` if anything is missing, else `invalid-parameter` (ours).
    static func refusal(of problems: [FieldProblem]) -> Refused {
        if let reason = problems[0].reason(expected: "JSON", whenEmpty: "is empty; expected JSON") {
            return Refusal(.malformedBody, because: reason)
        }
        let told = problems.prefix(FieldReader.mostProblems)
        let faults = told.map { problem -> JSON in
            let message: JSON = problem.kind == .missing ? "is required" : "is not valid"
            return ["paramName": .string(problem.path), "message": message]
        }
        let isMissing = problems.contains { $0.kind == .missing }
        return Refusal(
            isMissing ? .missingField : .invalidParameter, ["faults": .array(faults)],
            because: told.map { "\($0.path) \(why($0))" }.joined(separator: "; "))
    }

    private static func why(_ problem: FieldProblem) -> String {
        let found = problem.found
        let shown = "is “\((found?.string ?? "").prefix(40))”"
        switch problem.kind {
        case .missing:
            guard let found else { return "was not sent; expected it" }
            return found.isNull ? "is null; expected a value" : "is an empty \(found.typeName); expected a value"
        case .noChoice(let choices):
            return "\(shown); expected \(choices.dropLast().joined(separator: ", ")) or \(choices.last ?? "")"
        case .noTime:
            if let remark = NumericDate(found).dateRemark { return remark }
            return found?.string == nil ? problem.typeMismatch : "\(shown); expected an RFC 3339 date"
        case .wrongValue: return "\(shown); expected \(problem.expected)"
        case .other(let reason): return reason
        case .wrongType, .tooShort, .tooLong, .unknown, .notJSON, .otherContent: return problem.typeMismatch
        }
    }
}
