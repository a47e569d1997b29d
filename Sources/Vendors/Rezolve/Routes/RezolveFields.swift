import Emulation
import JSON

extension Rezolve: FieldDialect {
    static let fieldPolicy = FieldPolicy(tellsAll: true)

    /// Missing members decide first, then wrong types, then short texts.
    static func refusal(of problems: [FieldProblem]) -> Refused {
        if let reason = problems[0].reason() { return Refusal(.bodyMalformed, because: reason) }
        let missing = problems.filter { $0.kind == .missing }.map(\.path)
        let failure: RezolveFailure =
            !missing.isEmpty
            ? .bodyMissingFields : problems.contains { $0.kind == .wrongType } ? .bodyWrongType : .bodyTooShort
        return Refusal(
            failure,
            [
                "missing": .string(missing.joined(separator: ", ")),
                "validation": .string(validation(of: problems, missing)),
            ], because: problems.reason)
    }

    /// The list of complaints in the staging servers' wording. Source: observed, QA tests.
    private static func validation(of problems: [FieldProblem], _ missing: [String]) -> String {
        var items: [String] = []
        if !missing.isEmpty {
            let (noun, verb) = missing.count == 1 ? ("property", "was") : ("properties", "were")
            items.append("Required \(noun) \(missing.joined(separator: ", ")) \(verb) not present. - #")
        }
        for problem in problems.sorted(by: { $0.path < $1.path }) {
            if case .tooShort(let minimum) = problem.kind {
                let length = problem.found?.string?.count ?? 0
                items.append(
                    "Expected value to have a minimum length of \(minimum) but was \(length). - #/\(problem.path)")
            } else if problem.kind == .wrongType, let expected = problem.expected.split(separator: " ").last {
                let found = problem.found?.typeName ?? ""
                items.append(
                    "Type mismatch. Expected \(expected.capitalized) but got \(found.capitalized). - #/\(problem.path)")
            }
        }
        return "[\(items.joined(separator: ", "))]"
    }
}

/// How RUA reads bodies: with one failure for all mistakes.
enum RUA: FieldDialect {
    static let fieldPolicy = Rezolve.fieldPolicy

    static func refusal(of problems: [FieldProblem]) -> RezolveRefusal {
        Refusal(.ruaBodyInvalid, because: problems[0].reason() ?? problems.reason)
    }
}

extension [FieldProblem] {
    /// A readable reason for all problems: missing members together, then the others.
    fileprivate var reason: String {
        let names = filter { $0.kind == .missing }.map(\.path)
        guard names.count > 1 else { return map(\.description).joined(separator: "; ") }
        let missing = "there are no members \(names.joined(separator: ", ")); expected a string each"
        return ([missing] + filter { $0.kind != .missing }.map(\.description)).joined(separator: "; ")
    }
}

extension StringProtocol {
    fileprivate var capitalized: String { prefix(1).uppercased() + dropFirst() }
}
