public import HTTPTypes
public import JSON
public import Synchronization
public import Wire

/// A routed request: all that authentication may read.
public final class Arrival<V: Vendor>: Sendable {
    /// ``ReadParts``; atomic only to be shared, as the next one is locked.
    @usableFromInline let readParts = Atomic(UInt8(0))
    @usableFromInline let reading = Mutex<KeptReading?>(nil)
    public let vendor: V
    public let route: Route<V>
    /// The request, its target without the sandbox's prefix.
    public let request: Request
    /// The decoded path parameters by name.
    public let parameters: PathParameters
    /// The moment at which the whole exchange is judged.
    public let moment: Moment
    /// Whether the sandbox's clock is stopped, so that the time between two calls says nothing about their pace.
    public let isClockFrozen: Bool
    public let switches: V.Switches
    /// What authentication may read from the state.
    public let authenticationContext: V.AuthenticationContext
    public let sandbox: SandboxIdentity
    public let selector: SandboxSelector
    /// The result of fetching published keys that this request waited for; `nil` when it did not wait.
    public let keyFetch: KeyFetchReport?
    /// The tokens that scenarios refused in this sandbox: a renewal must not hand them out again.
    public let refusedTokens: TokenDigests

    @inlinable
    public init(
        vendor: V, route: Route<V>, request: Request, parameters: PathParameters, moment: Moment,
        isClockFrozen: Bool = false, switches: V.Switches, authenticationContext: V.AuthenticationContext,
        sandbox: SandboxIdentity,
        selector: SandboxSelector = .none, keyFetch: KeyFetchReport? = nil, refusedTokens: TokenDigests = TokenDigests()
    ) {
        self.refusedTokens = refusedTokens
        self.selector = selector
        self.authenticationContext = authenticationContext
        self.sandbox = sandbox
        self.keyFetch = keyFetch
        self.vendor = vendor
        self.route = route
        self.request = request
        self.parameters = parameters
        self.moment = moment
        self.isClockFrozen = isClockFrozen
        self.switches = switches
    }

    /// The first value of that name in the query; `nil` when there is none.
    public func queryValue(_ name: String) -> String? { queryValues(name).first }

    public func queryValues(_ name: String) -> [String] {
        guard request.query != nil || describesReading else { return [] }
        note(name, inQuery: true)
        return request.queryItems.filter { $0.name == name }.map(\.value)
    }

    /// The server's public address, for clients that select the sandbox as this request does.
    public var base: String { sandbox.publicBase.address(of: sandbox.name, by: selector) }
}

extension Arrival: ReadingLedger {
    public var describesReading: Bool { sandbox.describesReading }

    public func note(_ parts: ReadParts) { readParts.bitwiseOr(parts.rawValue, ordering: .relaxed) }

    public func update(_ change: (inout RequestReading) -> Void) {
        note(.others)
        let kept = reading.withLock { kept in
            let known = kept ?? KeptReading()
            kept = known
            return known
        }
        kept.update(change)
    }

    @usableFromInline var read: ReadParts { ReadParts(rawValue: readParts.load(ordering: .relaxed)) }

    /// Lets any query pass.
    public func acceptQuery() { note(.query) }

    /// Lets any content pass.
    public func acceptContent() { note(.content) }
}

/// A handler's context: the request, its sender, and the findings so far.
public struct Call<V: Vendor>: Sendable {
    public let arrival: Arrival<V>
    /// The result of authenticating the presented credentials.
    public let credentials: V.Credentials
    /// The source of ids and other random values; repeatable when the sandbox has a seed.
    public let identifiers: IdentifierSource
    /// Every check so far; a handler may add its own.
    public var findings: Findings<V.Failure>
    /// The result of fetching published keys that the handler waited for; `nil` before.
    public internal(set) var keyFetch: KeyFetchReport?
    /// Messages to open sockets, dropped when the call is refused or has to wait.
    public var outbox = Outbox()
    /// The handshake that the handler accepts; set by `openSocket`.
    @usableFromInline var socket: SocketRequest<V>?
    /// The items of the request that were refused individually; `nil` when there are none, as for nearly every call.
    public var parts: ExchangeParts?
    /// Fields of the answer, whatever it will be; empty for nearly all vendors.
    public var answerFields = HTTPFields()
    /// What the vendor deliberately did to its own answer, as somebody had requested: objects for the journal.
    public var interventions: [JSON] = []

    @inlinable
    public init(
        arrival: Arrival<V>, credentials: V.Credentials, identifiers: IdentifierSource,
        findings: Findings<V.Failure>
    ) {
        self.arrival = arrival
        self.credentials = credentials
        self.identifiers = identifiers
        self.findings = findings
    }

    public var vendor: V { arrival.vendor }
    public var route: Route<V> { arrival.route }
    public var request: Request { arrival.request }
    public var parameters: PathParameters { arrival.parameters }
    /// The moment at which the whole exchange is judged.
    public var moment: Moment { arrival.moment }
    public var switches: V.Switches { arrival.switches }
}

extension Call {
    /// Handles one of several items in the request; a refused one keeps its findings in the journal.
    ///
    /// - Parameters:
    ///   - number: the item's number, counted from 1.
    ///   - name: what it asks for, in the vendor's terms.
    public mutating func part<Value>(
        _ number: Int, named name: String, _ work: (inout Call) throws(Refusal<V.Failure>) -> Value
    ) throws(Refusal<V.Failure>) -> Value {
        // Swapped, not copied: a request may have a thousand items.
        var own = Findings<V.Failure>()
        swap(&own, &findings)
        let result = Result { () throws(Refusal<V.Failure>) in try work(&self) }
        swap(&own, &findings)
        switch result {
        case .success(let value):
            findings.note(own.all)
            return value
        case .failure(let refusal):
            refuse(ExchangePart(number, named: name, refusal.failure.rawValue, because: refusal.reason, own.all))
            throw refusal
        }
    }

    /// Records an item refused under a name of its own, since the vendor has no failure for it.
    public mutating func refuse(_ part: ExchangePart) {
        var parts = self.parts ?? ExchangeParts()
        self.parts = nil
        parts.append(part)
        self.parts = parts
    }
}

/// The decoded parameters of a path, by their names in the route's pattern.
public struct PathParameters: Sendable {
    private let names: [String]
    private let values: [String]

    /// Creates parameters with these names and values, in the pattern's order.
    public init(names: [String] = [], values: [String] = []) {
        self.names = names
        self.values = values
    }

    /// All of them, in the pattern's order.
    var all: [(name: String, value: String)] { Array(zip(names, values)) }

    /// The parameter of that name; empty when the pattern has none, which the route's own test reveals at once.
    public subscript(name: String) -> String { names.firstIndex(of: name).map { values[$0] } ?? "" }
}

/// A handler's result: a response, or something to wait for first.
public enum Reply: Sendable {
    case respond(Response)
    /// A response with compact JSON. It is serialized after unlocking the vendor's state, so a long one blocks no one.
    case json(JSON, status: HTTPResponse.Status = .ok)
    /// A response that is made after unlocking the vendor's state, such as one with a fresh signature.
    case later(@Sendable () -> Response)
    /// Work to wait for. No thread is blocked; afterwards the handler runs again, with the same moment and journal
    /// entry. A handler that waits must not have changed any state.
    case wait(@Sendable () async -> Void)
    /// Published keys to fetch. Afterwards the handler runs again as after a wait, with ``Call/keyFetch`` set, and
    /// passes the result to ``RemoteKeys/take(_:_:)``.
    case fetchKeys(RemoteKeys)
    /// A handshake accepted with ``Call/openSocket(_:_:)``.
    case openSocket

    public static func empty(_ status: HTTPResponse.Status = .noContent) -> Reply { .respond(.empty(status)) }
}

extension Request {
    /// How far the content exceeds the limit, as declared by the request: content that is too long is not read.
    package func excess(over limit: Int) -> String {
        let length = fields[.contentLength].flatMap { Int($0) }.map { "\($0) bytes" } ?? "more than that"
        return "the content: found \(length); expected \(limit) bytes at most"
    }
}

/// The failures of one vendor, by their stable kebab-case names.
///
/// The vendor's `failures.yaml` defines how each looks on the wire; a name without an entry there, or an entry without
/// a name, prevents startup.
public protocol VendorFailure: RawRepresentable<String>, CaseIterable, Hashable, Sendable {}

/// The failures of a vendor with routes, among them those of requests that reach no handler.
public protocol RouteFailure: VendorFailure {
    /// The failure for a path without a route.
    static var routeNotFound: Self { get }
    /// The failure for a path that supports only other methods; for some vendors the same.
    static var methodNotAllowed: Self { get }
    /// The failure for content that is longer than the route allows.
    static var bodyTooLarge: Self { get }
}

/// A handler's decision to answer with a failure, and what it knows about the reason.
public struct Refusal<Failure: VendorFailure>: Error {
    public let failure: Failure
    /// Values for the parameters that the failure's body declares.
    public let parameters: JSONObject
    /// What was found, for the journal; never on the wire.
    public let reason: String?

    public init(_ failure: Failure, _ parameters: JSONObject = [:], because reason: String? = nil) {
        self.failure = failure
        self.parameters = parameters
        self.reason = reason
    }

    /// Refuses a name, and tells some of the known ones.
    package init(
        _ failure: Failure, _ parameters: JSONObject = [:], because reason: String, known: some Collection<String>
    ) {
        self.init(failure, parameters, because: reason + Nearest.known(known))
    }
}

extension Refusal: CustomStringConvertible {
    public var description: String { reason ?? failure.rawValue }

    /// Refuses with that failure unless the condition holds.
    ///
    /// - Parameters:
    ///   - parameters: values for those that the failure's body declares.
    ///   - reason: what was found and what is expected, for the journal.
    public static func require(
        _ condition: Bool, _ failure: Failure, with parameters: @autoclosure () -> JSONObject = [:],
        _ reason: @autoclosure () -> String
    ) throws(Refusal) {
        guard condition else { throw Refusal(failure, parameters(), because: reason()) }
    }

    /// The value, or a refusal with that failure if there is none.
    public static func require<Value>(
        _ value: Value?, _ failure: Failure, with parameters: @autoclosure () -> JSONObject = [:],
        _ reason: @autoclosure () -> String
    ) throws(Refusal) -> Value {
        guard let value else { throw Refusal(failure, parameters(), because: reason()) }
        return value
    }

    /// Refuses with that failure unless the text has exactly the expected bytes.
    ///
    /// - Parameter name: what the text is, for the journal: "found NAME TEXT; expected TEXT".
    public static func expect(
        _ name: @autoclosure () -> String, _ found: String?, _ expected: String, _ failure: Failure
    ) throws(Refusal) {
        guard found?.hasSameBytes(as: expected) != true else { return }
        throw Refusal(failure, because: "found \(name()) \(found ?? "none"); expected \(expected)")
    }
}

/// A refusal of what a person asked for, in a sentence.
package protocol StatedRefusal: Error, CustomStringConvertible {
    init(_ description: String)
}

extension StatedRefusal {
    package static func require(_ condition: Bool, _ reason: @autoclosure () -> String) throws(Self) {
        guard condition else { throw Self(reason()) }
    }

    package static func require<Value>(_ value: Value?, _ reason: @autoclosure () -> String) throws(Self) -> Value {
        guard let value else { throw Self(reason()) }
        return value
    }

    /// Refuses a name unless the condition holds, and suggests another one.
    ///
    /// - Parameter reason: what the name ends, such as "no user has the id".
    package static func require(
        _ condition: Bool, _ reason: @autoclosure () -> String, _ name: String, among known: @autoclosure () -> [String]
    ) throws(Self) {
        guard condition else { throw Self("\(reason()) \(name)\(Nearest.hint(to: name, among: known()))") }
    }

    /// The value of a name, or a refusal that suggests another one.
    package static func require<Value>(
        _ value: Value?, _ reason: @autoclosure () -> String, _ name: String, among known: @autoclosure () -> [String]
    ) throws(Self) -> Value {
        guard let value else { throw Self("\(reason()) \(name)\(Nearest.hint(to: name, among: known()))") }
        return value
    }
}

/// Why a token was not minted or an action not performed: what was found and what would be right.
public struct ControlRefusal: StatedRefusal {
    public let description: String

    package init(_ description: String) { self.description = description }

    /// What `work` returns, or a refusal in the words of its error.
    package static func wording<Value>(_ work: () throws -> Value) throws(ControlRefusal) -> Value {
        do { return try work() } catch {
            throw ControlRefusal("\(error)")
        }
    }
}

extension Vendor {
    /// The type that the vendor's handlers throw.
    public typealias Refused = Refusal<Failure>
}

extension Call {
    public typealias Refused = V.Refused
}

public struct FailureSetting<Failure: VendorFailure, Switches: VendorSwitches>: Sendable {
    /// The failure, whether a rule, a handler or a fault chose it.
    package let failure: Failure
    package let request: Request
    /// The id of the route; `nil` when the path has none.
    package let route: String?
    package let switches: Switches
    package let identifiers: IdentifierSource
    /// The time in the sandbox.
    package let moment: Moment
    /// The server's public address, for clients that select the sandbox as the request does.
    package let base: String
}
