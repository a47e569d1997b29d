import Emulation
import JSON

/// What a claim rule makes of a member.
enum OktaMemberChange: Sendable {
    /// A value; its texts may refer to the request, the clock, and as `claims` to what the token or answer would hold.
    case value(BodyTemplate)
    /// A number added to what the member would be, or to another one: `{"add": -3600}`, `{"add": -1, "to": "iat"}`.
    case add(Int, to: String?)
    /// A list with another value at its end: `{"append": "x"}`.
    case append(BodyTemplate)
    /// A list of texts as one text: `{"join": " "}`.
    case join(String)

    /// Reads the value that a rule has for a member.
    init(_ value: JSON) throws(FixtureProblem) {
        guard let object = value.object, let word = object.first?.name, ["add", "append", "join"].contains(word) else {
            self = .value(try BodyTemplate(overExchange: value))
            return
        }
        let mapping = try FixtureNode(value, from: "the rule").mapping(word == "add" ? ["add", "to"] : [word])
        switch word {
        case "add": self = .add(try mapping.required("add").int(), to: try mapping["to"]?.string())
        case "join": self = .join(try mapping.required("join").string())
        default: self = .append(try BodyTemplate(overExchange: object["append"] ?? .null))
        }
    }

    /// The member's new value; `nil` when there is nothing to make one of.
    func value(of name: String, in members: JSONObject, _ fill: (BodyTemplate) -> JSON?) -> JSON? {
        switch self {
        case .value(let template): return fill(template)
        case .add(let number, let other):
            guard let known = members[other ?? name]?.int else { return nil }
            let (sum, isTooFar) = known.addingReportingOverflow(number)
            return isTooFar ? nil : JSON(sum)
        case .append(let template):
            guard let known = members[name], let added = fill(template) else { return nil }
            return .array((known.array ?? [known]) + [added])
        case .join(let separator):
            guard let words = members[name]?.array else { return nil }
            return .string(words.compactMap(\.string).joined(separator: separator))
        }
    }
}
