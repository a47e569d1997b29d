public import JSON
public import Tokens
public import Wire

/// A backend that Understudy stands in for.
///
/// A value of the conforming type holds what never changes while the server runs: accounts, keys, sample data. Requests
/// change its ``State``, of which every sandbox has its own.
///
/// What only some vendors can do has a default that does nothing, so a vendor declares what it needs.
public protocol Vendor: Sendable {
    /// What the vendor remembers; a value, protected by one lock per sandbox.
    associatedtype State: Sendable
    associatedtype Failure: RouteFailure
    /// The vendor's switches, resolved for one sandbox.
    associatedtype Switches: VendorSwitches
    /// What a route requires of its caller.
    associatedtype Access: Sendable
    /// The result of authenticating a request's credentials.
    associatedtype Credentials: Sendable
    /// What authentication may read from the state.
    associatedtype AuthenticationContext: Sendable = Void
    /// What the form of a failure depends on in the state, such as what the client asked for earlier.
    associatedtype FailureContext: Sendable = Void
    /// What the vendor remembers about a socket, such as the id of its session.
    associatedtype SocketLabel: Sendable = Never

    /// Name, owned paths and path rules.
    static var identity: VendorIdentity { get }
    /// The vendor's API index.
    static var routes: [Route<Self>] { get }
    /// The routes that the fixtures describe, which a reload may replace; `nil`, by default, for a vendor with ``routes``.
    static func routes(in fixtures: VendorFixtures) throws(FixtureProblem) -> [Route<Self>]?
    /// Parts of the API that are known but not emulated, and why nothing is below their prefixes: “belongs to …”.
    static var notOffered: [(prefixes: [String], reason: String)] { get }
    /// The failure for a path in such a part; by default as for any without a route.
    static var routeNotOffered: Failure { get }
    /// Changes to the state that no client requests.
    static var actions: [VendorAction<Self>] { get }
    /// The ways to satisfy an access, each with the credentials that it needs together; none for a call by anybody.
    static func security(of access: Access) -> [[SecurityScheme]]
    /// The rules for judging tokens and their senders, in the order of the vendor's checks.
    static var rules: [RuleListing] { get }
    /// The checks that depend on what only the real server has when a call to it is judged here: its records, what
    /// happened before, its keys, or the settings of the account for which another one stands in.
    static var recordChecks: [String] { get }
    static var historyChecks: [String] { get }
    static var keyChecks: [String] { get }
    static var accountChecks: [String] { get }
    /// The rules by which the vendor's clients judge tokens before sending or trusting them, without a server.
    static var checkers: [TokenChecker] { get }

    /// Reads accounts, keys and sample data.
    init(fixtures: VendorFixtures) throws(FixtureProblem)

    // MARK: State

    var initialState: State { get }

    /// What requests added to a state, compared with ``StateSize/most`` at each of them.
    func size(of state: State) -> StateSize

    /// The bytes of the files in a state that clients have uploaded, which all sandboxes together may keep only so many
    /// of; `nil`, by default, for a vendor that takes none.
    func uploads(in state: State) -> Int?

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
    func state(importing node: FixtureNode, _ extent: StateExtent, over current: State) throws(FixtureProblem) -> State

    /// The state of a sandbox that began under older fixtures, adapted to the fixtures of this vendor.
    ///
    /// Unchanged fixture records follow the new fixtures; what requests added or changed stays. By default, the state
    /// is kept as it is.
    func adopt(_ state: State, startedFrom old: Self) -> State

    /// The secret strings of the fixtures, such as the secrets shared with signers; they are hidden wherever part of an
    /// exchange is shown. Tokens and private keys are recognized by their form.
    var secretTexts: [String] { get }

    /// The secrets that a state has learned, such as passwords. Read under the lock, so it must be cheap to get.
    func secrets(in state: State) -> [SecretLedger]

    // MARK: Judging a request

    /// What authentication may read from a state, such as issuers registered while the server runs. Taken under the
    /// lock for each request, so it must be cheap to copy; a vendor without any does not lock.
    func authenticationContext(in state: State) -> AuthenticationContext

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

    // MARK: Answering

    /// The answer to a request that matches no route and is no mistake, such as a browser's CORS preflight; `nil` for
    /// the vendor's failure. The switches are read only on demand.
    func unroutedAnswer(to request: Request, _ switches: () -> Switches) -> Response?

    /// Adds what each of the vendor's answers has in common, whatever produced it.
    ///
    /// - Parameters:
    ///   - identifiers: the source for answers with an id of their own.
    ///   - switches: read only on demand.
    func finish(
        _ response: inout Response, to request: Request, _ identifiers: IdentifierSource, _ switches: () -> Switches)

    /// Whether failures look different for different callers, such as a page for a browser, or a redirect: only then
    /// the next three functions are called.
    static var presentsFailures: Bool { get }

    /// What the form of a failure depends on in a state. Read under the lock, so it must be cheap to get.
    func failureContext(in state: State, _ setting: FailureSetting<Failure, Switches>) -> FailureContext

    /// Parameters that are new in every failure's body, such as an error's own id.
    func freshParameters(in setting: FailureSetting<Failure, Switches>) -> JSONObject

    /// Gives the answer to a failure its form.
    ///
    /// - Parameters:
    ///   - response: the answer that `failures.yaml` describes.
    ///   - parameters: what the refusal says besides the name of the failure.
    func present(
        _ response: inout Response, _ parameters: JSONObject, _ context: FailureContext,
        in setting: FailureSetting<Failure, Switches>)

    // MARK: Tokens

    /// The kinds of token that can be minted; a vendor that has some defines ``mint(_:in:)``, ``explain(_:knowing:in:_:)``
    /// and ``sampleRequest(in:)``.
    static var tokenKinds: [TokenKind] { get }
    /// The facts that ``explain(_:knowing:in:_:)`` may need about the request that carries the token.
    static var requestFacts: [(name: String, about: String)] { get }

    /// Returns the token in its compact form.
    func mint(_ order: inout MintRequest, in setting: TokenSetting<Self>) throws(ControlRefusal) -> String

    /// Judges a token, given without its request.
    ///
    /// - Returns: the kind of token, if the vendor can tell, and the account whose key matches, in words.
    func explain(
        _ token: String, knowing context: JSONObject, in setting: TokenSetting<Self>,
        _ findings: inout Findings<Failure>
    ) -> (kind: String?, account: String?)

    /// The secrets that the vendor shares with those who sign tokens.
    var secretKeys: [SecretKey] { get }

    /// Ids and public keys of the sample accounts, shown at startup; never a secret.
    var samples: [(label: String, value: String)] { get }

    /// A request that works in a new sandbox at that moment, shown as a curl command.
    func sampleRequest(in setting: TokenSetting<Self>) throws(ControlRefusal) -> SampleRequest

    /// What a sandbox supplies to its clients' ``checkers``: its keys, and what follows from its switches.
    ///
    /// A client whose keys are elsewhere needs them here, since no request is made for a check inside the server.
    func checkerSettings(in state: State, _ switches: Switches) -> CheckerSettings

    // MARK: Keys

    /// The issuers that publish keys, including those of the sandbox, which drills can rotate and break.
    func issuers(in state: State) -> [IssuerKeys]

    func store(_ keys: IssuerKeys, in state: inout State)

    /// The keys that may have signed a token in one of the vendor's answers; by default those of its ``issuers(in:)``
    /// and its ``secretKeys``.
    func keys(for token: CompactToken, in setting: TokenSetting<Self>) -> [SigningKey]

    /// Gives a token from an answer a defect of the vendor's own before it is signed anew.
    ///
    /// - Returns: `false` for a defect that the tokens in answers do not have.
    func spoil(_ token: inout UnsignedToken, _ defect: String, in state: State) throws(ControlRefusal) -> Bool

    /// The keys that issuers publish elsewhere, as the sandbox has cached them.
    func remoteKeys(in state: State) -> [RemoteKeys]

    /// Stores the fetched keys of the issuer that `keys` names.
    func store(_ keys: RemoteKeys, in state: inout State)

    /// The published keys that must be fetched before these credentials can be judged; `nil` when none are missing.
    ///
    /// The pipeline fetches them once for all waiting requests. The request is then authenticated again with
    /// ``Arrival/keyFetch`` set; this is not called again.
    func awaitedKeys(of credentials: Credentials) -> KeyRequirement?

    /// How long published keys are cached, and how often they are fetched.
    func keyFetchPolicy(_ switches: Switches) -> KeyFetchPolicy

    // MARK: Sockets and deadlines

    /// Greets a socket that a handler has opened with ``Call/openSocket(_:_:)``; always its first event.
    ///
    /// Other calls may have changed the state since the handshake, so the socket may no longer have a purpose.
    func socketOpened(_ call: inout SocketCall<Self>, _ state: inout State)

    func socketReceived(_ message: WebSocketMessage, _ call: inout SocketCall<Self>, _ state: inout State)

    /// Handles the end of a socket, whoever closed it; always its last event.
    ///
    /// Not called for sockets closed because their whole state was replaced, as by a reset.
    func socketClosed(_ closure: WebSocketClosure, _ call: inout SocketCall<Self>, _ state: inout State)

    /// The next moment at which the state changes by itself, as when a session ends; `nil` for none.
    ///
    /// Called under the lock after every possible change of the state, so it must be stored, not searched for.
    func nextDeadline(in state: State) -> Moment?

    /// Does what is due at the call's moment, by the sandbox's clock.
    ///
    /// Called when a running clock reaches the deadline, immediately when the clock is moved there, and always before a
    /// call, frame or action at that moment or later. The next deadline must be later.
    func deadlinePassed(_ call: inout DeadlineCall<Self>, _ state: inout State)
}

// MARK: - Defaults

extension Vendor {
    package static func routes(in fixtures: VendorFixtures) throws(FixtureProblem) -> [Route<Self>]? { nil }
    package static var notOffered: [(prefixes: [String], reason: String)] { [] }
    package static var routeNotOffered: Failure { .routeNotFound }
    package static var actions: [VendorAction<Self>] { [] }
    package static func security(of access: Access) -> [[SecurityScheme]] { [] }
    package static var rules: [RuleListing] { [] }
    package static var checkers: [TokenChecker] { [] }
    package static var recordChecks: [String] { [] }
    package static var historyChecks: [String] { [] }
    package static var keyChecks: [String] { [] }
    package static var accountChecks: [String] { [] }

    static var rowName: StateRow.Name { StateRow.Name(part: "state/\(identity.id)") }

    package func write(_ state: inout State, to rows: RowWriter) {
        if rows.pass != .marking { rows.single(Self.rowName, export(state, .changes)) }
    }

    package func state(afterResetting old: State) -> State { initialState }
    package func adopt(_ state: State, startedFrom old: Self) -> State { state }
    package var secretTexts: [String] { [] }
    package func secrets(in state: State) -> [SecretLedger] { [] }

    @inlinable
    public func token(of credentials: Credentials) -> CompactToken? { nil }
    @inlinable
    public func authorize(_ call: inout Call<Self>, _ state: inout State) {}

    package func unroutedAnswer(to request: Request, _ switches: () -> Switches) -> Response? { nil }
    @inlinable
    public func finish(
        _ response: inout Response, to request: Request, _ identifiers: IdentifierSource, _ switches: () -> Switches
    ) {}
    package static var presentsFailures: Bool { false }
    package func freshParameters(in setting: FailureSetting<Failure, Switches>) -> JSONObject { [:] }
    package func present(
        _ response: inout Response, _ parameters: JSONObject, _ context: FailureContext,
        in setting: FailureSetting<Failure, Switches>
    ) {}

    package static var tokenKinds: [TokenKind] { [] }
    package static var requestFacts: [(name: String, about: String)] { [] }
    private var noTokens: ControlRefusal { ControlRefusal("\(Self.identity.title) mints no tokens") }
    package func mint(_ order: inout MintRequest, in setting: TokenSetting<Self>) throws(ControlRefusal) -> String {
        throw noTokens
    }
    /// Mints a token of that kind, as these members ask.
    package func mint(
        _ kind: String, _ members: JSONObject = [:], in setting: TokenSetting<Self>
    ) throws(ControlRefusal) -> String {
        var order = MintRequest(kind: kind, members: members)
        return try mint(&order, in: setting)
    }
    package func explain(
        _ token: String, knowing context: JSONObject, in setting: TokenSetting<Self>,
        _ findings: inout Findings<Failure>
    ) -> (kind: String?, account: String?) { (nil, nil) }
    package var secretKeys: [SecretKey] { [] }
    package var samples: [(label: String, value: String)] { [] }
    package func sampleRequest(in setting: TokenSetting<Self>) throws(ControlRefusal) -> SampleRequest {
        throw noTokens
    }
    package func checkerSettings(in state: State, _ switches: Switches) -> CheckerSettings { CheckerSettings() }

    package func issuers(in state: State) -> [IssuerKeys] { [] }
    package func store(_ keys: IssuerKeys, in state: inout State) {}
    package func keys(for token: CompactToken, in setting: TokenSetting<Self>) -> [SigningKey] {
        issuers(in: setting.state).flatMap { $0.published.map(\.key) } + secretKeys.map(\.signing)
    }
    package func spoil(
        _ token: inout UnsignedToken, _ defect: String, in state: State
    ) throws(ControlRefusal) -> Bool { false }
    package func remoteKeys(in state: State) -> [RemoteKeys] { [] }
    package func store(_ keys: RemoteKeys, in state: inout State) {}
    @inlinable
    public func awaitedKeys(of credentials: Credentials) -> KeyRequirement? { nil }
    package func keyFetchPolicy(_ switches: Switches) -> KeyFetchPolicy { KeyFetchPolicy() }

    package func socketOpened(_ call: inout SocketCall<Self>, _ state: inout State) {}
    package func socketReceived(_ message: WebSocketMessage, _ call: inout SocketCall<Self>, _ state: inout State) {}
    package func socketClosed(_ closure: WebSocketClosure, _ call: inout SocketCall<Self>, _ state: inout State) {}
    @inlinable
    public func nextDeadline(in state: State) -> Moment? { nil }
    package func deadlinePassed(_ call: inout DeadlineCall<Self>, _ state: inout State) {}
}

extension Vendor where Credentials: RuleFacts {
    @inlinable
    public func token(of credentials: Credentials) -> CompactToken? { credentials.compact }
}

extension Vendor where AuthenticationContext == Void {
    @inlinable
    public func authenticationContext(in state: State) {}
}

extension Vendor where FailureContext == Void {
    package func failureContext(in state: State, _ setting: FailureSetting<Failure, Switches>) {}
}

extension Vendor where Credentials == Void {
    @inlinable
    public func authenticate(_ arrival: Arrival<Self>, _ findings: inout Findings<Failure>) {}
}
