public import JSON
public import Tokens
public import Wire

/// A vendor as the pipeline, the control API and the command line see it, its own types hidden.
public protocol MountedVendor: SwitchDeclaring, Sendable {
    /// The routes, in the vendor's order.
    var routes: [RouteListing] { get }
    /// The failures, in the vendor's order.
    var failures: [FailureListing] { get }
    /// Members of request and answer bodies that the journal masks on some route of the vendor.
    var secrets: Set<String> { get }
    /// The kinds of token that can be minted.
    var tokenKinds: [TokenKind] { get }
    /// Ids and public keys of the sample accounts.
    var samples: [SampleCredential] { get }
    /// What can happen to its state without a request.
    var actions: [ActionListing] { get }
    /// The scenarios of its fixtures.
    var scenarios: [Scenario] { get }
    /// Answers an exchange whose path leads to the vendor.
    var answer: @Sendable (Exchange, Destination) -> ExchangeStep { get }

    /// A fresh state for a sandbox, whose alarm it is, and in which the vendor has that index.
    func makeCell(
        _ settings: Settings, in sandbox: SandboxIdentity, _ alarm: Alarm, _ index: Int
    ) -> any StateCell
    /// Lets the deadlines in a sandbox pass that are due by its clock as it is now.
    func passDeadlines(in sandbox: Sandbox, cell: any StateCell)
    /// Makes a sandbox's state what the fixtures give.
    func reset(_ cell: any StateCell)
    /// What a sandbox holds, as JSON that ``read(_:_:for:)`` reads; `nil` when there is nothing of that extent.
    func export(_ cell: any StateCell, _ extent: StateExtent) -> JSON?
    /// Reads and checks a state for a sandbox; what is returned puts it in force.
    ///
    /// - Throws: the first thing that is wrong with it; nothing has changed then.
    func read(
        _ node: FixtureNode, _ extent: StateExtent, for cell: any StateCell
    ) throws(FixtureProblem) -> @Sendable () -> Void
    /// Makes a token.
    func mint(_ order: MintOrder, in cell: any StateCell, at moment: Moment) throws(MintRefusal) -> MintedToken
    /// Says what the vendor would answer to a token.
    func explain(
        _ token: String, knowing context: JSONObject, in cell: any StateCell, at moment: Moment
    ) -> TokenExplanation
    /// Does an action, and returns what a person may want to know of it.
    func perform(
        _ action: String, _ members: JSONObject, in sandbox: Sandbox, cell: any StateCell
    ) throws(ActionRefusal) -> JSON
    /// The secrets that the vendor shares with those who sign.
    var sharedSecrets: [SharedSecret] { get }
    /// The issuers of a sandbox that publish keys.
    func issuers(in cell: any StateCell) -> [IssuerKeys]
    /// The keys that issuers publish elsewhere, as a sandbox has them.
    func remoteKeys(in cell: any StateCell) -> [RemoteKeys]
    /// Does a drill with the keys of an issuer; a pair is needed unless the issuer has one to spare.
    func perform(
        _ drill: KeyDrill, at issuer: String, with pair: DeferredKeyPair?, in sandbox: Sandbox, cell: any StateCell
    ) -> KeyDrillOutcome
    /// A request that works at that moment.
    func sampleRequest(at moment: Moment) throws(MintRefusal) -> SampleRequest
}

/// What a vendor remembers in one sandbox.
public protocol StateCell: AnyObject, Sendable {
    /// Takes over changed settings.
    func apply(_ settings: Settings)
    /// Closes its sockets and forgets deadlines, for good.
    func end()
}

/// One route as lists show it.
public struct RouteListing: Sendable {
    /// The route's id.
    public let id: String
    /// The methods and paths that lead there.
    public let endpoints: [Endpoint]
    /// Where the route is known from.
    public let evidence: Evidence
    /// Those of the methods and paths that only the vendor's clients show.
    public let observed: Set<Endpoint>
    /// The source in words.
    public let source: String
    /// The longest request content in bytes; `nil` for the server's limit.
    public let bodyLimit: Int?

    /// The longest content in bytes where neither route nor vendor says anything else.
    public static let standardBodyLimit = 1 << 20

    /// Where one of its methods and paths is known from.
    public func evidence(of endpoint: Endpoint) -> Evidence { observed.contains(endpoint) ? .observed : evidence }
}

/// A request in its sandbox, at its moment.
public struct Exchange: Sendable {
    /// The request, its target without the sandbox's prefix.
    public let request: Request
    /// The sandbox.
    public let sandbox: Sandbox
    /// The moment at which everything about the exchange is judged.
    public let moment: Moment

    /// Whether a fault or a scenario may have a say in it.
    @usableFromInline let isWatched: Bool

    /// An exchange of these parts.
    init(request: Request, sandbox: Sandbox, moment: Moment, isWatched: Bool) {
        self.isWatched = isWatched
        self.request = request
        self.sandbox = sandbox
        self.moment = moment
    }
}

/// Where in a vendor a path leads.
public struct Destination: Sendable {
    /// What the path means to the vendor.
    public enum Place: Sendable {
        /// The route at that index.
        case route(Int, PathParameters)
        /// A path that the vendor knows with other methods only.
        case otherMethods(allow: String)
        /// A path under a prefix of the vendor with nothing there.
        case nowhere
    }

    /// The index of the vendor, which is also that of its cell.
    public let vendor: Int
    /// What the path means to it.
    public let place: Place

    /// A destination of these parts.
    public init(vendor: Int, place: Place) {
        self.vendor = vendor
        self.place = place
    }
}

/// How far an exchange has come.
public enum ExchangeStep: Sendable {
    /// It has its response, and this is what the journal shall know of it.
    case finished(Response, ExchangeRecord)
    /// Something must be waited for; afterwards it goes on.
    case waiting(@Sendable () async -> Void, then: @Sendable () -> ExchangeStep)
    /// Published keys must be asked for; with what comes of it, it goes on.
    case fetching(KeyRequest, then: @Sendable (KeyAnswer) -> ExchangeStep)

    /// The step with its response and record changed, now or once they are there.
    func amended(_ change: @escaping @Sendable (inout Response, inout ExchangeRecord) -> Void) -> ExchangeStep {
        switch self {
        case .finished(var response, var record):
            change(&response, &record)
            return .finished(response, record)
        case .waiting(let job, let then): return .waiting(job) { then().amended(change) }
        case .fetching(let request, let then): return .fetching(request) { then($0).amended(change) }
        }
    }
}

/// What a vendor would answer to a token that comes without its request.
public struct TokenExplanation: Sendable {
    /// The vendor's id.
    public let vendor: String
    /// The kind of token that the vendor takes it for; `nil` when it cannot tell.
    public let kind: String?
    /// The account whose key fits, in words; `nil` when none does.
    public let account: String?
    /// The failure's name; `nil` when nothing that could be judged speaks against the token.
    public let failure: String?
    /// The answer to a request that carries the token; `nil` when the token alone does not decide it.
    public let response: Response?
    /// Every check.
    public let findings: [Finding]
    /// What the vendor's clients would do with the token, by their names.
    public let clients: [(name: String, verdict: CheckerVerdict)]
}

extension TokenExplanation {
    /// The explanation for programs.
    public var json: JSON {
        var answer: JSON = nil
        if let response {
            // A body that is no JSON is shown as text.
            let body = (try? JSON.parse(response.body)) ?? .string(String(decoding: response.body, as: UTF8.self))
            answer = ["status": JSON(response.status.code), "body": body]
        }
        return [
            "vendor": .string(vendor), "kind": JSON(kind), "account": JSON(account), "accepted": .bool(failure == nil),
            "failure": JSON(failure), "answer": answer, "findings": .array(findings.map(\.json)),
            "clients": .array(clients.map { $0.verdict.json(of: $0.name) }),
        ]
    }
}
