public import JSON

/// A backend that Understudy stands in for: what every vendor needs.
///
/// A value of the conforming type holds what never changes while the server runs: accounts, keys, sample data. What
/// requests change is its ``State``, of which every sandbox has its own.
///
/// What a vendor can do besides is a protocol of its own: ``MintsTokens``, ``ChecksTokens``, ``PublishesKeys``,
/// ``FetchesKeys``, ``ServesSockets``, ``KeepsDeadlines``, ``AuthenticatesWithState``, ``AnswersUnrouted`` and
/// ``FinishesAnswers``. A vendor adopts those that it needs.
public protocol Vendor: Sendable {
    /// What the vendor remembers; a value, behind one lock per sandbox.
    associatedtype State: Sendable
    /// The vendor's failures.
    associatedtype Failure: VendorFailure
    /// The vendor's switches, resolved for one sandbox.
    associatedtype Switches: VendorSwitches
    /// What a route demands of its caller.
    associatedtype Access: Sendable
    /// What authentication makes of a request's credentials.
    associatedtype Credentials: Sendable
    /// What authentication may know of the state; set by ``AuthenticatesWithState``.
    associatedtype AuthenticationContext: Sendable = Void

    /// Name, owned paths and path rules.
    static var identity: VendorIdentity { get }
    /// The vendor's API index.
    static var routes: [Route<Self>] { get }
    /// The failures for what no handler sees.
    static var unrouted: UnroutedFailures<Failure> { get }

    /// What can happen to the state without a request of the client.
    static var actions: [VendorAction<Self>] { get }

    /// The rules by which the vendor judges tokens and those who send them, in the order of its checks.
    static var rules: [RuleListing] { get }

    /// Reads accounts, keys and sample data.
    init(fixtures: VendorFixtures) throws(FixtureProblem)

    /// What a sandbox starts with.
    var initialState: State { get }

    /// What a reset leaves of a state: what a sandbox starts with, unless the vendor has to remember that there was one.
    func state(afterResetting old: State) -> State

    /// The state as JSON that ``state(importing:_:over:)`` reads; `nil` when there is nothing of that extent.
    ///
    /// With ``StateExtent/whole`` no secret is in it.
    func export(_ state: State, _ extent: StateExtent) -> JSON?

    /// Reads and checks what ``export(_:_:)`` wrote, or somebody in its form.
    ///
    /// - Parameters:
    ///   - extent: what the export holds, and so what becomes of the rest; see ``StateExtent``.
    ///   - current: the state that is replaced, or that changes are laid over.
    func state(
        importing node: FixtureNode, _ extent: StateExtent, over current: State
    ) throws(FixtureProblem) -> State

    /// The state of a sandbox, begun under fixtures that have since been replaced by those of this vendor.
    ///
    /// Records of the fixtures that no request changed follow the fixtures; what requests made or changed stays. A vendor
    /// that does not say otherwise keeps the state as it is.
    func adopt(_ state: State, startedFrom old: Self) -> State

    /// Judges the presented credentials by every rule that needs no more of the state than ``Arrival/authenticationContext``, in the order of
    /// the vendor's checks.
    ///
    /// It answers nothing, and runs outside any lock.
    func authenticate(_ arrival: Arrival<Self>, _ findings: inout Findings<Failure>) -> Credentials

    /// What the presented token says of itself, trusted or not; `nil` without a readable one.
    func claims(of credentials: Credentials) -> JSONObject?

    /// Judges what authentication could not, since it needs the state: who exists, who owns what.
    ///
    /// It may note in the state that something was used, such as a token that is good for one request: also when the call
    /// is refused in the end, and once more when its handler had to wait.
    func authorize(_ call: inout Call<Self>, _ state: inout State)

    /// The texts of the fixtures that nobody may see, such as the secrets that are shared with those who sign; they are
    /// hidden wherever something of an exchange is shown. Tokens and private keys are told by what they are.
    var secretTexts: [String] { get }

    /// What a state has come to hold that nobody may see, such as passwords. Asked under the lock, so it must be at hand.
    func secrets(in state: State) -> SecretLedger

    // What the vendor can do besides. No vendor writes these: each is `nil` by default, and `self` by the default of its
    // protocol. So the compiler knows, and nothing is looked up or cast while requests are answered.

    var tokenMinter: (any MintsTokens<State, Switches, Failure>)? { get }
    static var clientChecks: (any ChecksTokens<Switches>.Type)? { get }
    var keyPublisher: (any PublishesKeys<State>)? { get }
    var keyFetcher: (any FetchesKeys<State, Credentials, Switches>)? { get }
    var deadlineKeeper: (any KeepsDeadlines<State, Switches>)? { get }
    var unroutedAnswerer: (any AnswersUnrouted<Switches>)? { get }
    var answerFinisher: (any FinishesAnswers<Switches>)? { get }
    /// Set by ``AuthenticatesWithState``; `read` locks the state for as long as its closure runs.
    func authenticationContext(_ read: ((State) -> AuthenticationContext) -> AuthenticationContext)
        -> AuthenticationContext
}

extension Vendor {
    package var tokenMinter: (any MintsTokens<State, Switches, Failure>)? { nil }
    package static var clientChecks: (any ChecksTokens<Switches>.Type)? { nil }
    package var keyPublisher: (any PublishesKeys<State>)? { nil }
    package var keyFetcher: (any FetchesKeys<State, Credentials, Switches>)? { nil }
    package var deadlineKeeper: (any KeepsDeadlines<State, Switches>)? { nil }
    package var unroutedAnswerer: (any AnswersUnrouted<Switches>)? { nil }
    package var answerFinisher: (any FinishesAnswers<Switches>)? { nil }
}

extension Vendor {
    /// A vendor to whose state nothing happens but by requests.
    public static var actions: [VendorAction<Self>] { [] }

    /// A vendor that judges nobody by rules.
    public static var rules: [RuleListing] { [] }

    /// A vendor to whom a reset is a new beginning.
    public func state(afterResetting old: State) -> State { initialState }

    /// A vendor whose fixtures hold no secrets but private keys.
    public var secretTexts: [String] { [] }

    /// A vendor that is told no secrets.
    public func secrets(in state: State) -> SecretLedger { SecretLedger() }

    /// Keeps the state as it is.
    public func adopt(_ state: State, startedFrom old: Self) -> State { state }

    /// A vendor without readable tokens.
    @inlinable
    public func claims(of credentials: Credentials) -> JSONObject? { nil }

    /// A vendor that judges by the credentials alone.
    @inlinable
    public func authorize(_ call: inout Call<Self>, _ state: inout State) {}
}

extension Vendor where Credentials == Void {
    /// A vendor that asks for no credentials.
    @inlinable
    public func authenticate(_ arrival: Arrival<Self>, _ findings: inout Findings<Failure>) {}
}

/// Who a vendor is and which paths are its own.
public struct VendorIdentity: Sendable {
    /// The stable lower-case name that files, flags and the control API use.
    public let id: String
    /// The name for people.
    public let title: String
    /// Paths the vendor answers for, with everything below them.
    public let prefixes: [String]
    /// How the vendor reads paths.
    public let pathRules: PathRules
    /// The longest request content in bytes on routes that say nothing else; `nil` for the server's limit.
    public let bodyLimit: Int?

    /// An identity of these parts.
    public init(id: String, title: String, prefixes: [String], pathRules: PathRules, bodyLimit: Int? = nil) {
        self.id = id
        self.title = title
        self.prefixes = prefixes
        self.pathRules = pathRules
        self.bodyLimit = bodyLimit
    }
}

/// The failures of requests that reach no handler.
public struct UnroutedFailures<Failure: VendorFailure>: Sendable {
    /// Nothing is at that path.
    public let routeNotFound: Failure
    /// The path knows other methods only; equal to `routeNotFound` for vendors that make no difference.
    public let methodNotAllowed: Failure
    /// The content is longer than the route takes.
    public let bodyTooLarge: Failure

    /// What the vendor owns and does not offer; `nil` when there is nothing of the sort.
    public let notOffered: UnofferedPart<Failure>?

    /// Failures for these cases.
    public init(
        routeNotFound: Failure, methodNotAllowed: Failure, bodyTooLarge: Failure,
        notOffered: UnofferedPart<Failure>? = nil
    ) {
        self.notOffered = notOffered
        self.routeNotFound = routeNotFound
        self.methodNotAllowed = methodNotAllowed
        self.bodyTooLarge = bodyTooLarge
    }
}
