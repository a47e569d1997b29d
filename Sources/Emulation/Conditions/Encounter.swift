public import JSON
import Synchronization
public import Wire

/// An exchange as conditions see it: a request that has found its route, and what its token says.
public struct Encounter: Sendable {
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
        reason: String? = nil
    ) {
        self.request = request
        self.parameters = parameters
        self.claims = claims
        self.moment = moment
        self.reason = reason
    }

    /// The content as JSON, read once for all conditions that ask; `nil` when it is none.
    var body: JSON? { content.json(of: request) }

    private let content = Content()

    private final class Content: Sendable {
        private let json = Mutex<JSON??>(nil)

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
