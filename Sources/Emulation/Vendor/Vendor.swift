public import JSON
public import Wire

/// A backend that Understudy stands in for.
///
/// A value of the conforming type holds what never changes while the server runs: accounts, keys, sample data. What
/// requests change is its ``State``, of which every sandbox has its own.
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
    /// What authentication may know of the state, such as issuers that were registered while the server runs.
    associatedtype Standing: Sendable = Void
    /// What the vendor wants to know of a socket again, such as the id of its session; ``Never`` for a vendor without sockets.
    associatedtype SocketLabel: Sendable = Never

    /// Name, owned paths and path rules.
    static var identity: VendorIdentity { get }
    /// The vendor's API index.
    static var routes: [Route<Self>] { get }
    /// The failures for what no handler sees.
    static var unrouted: UnroutedFailures<Failure> { get }
    /// The kinds of token that can be minted.
    static var tokenKinds: [TokenKind] { get }
    /// What ``explain(_:knowing:in:)`` may want to know of the request that carries the token.
    static var requestFacts: [RequestFact] { get }

    /// What can happen to the state without a request of the client.
    static var actions: [VendorAction<Self>] { get }

    /// The rules by which the vendor judges tokens and those who send them, in the order of its checks.
    static var rules: [RuleListing] { get }

    /// Rules of the vendor's clients by which a token can be judged without a server.
    static var checkers: [TokenChecker] { get }

    /// How far before `exp` the clients of a sandbox take a token for nearly over; `nil` for their own standard.
    static func margin(_ switches: Switches) -> Duration?

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

    /// What authentication may know of a state. Taken under the lock for each request, so it must be cheap to copy.
    func standing(in state: State) -> Standing

    /// Judges the presented credentials by every rule that needs no more of the state than its standing, in the order of
    /// the vendor's checks.
    ///
    /// It answers nothing, and runs outside any lock.
    func authenticate(_ arrival: Arrival<Self>, _ findings: inout Findings<Failure>) -> Credentials

    /// What the presented token says of itself, trusted or not; `nil` without a readable one.
    func claims(of credentials: Credentials) -> JSONObject?

    /// The published keys that have to be asked for before these credentials can be judged; `nil` when nothing is missing.
    ///
    /// The request waits for them, and is then authenticated anew with ``Arrival/keyFetch`` set; it is not asked again.
    func awaitedKeys(of credentials: Credentials) -> KeyOrder?

    /// Judges what authentication could not, since it needs the state: who exists, who owns what.
    ///
    /// It may note in the state that something was used, such as a token that is good for one request: also when the call
    /// is refused in the end, and once more when its handler had to wait.
    func authorize(_ call: inout Call<Self>, _ state: inout State)

    /// Greets a socket that a handler has opened; always its first event.
    ///
    /// Since the handshake other calls may have changed the state, so that there is nothing to be open for any more.
    func socketOpened(_ call: inout SocketCall<Self>, _ state: inout State)

    /// Deals with a message of a client.
    func socketReceived(_ message: WebSocketMessage, _ call: inout SocketCall<Self>, _ state: inout State)

    /// Deals with the end of a socket, by whomever; always its last event.
    ///
    /// Sockets that are closed since their whole state was replaced, as by a reset, are not told of.
    func socketClosed(_ closure: WebSocketClosure, _ call: inout SocketCall<Self>, _ state: inout State)

    /// When something happens to the state by itself, such as a session's end; `nil` for never.
    ///
    /// Asked under the lock behind everything that may have changed the state, so it must be at hand and not searched for.
    func nextDeadline(in state: State) -> Moment?

    /// Does what is due at the call's moment, by the sandbox's clock.
    ///
    /// It comes when a running clock shows the deadline, at once when the clock is moved there, and in any case before a
    /// call, a frame or an action with that or a later moment. The next deadline must be a later one.
    func deadlinePassed(_ call: inout DeadlineCall<Self>, _ state: inout State)

    /// Adds what each answer of the vendor carries, whatever produced it.
    func finish(_ response: inout Response, to request: Request)

    /// The same for a vendor whose answers each carry an id of their own; one that does not say otherwise needs none.
    func finish(_ response: inout Response, to request: Request, _ identifiers: IdentifierSource)

    /// Adds what answers carry by the sandbox's switches, which are read when they are asked for alone.
    func finish(_ response: inout Response, to request: Request, switches: () -> Switches)

    /// The answer to a request that finds no route and is no mistake, such as a browser's question before the call itself;
    /// `nil` for the vendor's failure.
    static func unroutedAnswer(to request: Request, _ switches: () -> Switches) -> Response?

    /// Makes a token of a kind in ``tokenKinds``.
    func mint(_ order: MintOrder, in setting: TokenSetting<Self>) throws(MintRefusal) -> MintedToken

    /// Says what this vendor would answer to a token that comes without its request.
    func explain(_ token: String, knowing context: JSONObject, in setting: TokenSetting<Self>) -> TokenVerdict<Failure>

    /// The issuers of tokens that publish keys, with those of a sandbox.
    func issuers(in state: State) -> [IssuerKeys]

    /// Stores the keys of an issuer of that name that something happened to.
    func store(_ keys: IssuerKeys, in state: inout State)

    /// The keys that issuers publish elsewhere, as a sandbox has them.
    func remoteKeys(in state: State) -> [RemoteKeys]

    /// Stores the keys of an issuer of that name that were asked for.
    func store(_ keys: RemoteKeys, in state: inout State)

    /// How long published keys are kept, and how often they are asked for.
    func keyFetchPolicy(_ switches: Switches) -> KeyFetchPolicy

    /// The secrets that are shared with those who sign.
    var sharedSecrets: [SharedSecret] { get }

    /// The texts of the fixtures that nobody may see, such as the secrets that are shared with those who sign; they are
    /// hidden wherever something of an exchange is shown. Tokens and private keys are told by what they are.
    var secretTexts: [String] { get }

    /// What a state has come to hold that nobody may see, such as passwords. Asked under the lock, so it must be at hand.
    func secrets(in state: State) -> SecretLedger

    /// Ids and public keys of the sample accounts, to be shown at the start; never a secret.
    var samples: [SampleCredential] { get }

    /// A request that works at that moment, to be shown as a line for curl.
    func sampleRequest(at moment: Moment) throws(MintRefusal) -> SampleRequest
}

extension Vendor {
    /// A vendor to whose state nothing happens but by requests.
    public static var actions: [VendorAction<Self>] { [] }

    /// A vendor that judges a token by itself alone.
    public static var requestFacts: [RequestFact] { [] }

    /// A vendor that judges nobody by rules.
    public static var rules: [RuleListing] { [] }

    /// A vendor whose clients judge no tokens.
    public static var checkers: [TokenChecker] { [] }

    /// A vendor whose clients cannot be set.
    public static func margin(_ switches: Switches) -> Duration? { nil }

    /// A vendor that has all keys at hand.
    public func awaitedKeys(of credentials: Credentials) -> KeyOrder? { nil }

    /// A vendor that asks nobody for keys.
    public func remoteKeys(in state: State) -> [RemoteKeys] { [] }

    /// Does nothing; a vendor that asks for keys has something to store.
    public func store(_ keys: RemoteKeys, in state: inout State) {}

    /// The standard policy.
    public func keyFetchPolicy(_ switches: Switches) -> KeyFetchPolicy { KeyFetchPolicy() }

    /// A vendor to whom a reset is a new beginning.
    public func state(afterResetting old: State) -> State { initialState }

    /// Says nothing.
    public func socketOpened(_ call: inout SocketCall<Self>, _ state: inout State) {}

    /// Listens to nothing.
    public func socketReceived(
        _ message: WebSocketMessage, _ call: inout SocketCall<Self>, _ state: inout State
    ) {}

    /// Does nothing; most vendors remember nothing of sockets.
    public func socketClosed(
        _ closure: WebSocketClosure, _ call: inout SocketCall<Self>, _ state: inout State
    ) {}

    /// A vendor to whose state nothing happens by itself.
    @inlinable
    public func nextDeadline(in state: State) -> Moment? { nil }

    /// Does nothing; a vendor that names deadlines has something to do.
    public func deadlinePassed(_ call: inout DeadlineCall<Self>, _ state: inout State) {}

    /// Most vendors add nothing to their answers.
    public func finish(_ response: inout Response, to request: Request) {}

    /// Draws no id.
    @inlinable
    public func finish(_ response: inout Response, to request: Request, _ identifiers: IdentifierSource) {
        finish(&response, to: request)
    }

    /// Adds nothing; most vendors have no such switch.
    @inlinable
    public func finish(_ response: inout Response, to request: Request, switches: () -> Switches) {}

    /// Answers nothing.
    @inlinable
    public static func unroutedAnswer(to request: Request, _ switches: () -> Switches) -> Response? { nil }

    /// A vendor whose tokens nobody verifies by published keys.
    public func issuers(in state: State) -> [IssuerKeys] { [] }

    /// Does nothing; a vendor with issuers has something to store.
    public func store(_ keys: IssuerKeys, in state: inout State) {}

    /// A vendor that shares no secrets.
    public var sharedSecrets: [SharedSecret] { [] }

    /// A vendor whose fixtures hold no secrets but private keys.
    public var secretTexts: [String] { [] }

    /// A vendor that is told no secrets.
    public func secrets(in state: State) -> SecretLedger { SecretLedger() }

    /// Keeps the state as it is.
    public func adopt(_ state: State, startedFrom old: Self) -> State { state }
}

extension Vendor where Standing == Void {
    /// A vendor that authenticates without a look at the state.
    @inlinable
    public func standing(in state: State) {}
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

/// An id or public key of a sample account.
public struct SampleCredential: Sendable {
    /// What it is.
    public let label: String
    /// Its value.
    public let value: String

    /// A credential of that label and value.
    public init(label: String, value: String) {
        self.label = label
        self.value = value
    }
}

/// A request that a person can send at once.
public struct SampleRequest: Sendable {
    /// The method and path.
    public let endpoint: Endpoint
    /// The fields.
    public let fields: [(name: String, value: String)]
    /// The content.
    public let body: String

    /// A request of these parts.
    public init(endpoint: Endpoint, fields: [(name: String, value: String)], body: String) {
        self.endpoint = endpoint
        self.fields = fields
        self.body = body
    }
}
