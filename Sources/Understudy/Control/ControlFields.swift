import Emulation
import Wire

/// How contents and queries of control calls are read.
enum ControlFields: FieldDialect {
    static let fieldPolicy = FieldPolicy()

    static func refusal(of problems: [FieldProblem]) -> ControlProblem {
        let (problem, name) = (problems[0], problems[0].path)
        if let reason = problem.reason(
            of: "The content", expected: nil, whenEmpty: "is empty; expected a JSON object")
        {
            return ControlProblem(.badRequest, "body-malformed", reason + ".")
        }
        let found = problem.isInQuery ? "“\(problem.found?.string ?? "")”" : problem.found?.text ?? ""
        return switch problem.kind {
        case .missing: .invalid("member \(name) is missing; expected \(problem.expected)")
        case .unknown(let name, let known):
            .invalid("there is no member \(name)\(Nearest.hint(to: name, among: known))")
        case .other(let reason): .invalid(reason)
        default: .invalid("\(name) is \(found); expected \(problem.expected)")
        }
    }
}

extension FieldReader {
    /// A non-negative number in a query.
    mutating func count(_ name: String) -> Int? {
        value(name, expecting: "a whole number") { $0.string.flatMap { Int($0) }.flatMap { $0 >= 0 ? $0 : nil } }
    }

    mutating func flag(_ name: String) -> Bool? {
        value(name, expecting: "true or false") { Bool($0.string ?? "") }
    }
}
