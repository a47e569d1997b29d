import Emulation
import JSON
import Tokens

extension Bloomreach: FieldDialect {
    static let fieldPolicy = FieldPolicy(nullIsAbsent: true)

    /// Reports only the first problem; if a member has its own rule, that rule gives the whole reason.
    static func refusal(of problems: [FieldProblem]) -> Refused {
        let problem = problems[0]
        let name = problem.path
        if let reason = problem.reason() { return Refusal(.badRequestBody, because: reason) }
        let found = "\(name) is \(problem.found?.text.prefix(100) ?? "")"
        switch problem.kind {
        case .missing:
            let found = problem.found == nil ? "there is no \(name)" : found
            return Refusal(.missingField, ["field": .string(name)], because: "\(found); expected \(problem.expected)")
        case .wrongType where problem.list != nil:
            return .invalidField(problem.list ?? "", because: "\(name) \(problem.typeMismatch)")
        case .noTime:
            if let remark = NumericDate(problem.found).millisecondsRemark(on: name) {
                return .invalidField(name, because: "\(found); expected seconds. \(remark)")
            }
        case .other(let reason): return .invalidField(name, because: reason)
        default: break
        }
        return .invalidField(name, because: "\(found), not \(problem.expected)")
    }
}

extension Refusal<BloomreachFailure> {
    static func invalidField(_ name: String, because reason: String) -> BloomreachRefusal {
        Refusal(.invalidField, ["field": .string(name)], because: reason)
    }
}

extension FieldReader {
    /// A moment in seconds: a number, or a date and time as text; the current time if absent or null.
    ///
    /// Source: text in ISO 8601 is documented (reference page on adding events).
    mutating func timestamp(at moment: Moment) -> Double {
        let form = "a number of seconds or date and time such as 2027-01-15T08:00:00Z"
        let given = value("timestamp", .noTime, expecting: form) { value in
            value.number == nil ? value.string.flatMap(Moment.init(bloomreach:)) : Moment(value)
        }
        return (given ?? moment).unixSeconds
    }

    /// The type of an event; `nil` if absent, null or empty.
    mutating func eventType() -> String? {
        let name = "event_type"
        guard let type = optionalText(name), !type.isEmpty else { return nil }
        if type.utf8.count > BloomreachEvent.longestType {
            refuse(name, "\(name) has \(type.utf8.count) bytes; expected at most \(BloomreachEvent.longestType)")
        }
        return type
    }
}
