import HTTPTypes
public import JSON
import Synchronization
public import Tokens
public import Wire

/// What an exchange must be like: its method, path, query, header, content and claims; all parts must hold.
///
/// Scenarios, faults and the journal's verification use the same members.
package struct ExchangeCondition: Sendable {
    package struct Miss: Sendable, Hashable {
        /// Which part, such as `header x-device`.
        package let condition: String
        package let expected: String
        /// What the exchange has there; `nil` for nothing.
        package let found: String?
    }

    private enum Subject: Sendable {
        case method
        case path
        case reason
        case tokenAge
        case tokenLeft
        case query(String)
        case header(HTTPField.Name)
        case form(String)
        case body(JSONPath)
        case claim(JSONPath)
    }

    private struct Part: Sendable {
        let name: String
        let subject: Subject
        let matcher: ValueMatcher
    }

    package static let members = [
        "method", "path", "query", "header", "form", "body", "claims", "token_age", "token_left", "reason",
    ]

    private let parts: [Part]

    var names: [String] { parts.map(\.name) }

    package init() { parts = [] }

    /// Reads a condition: `method`, `path`, `reason`, `token_age` and `token_left` each take a ``ValueMatcher``;
    /// `query`, `header` and `form` take one per name; `body` and `claims` one per member or JSONPath.
    ///
    /// A token's age counts from its `iat`, its time left to its `exp`; both in seconds by the sandbox's clock.
    package init(_ mapping: FixtureMapping) throws(FixtureProblem) {
        var parts: [Part] = []
        for (name, node) in mapping.members where Self.members.contains(name) {
            if let subject = Self.subjects[name] {
                parts.append(Part(name: name, subject: subject, matcher: try ValueMatcher(node)))
                continue
            }
            for (key, value) in try node.members() {
                let subject = try Self.subject(name, key, value)
                parts.append(Part(name: "\(name) \(key)", subject: subject, matcher: try ValueMatcher(value)))
            }
        }
        guard parts.count <= Self.mostParts else {
            throw mapping.node.problem("the condition has \(parts.count) parts; at most \(Self.mostParts) are judged")
        }
        self.parts = parts
    }

    /// ours: every part is evaluated for every call.
    private static let mostParts = 100

    private static let subjects: [String: Subject] = [
        "method": .method, "path": .path, "token_age": .tokenAge, "token_left": .tokenLeft, "reason": .reason,
    ]

    private static func subject(_ name: String, _ key: String, _ node: FixtureNode) throws(FixtureProblem) -> Subject {
        switch name {
        case "query": .query(key)
        case "header": .header(try node.fieldName(key))
        case "form": .form(key)
        case "body": .body(try path(key, node))
        default: .claim(try path(key, node))
        }
    }

    /// A JSONPath unchanged, or a path to a member of the top-level object.
    static func path(_ key: String, _ node: FixtureNode) throws(FixtureProblem) -> JSONPath {
        do {
            return key.hasPrefix("$") ? try JSONPath(key) : JSONPath(member: key)
        } catch {
            throw node.nameProblem("“\(key)” is not a JSONPath: \(error)")
        }
    }

    /// Whether the exchange satisfies every part; `false` when judging would exceed the exchange's budget.
    package func holds(for matchContext: MatchContext) -> Bool {
        if parts.isEmpty { return true }
        return matchContext.spending { budget in
            parts.allSatisfy { part in
                let values = Self.values(part.subject, matchContext, &budget)
                return part.matcher.holds(for: values, within: &budget)
            }
        }
    }

    /// The parts that the exchange does not satisfy.
    ///
    /// - Parameter shown: the exchange with its secrets masked; the values found are taken from it.
    package func misses(for matchContext: MatchContext, shownAs shown: MatchContext? = nil) -> [Miss] {
        let shown = shown ?? matchContext
        return parts.compactMap { part in
            let (isFound, unmet) = matchContext.spending { budget in
                let values = Self.values(part.subject, matchContext, &budget)
                return (!values.isEmpty, part.matcher.unmet(for: values, within: &budget))
            }
            return unmet.map { expected in
                let found = shown.spending { Self.text(of: Self.values(part.subject, shown, &$0)) }
                return Miss(condition: part.name, expected: expected, found: isFound ? found : nil)
            }
        }
    }

    private static func text(of values: [JSON]) -> String {
        var text = ""
        for (index, value) in values.enumerated() {
            if index > 0 { text += ", " }
            guard text.utf8.count < longestFound else { return text + "…" }
            text += value.string ?? value.text
        }
        return text
    }

    /// ours: people read what was found; no further value is shown beyond this many bytes.
    private static let longestFound = 4096

    private static func values(_ subject: Subject, _ matchContext: MatchContext, _ budget: inout WorkBudget) -> [JSON] {
        let values = found(subject, matchContext, &budget)
        return budget.isSpent ? [] : values
    }

    private static func found(_ subject: Subject, _ matchContext: MatchContext, _ budget: inout WorkBudget) -> [JSON] {
        let request = matchContext.request
        switch subject {
        case .method: return [.string(request.method.rawValue)]
        case .path:
            guard budget.spend(onBytes: request.path.utf8.count) else { return [] }
            return [.string(String(PercentEncoding.decode(request.path) ?? request.path))]
        case .reason: return matchContext.reason.map { [.string($0)] } ?? []
        case .tokenAge: return seconds(matchContext.time("iat").map { matchContext.moment.unixSeconds - $0 })
        case .tokenLeft: return seconds(matchContext.time("exp").map { $0 - matchContext.moment.unixSeconds })
        case .query(let name): return texts(matchContext.query, name, &budget)
        case .form(let name): return texts(matchContext.form, name, &budget)
        case .header(let name):
            return budget.spend(1 + request.fields.count / 4) ? request.fields.values(of: name).map(JSON.string) : []
        case .body(let path): return matchContext.body.map { path.values(in: $0, within: &budget) } ?? []
        case .claim(let path): return matchContext.claims.map { path.values(in: .object($0), within: &budget) } ?? []
        }
    }

    private static func seconds(_ value: Double?) -> [JSON] { value.map { [.number(JSONNumber($0))] } ?? [] }

    private static func texts(
        _ items: [(name: String, value: String)], _ name: String, _ budget: inout WorkBudget
    ) -> [JSON] {
        guard budget.spend(1 + items.count) else { return [] }
        return items.filter { $0.name == name }.map { .string($0.value) }
    }
}

/// An exchange as conditions see it: a routed request and its token's claims.
public struct MatchContext: Sendable {
    /// The request, its target without the sandbox's prefix.
    package let request: Request
    let parameters: PathParameters
    /// The claims of the presented token, trusted or not; `nil` without a readable token.
    package let claims: JSONObject?
    /// The presented token; `nil` without one, and for exchanges of the past.
    let token: CompactToken?
    package let moment: Moment
    /// Why the exchange was refused, in one line; `nil` when it was not refused or is unfinished.
    package let reason: String?

    public init(
        request: Request, parameters: PathParameters = PathParameters(), claims: JSONObject?,
        token: CompactToken? = nil, moment: Moment, reason: String? = nil, budget: WorkBudget = WorkBudget()
    ) {
        content = Content(budget)
        (self.request, self.parameters, self.claims, self.token) = (request, parameters, claims, token)
        (self.moment, self.reason) = (moment, reason)
    }

    /// The content as JSON, parsed once for all conditions; `nil` when it is not JSON.
    var body: JSON? { content.json.once { try? JSON.parse(request.body) } }

    var query: [(name: String, value: String)] { content.query.once { request.queryItems } }

    var form: [(name: String, value: String)] { content.form.once { request.formItems } }

    /// Judges within the rest of the budget that all conditions of an exchange share: one caller could set a thousand
    /// rules.
    func spending<Value: Sendable>(_ judge: (inout WorkBudget) -> Value) -> Value {
        // Copied while in use: judging reads the content, and may call this again.
        var budget = content.budget.withLock { $0 }
        let value = judge(&budget)
        content.budget.withLock { [budget] in $0 = budget }
        return value
    }

    /// Whether some condition did not hold because judging it would have exceeded the budget.
    var isBeyondBudget: Bool { spending { $0.isSpent } }

    /// The journal's note when some condition was not judged; `nil` when all were.
    @usableFromInline var budgetNote: Finding? {
        guard isBeyondBudget else { return nil }
        return Finding(
            "conditions", .noted, found: .text("more than \(WorkBudget.standardSteps) steps"),
            note: "Judging all conditions of faults and scenarios would take more; the rest counted as not met.",
            source: "ours")
    }

    private let content: Content

    private final class Content: Sendable {
        let json = Mutex<JSON??>(nil)
        let query = Mutex<[(name: String, value: String)]?>(nil)
        let form = Mutex<[(name: String, value: String)]?>(nil)
        let budget: Mutex<WorkBudget>

        init(_ budget: WorkBudget) { self.budget = Mutex(budget) }
    }

    /// The claim's time in seconds since 1970; `nil` when it is absent or not a number.
    func time(_ claim: String) -> Double? { claims?[claim]?.number?.double }
}
