public import JSON
import Synchronization
public import Tokens
public import Wire

/// An exchange as conditions see it: a request that has found its route, and what its token says.
public struct MatchContext: Sendable {
    /// The request, its target without the sandbox's prefix.
    public let request: Request
    /// The decoded parameters of its path.
    let parameters: PathParameters
    /// The claims of the presented token, whether or not it deserves trust; `nil` without a readable one.
    public let claims: JSONObject?
    /// The moment of the exchange by the sandbox's clock.
    public let moment: Moment
    /// Why the exchange was refused, in a line; `nil` when it was not, or is not over.
    public let reason: String?

    /// An exchange of these parts.
    public init(
        request: Request, parameters: PathParameters = PathParameters(), claims: JSONObject?, moment: Moment,
        reason: String? = nil, budget: WorkBudget = WorkBudget()
    ) {
        content = Content(budget)
        self.request = request
        self.parameters = parameters
        self.claims = claims
        self.moment = moment
        self.reason = reason
    }

    /// The content as JSON, read once for all conditions that ask; `nil` when it is none.
    var body: JSON? { content.json(of: request) }

    /// The items of the query, read once for all conditions that ask.
    var query: [(name: String, value: String)] { content.query(of: request) }

    /// The items of a form, read once for all conditions that ask.
    var form: [(name: String, value: String)] { content.form(of: request) }

    /// Judges something with what is left of the one budget that all conditions of an exchange share: whoever can set one
    /// rule can set a thousand.
    func spending<Value: Sendable>(_ judge: (inout WorkBudget) -> Value) -> Value {
        content.spending(judge)
    }

    /// Whether some condition was not judged, since judging it would have taken too much, and so did not hold.
    var isBeyondBudget: Bool { content.spending { $0.isSpent } }

    /// What the journal says when some condition was not judged; `nil` when all were.
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
            // Taken out while it is used: judging asks for the content, and may ask for this again.
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
                // What is no JSON has no members that could match.
                let read = try? JSON.parse(request.body)
                json = .some(read)
                return read
            }
        }
    }

    /// The seconds since 1970 that the claim names; `nil` when it is absent or no number.
    func time(_ claim: String) -> Double? { claims?[claim]?.number?.double }
}
