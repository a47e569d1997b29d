public import JSON
public import Tokens

/// A backend that Understudy stands in for: what every vendor needs.
///
/// A value of the conforming type holds what never changes while the server runs: accounts, keys, sample data. Requests
/// change its ``State``, of which every sandbox has its own.
///
/// Each optional capability is a separate protocol: ``MintsTokens``, ``ChecksTokens``, ``PublishesKeys``,
/// ``FetchesKeys``, ``ServesSockets``, ``KeepsDeadlines``, ``AuthenticatesWithState``, ``AnswersUnrouted``,
/// ``FinishesAnswers`` and ``PresentsFailures``. A vendor adopts those it needs.
public protocol Vendor: Sendable {
    /// What the vendor remembers; a value, protected by one lock per sandbox.
    associatedtype State: Sendable
    /// The vendor's failures.
    associatedtype Failure: VendorFailure
    /// The vendor's switches, resolved for one sandbox.
    associatedtype Switches: VendorSwitches
    /// What a route requires of its caller.
    associatedtype Access: Sendable
    /// The result of authenticating a request's credentials.
    associatedtype Credentials: Sendable
    /// What authentication may read from the state; set by ``AuthenticatesWithState``.
    associatedtype AuthenticationContext: Sendable = Void

    /// Name, owned paths and path rules.
    static var identity: VendorIdentity { get }
    /// The vendor's API index.
    static var routes: [Route<Self>] { get }
    /// The failures for requests that reach no handler.
    static var unrouted: UnroutedFailures<Failure> { get }

    /// Changes to the state that no client requests.
    static var actions: [VendorAction<Self>] { get }

    /// The rules for judging tokens and their senders, in the order of the vendor's checks.
    static var rules: [RuleListing] { get }

    /// The rules by which the vendor's clients judge tokens; a vendor that has some adopts ``ChecksTokens``.
    static var checkers: [TokenChecker] { get }

    /// Reads accounts, keys and sample data.
    init(fixtures: VendorFixtures) throws(FixtureProblem)

    var initialState: State { get }

    /// The state after a reset: the initial state, unless the vendor must remember something.
    func state(afterResetting old: State) -> State

    /// The state as JSON that ``state(importing:_:over:)`` reads; `nil` when there is nothing to that extent.
    ///
    /// With ``StateExtent/whole`` it contains no secrets.
    func export(_ state: State, _ extent: StateExtent) -> JSON?

    /// Writes what ``export(_:_:)`` gives as changes, row by row: of what notes its changes, those since the last pass.
    ///
    /// By default, all of it is one row.
    func write(_ state: inout State, to rows: RowWriter)

    /// Reads and checks an export of ``export(_:_:)``, or a document in its format.
    ///
    /// - Parameters:
    ///   - extent: what the export contains, and thereby what happens to the rest; see ``StateExtent``.
    ///   - current: the state to be replaced, or to be overlaid with changes.
    func state(
        importing node: FixtureNode, _ extent: StateExtent, over current: State
    ) throws(FixtureProblem) -> State

    /// The state of a sandbox that began under older fixtures, adapted to the fixtures of this vendor.
    ///
    /// Unchanged fixture records follow the new fixtures; what requests added or changed stays. By default, the state
    /// is kept as it is.
    func adopt(_ state: State, startedFrom old: Self) -> State

    /// Judges the presented credentials by every rule that needs no more of the state than
    /// ``Arrival/authenticationContext``, in the order of the vendor's checks.
    ///
    /// It does not answer the request, and runs outside any lock.
    func authenticate(_ arrival: Arrival<Self>, _ findings: inout Findings<Failure>) -> Credentials

    /// The presented token, trusted or not; `nil` without one.
    func token(of credentials: Credentials) -> CompactToken?

    /// Judges what authentication could not, since it needs the state: who exists, who owns what.
    ///
    /// It may record in the state that something was used, such as a single-use token: even when the call is refused in
    /// the end, and again when its handler had to wait.
    func authorize(_ call: inout Call<Self>, _ state: inout State)

    /// The secret strings of the fixtures, such as the secrets shared with signers; they are hidden wherever part of an
    /// exchange is shown. Tokens and private keys are recognized by their form.
    var secretTexts: [String] { get }

    /// The secrets that a state has learned, such as passwords. Read under the lock, so it must be cheap to get.
    func secrets(in state: State) -> SecretLedger

    // The vendor's optional capabilities. Vendors do not write these: each is `nil` by default, and `self` by the
    // default of its protocol. So the compiler knows them, and nothing is looked up or cast while requests are
    // answered.

    var tokenMinter: (any MintsTokens<State, Switches, Failure>)? { get }
    var clientChecks: (any ChecksTokens<State, Switches>)? { get }
    var keyPublisher: (any PublishesKeys<State>)? { get }
    /// Needs keys that others publish.
    var keyFetcher: (any FetchesKeys<State, Credentials, Switches>)? { get }
    /// Has deadlines that pass by the clock.
    var deadlineKeeper: (any KeepsDeadlines<State, Switches>)? { get }
    /// Answers requests that have no route.
    var unroutedAnswerer: (any AnswersUnrouted<Switches>)? { get }
    var answerFinisher: (any FinishesAnswers<Switches>)? { get }
    /// Phrases its failures.
    var failurePresenter: (any PresentsFailures<State, Failure, Switches>)? { get }
    /// Set by ``AuthenticatesWithState``; `read` locks the state while its closure runs.
    func authenticationContext(_ read: ((State) -> AuthenticationContext) -> AuthenticationContext)
        -> AuthenticationContext
}

extension Vendor {
    package var tokenMinter: (any MintsTokens<State, Switches, Failure>)? { nil }
    package var clientChecks: (any ChecksTokens<State, Switches>)? { nil }
    package var keyPublisher: (any PublishesKeys<State>)? { nil }
    package var keyFetcher: (any FetchesKeys<State, Credentials, Switches>)? { nil }
    package var deadlineKeeper: (any KeepsDeadlines<State, Switches>)? { nil }
    package var unroutedAnswerer: (any AnswersUnrouted<Switches>)? { nil }
    package var answerFinisher: (any FinishesAnswers<Switches>)? { nil }
    package var failurePresenter: (any PresentsFailures<State, Failure, Switches>)? { nil }
}

extension Vendor {
    /// By default, there are no actions.
    package static var actions: [VendorAction<Self>] { [] }

    /// By default, there are no rules.
    package static var rules: [RuleListing] { [] }

    /// By default, no client judges tokens.
    package static var checkers: [TokenChecker] { [] }

    /// The row of whatever is in no list.
    static var rowName: StateRow.Name { StateRow.Name(part: "state/\(identity.id)") }

    package func write(_ state: inout State, to rows: RowWriter) {
        if rows.pass != .marking { rows.single(Self.rowName, export(state, .changes)) }
    }

    /// By default, a reset is a new beginning.
    package func state(afterResetting old: State) -> State { initialState }

    /// By default, the fixtures contain no secrets but private keys.
    package var secretTexts: [String] { [] }

    /// By default, a state learns no secrets.
    package func secrets(in state: State) -> SecretLedger { SecretLedger() }

    package func adopt(_ state: State, startedFrom old: Self) -> State { state }

    /// By default, there are no readable tokens.
    @inlinable
    public func token(of credentials: Credentials) -> CompactToken? { nil }

    /// By default, the credentials alone decide.
    @inlinable
    public func authorize(_ call: inout Call<Self>, _ state: inout State) {}
}

extension Vendor where Credentials == Void {
    /// By default, no credentials are required.
    @inlinable
    public func authenticate(_ arrival: Arrival<Self>, _ findings: inout Findings<Failure>) {}
}

/// A vendor's names and the paths it owns.
public struct VendorIdentity: Sendable {
    /// The stable lowercase name used by files, flags and the control API.
    public let id: String
    /// The name for people.
    public let title: String
    /// Paths that the vendor answers, including everything below them.
    public let prefixes: [String]
    public let pathRules: PathRules
    /// The longest request content in bytes on routes without a limit of their own; `nil` for the server's limit.
    public let bodyLimit: Int?

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
    /// The failure for a path without a route.
    public let routeNotFound: Failure
    /// The failure for a path that supports only other methods; equal to `routeNotFound` for vendors that do not
    /// distinguish.
    public let methodNotAllowed: Failure
    /// The failure for content that is longer than the route allows.
    public let bodyTooLarge: Failure

    /// The part that the vendor owns but does not offer; `nil` when there is none.
    public let notOffered: UnofferedPart<Failure>?

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
