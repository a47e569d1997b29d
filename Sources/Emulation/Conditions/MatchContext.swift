public import JSON
import Synchronization
public import Tokens
public import Wire

/// An exchange as conditions see it: a routed request and its token's claims.
public struct MatchContext: Sendable {
    /// The request, its target without the sandbox's prefix.
    package let request: Request
    let parameters: PathParameters
    /// The claims of the presented token, trusted or not; `nil` without a readable token.
    package let claims: JSONObject?
    /// The presented token; `nil` without one, and for exchanges of the past.
    let token: CompactToken?
    /// The moment of the exchange by the sandbox's clock.
    package let moment: Moment
    /// Why the exchange was refused, in one line; `nil` when it was not refused or is unfinished.
    package let reason: String?

    public init(
        request: Request, parameters: PathParameters = PathParameters(), claims: JSONObject?,
        token: CompactToken? = nil, moment: Moment, reason: String? = nil, budget: WorkBudget = WorkBudget()
    ) {
        content = Content(budget)
        self.request = request
        self.parameters = parameters
        self.claims = claims
        self.token = token
        self.moment = moment
        self.reason = reason
    }

    /// The content as JSON, parsed once for all conditions; `nil` when it is not JSON.
    var body: JSON? { content.json(of: request) }

    /// The query items, parsed once for all conditions.
    var query: [(name: String, value: String)] { content.query(of: request) }

    /// The form items, parsed once for all conditions.
    var form: [(name: String, value: String)] { content.form(of: request) }

    /// Judges within what is left of the budget that all conditions of an exchange share: one caller could set a
    /// thousand rules.
    func spending<Value: Sendable>(_ judge: (inout WorkBudget) -> Value) -> Value {
        content.spending(judge)
    }

    /// Whether some condition did not hold because judging it would have exceeded the budget.
    var isBeyondBudget: Bool { content.spending { $0.isSpent } }

    /// The journal's note when some condition was not judged; `nil` when all were.
    @usableFromInline var budgetNote: Finding? {
        guard isBeyondBudget else { return nil }
        return Finding(
            "conditions", .noted, found: .text("more than \(WorkBudget.standardSteps) steps"),
            note: "Judging all conditions of faults and scenarios would take more; those that were left did not hold.",
            source: "ours")
    }

    private let content: Content

    private final class Content: Sendable {
        private let json = Mutex<JSON??>(nil)
        private let query = Mutex<[(name: String, value: String)]?>(nil)
        private let form = Mutex<[(name: String, value: String)]?>(nil)
        private let budget: Mutex<WorkBudget>

        init(_ budget: WorkBudget) { self.budget = Mutex(budget) }

        func spending<Value: Sendable>(_ judge: (inout WorkBudget) -> Value) -> Value {
            // Copied while in use: judging reads the content, and may call this again.
            var budget = budget.withLock { $0 }
            let value = judge(&budget)
            self.budget.withLock { [budget] in $0 = budget }
            return value
        }

        func query(of request: Request) -> [(name: String, value: String)] {
            query.withLock { query in
                let items = query ?? request.queryItems
                query = items
                return items
            }
        }

        func form(of request: Request) -> [(name: String, value: String)] {
            form.withLock { form in
                let items = form ?? request.formItems
                form = items
                return items
            }
        }

        func json(of request: Request) -> JSON? {
            json.withLock { json in
                if let known = json { return known }
                // Content that is not JSON has no members to match.
                let read = try? JSON.parse(request.body)
                json = .some(read)
                return read
            }
        }
    }

    /// The claim's time in seconds since 1970; `nil` when it is absent or not a number.
    func time(_ claim: String) -> Double? { claims?[claim]?.number?.double }
}
