public import JSON
public import Tokens
public import Wire

/// A vendor as lists, files and commands see it, with its own types hidden.
public protocol AnyLoadedVendor: AnyObject, SwitchDeclaring, Sendable {
    var routes: [RouteListing] { get }
    /// The table of routes that fixtures describe, which a reload may replace; `nil` for a vendor with routes of its own.
    var addedRoutes: RouteTable? { get }
    var failures: [FailureListing] { get }
    /// What its answers, failures and credentials look like; read from the fixtures when first asked.
    func description() throws(FixtureProblem) -> VendorDescription
    /// The checks that depend on what only the real server has.
    var outsideChecks: [String: OutsideNeed] { get }
    /// Their names, which are far cheaper to list.
    var failureNames: [String] { get }
    /// Members of request and answer bodies that the journal masks on some route of the vendor.
    var secrets: Set<String> { get }
    var tokenKinds: [TokenKind] { get }
    /// The facts that explaining a token may need about the request that carries it.
    var requestFacts: [(name: String, about: String)] { get }
    /// Ids and public keys of the sample accounts.
    var samples: [(label: String, value: String)] { get }
    var secretKeys: [SecretKey] { get }
    /// A request that works at that moment; refused where fixtures leave the vendor without a signing key.
    ///
    /// - Parameter base: the server's public address, for requests with tokens that name it.
    func sampleRequest(at moment: Moment, base: String) throws(ControlRefusal) -> SampleRequest
    /// The actions on its state that need no request.
    var actions: [ActionListing] { get }
    var scenarios: [Scenario] { get }
    /// The strings in the fixtures that must not be shown.
    var secretTexts: [String] { get }
    /// The vendor in its place in a fresh sandbox, with its alarm and its change mark.
    func placed(
        at index: Int, of vendors: VendorsInForce, _ settings: Settings, in sandbox: SandboxIdentity, _ alarm: Alarm,
        _ changes: ChangeMark
    ) -> any AnySandboxedVendor
}

/// A vendor in one sandbox: its state there and the operations on it, with its own types hidden.
public protocol AnySandboxedVendor: AnyObject, Sendable {
    func answer(_ exchange: Exchange, at match: RouteTable.Match) -> ExchangeStep
    func apply(_ settings: Settings)
    /// Passes the deadlines that are due by the sandbox's clock.
    func passDeadlines(in sandbox: Sandbox)
    func reset()
    /// Closes its sockets and drops its deadlines, permanently.
    func end()
    /// Closes its sockets, and answers nobody from now on.
    func seal()
    /// Answers again after ``seal()``.
    func unseal()
    /// Performs an action, and returns a result for people.
    ///
    /// - Parameter selector: how the request that causes it named the sandbox.
    func perform(
        _ action: String, _ members: JSONObject, in sandbox: Sandbox, by selector: SandboxSelector
    ) throws(ControlRefusal) -> JSON

    /// The state as JSON that ``read(_:_:)`` reads; `nil` when there is nothing to that extent.
    func export(_ extent: StateExtent) -> JSON?
    func write(to rows: RowWriter)
    /// Reads and checks a state; the returned closure puts it in force.
    ///
    /// - Throws: the first problem; nothing has changed in that case.
    func read(_ node: FixtureNode, _ extent: StateExtent) throws(FixtureProblem) -> @Sendable () -> Void
    /// The secrets that the state has gained since that mark; `nil` when there are none.
    func secrets(since mark: SecretMark?) -> (texts: [String], mark: SecretMark)?

    func mint(
        _ order: MintRequest, at moment: Moment, by selector: SandboxSelector, _ identifiers: IdentifierSource
    ) throws(ControlRefusal) -> MintedToken
    func explain(_ token: String, knowing context: JSONObject, at moment: Moment) -> TokenExplanation
    var issuers: [IssuerKeys] { get }
    /// The keys that issuers publish elsewhere.
    var remoteKeys: [RemoteKeys] { get }
    /// Performs a drill on the keys of an issuer; a pair is needed unless the issuer has a spare.
    func perform(
        _ drill: KeyDrill, at issuer: String, with pair: DeferredKeyPair?, in sandbox: Sandbox
    ) -> KeyDrillOutcome
}

public struct RouteListing: Sendable {
    package let id: String
    package let endpoints: [Endpoint]
    package let evidence: Evidence
    /// The endpoints known only from the vendor's clients.
    package let observed: Set<Endpoint>
    package let source: String
    /// The longest request content in bytes; `nil` for the server's limit.
    package let bodyLimit: Int?

    /// The longest content in bytes when neither route nor vendor sets a limit.
    package static let standardBodyLimit = 1 << 20

    package func evidence(of endpoint: Endpoint) -> Evidence { observed.contains(endpoint) ? .observed : evidence }
}

/// A request in its sandbox, at a moment.
public struct Exchange: Sendable {
    /// The request, its target without the sandbox's prefix.
    public let request: Request
    public let sandbox: Sandbox
    public let selector: SandboxSelector
    public let moment: Moment
    public let isClockFrozen: Bool
    package let isMachineTime: Bool
    /// Whether a fault or scenario may affect it.
    @usableFromInline let isWatched: Bool
}

public enum ExchangeStep: Sendable {
    case finished(Response, ExchangeRecord)
    /// Nothing was done, since the sandbox is kept elsewhere by now; whoever fetches it there can begin anew.
    case moved
    /// It continues after waiting for something.
    case waiting(@Sendable () async -> ExchangeStep)
    /// Published keys must be fetched; it continues with the answer.
    case fetching(KeyRequest, then: @Sendable (KeyAnswer) -> ExchangeStep)

    /// The step with its response and record changed, now or once they exist.
    func amended(_ change: @escaping @Sendable (inout Response, inout ExchangeRecord) -> Void) -> ExchangeStep {
        switch self {
        case .finished(var response, var record):
            change(&response, &record)
            return .finished(response, record)
        case .moved: return .moved
        case .waiting(let job): return .waiting { await job().amended(change) }
        case .fetching(let request, let then): return .fetching(request) { then($0).amended(change) }
        }
    }
}

/// What a vendor would answer to a token, given without its request.
public struct TokenExplanation: Sendable {
    package let vendor: String
    /// The kind of token that the vendor recognizes; `nil` when it cannot tell.
    package let kind: String?
    /// The account whose key matches, in words; `nil` when none does.
    package let account: String?
    /// The failure's name; `nil` when no check that could be made failed.
    package let failure: String?
    /// The answer to a request that carries the token; `nil` when the token alone does not decide it.
    package let response: Response?
    package let findings: [Finding]
    package let clients: [(name: String, verdict: CheckerVerdict)]
}

extension TokenExplanation {
    /// Why the token would be refused, in one line; `nil` when it would not.
    package var reason: String? { failure == nil ? nil : findings.first { $0.outcome == .failed }?.description }

    package var json: JSON {
        var answer: JSON = nil
        if let response {
            // A body that is not JSON is shown as text.
            let body = (try? JSON.parse(response.body)) ?? .string(String(decoding: response.body, as: UTF8.self))
            answer = ["status": JSON(response.status.code), "body": body]
        }
        return [
            "vendor": .string(vendor), "kind": JSON(kind), "account": JSON(account), "accepted": .bool(failure == nil),
            "failure": JSON(failure), "reason": JSON(reason), "answer": answer,
            "findings": .array(findings.map(\.json)),
            "clients": .array(clients.map { $0.verdict.json(of: $0.name) }),
        ]
    }
}
