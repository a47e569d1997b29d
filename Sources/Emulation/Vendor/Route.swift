public import HTTPTypes

/// One route of a vendor: its endpoints, who may call it, where it is known from, and what it does.
public final class Route<V: Vendor>: Sendable {
    /// A handler: a function of the call and the vendor's state in this sandbox.
    ///
    /// It checks first and changes state last, so a thrown refusal has changed nothing.
    public typealias Handler = @Sendable (inout Call<V>, inout V.State) throws(Refusal<V.Failure>) -> Reply

    /// The route's name for people and files, such as `addressbook.list`.
    public let id: String
    /// The methods and paths that lead here.
    public let endpoints: [Endpoint]
    /// What a caller must present.
    public let access: V.Access
    /// Where its endpoints are known from; ``source`` covers the rest.
    public let evidence: Evidence
    /// The endpoints known only from the vendor's clients, whatever is documented about the others.
    public let observed: Set<Endpoint>
    /// The source of that knowledge, by the short names of the vendor's documents.
    public let source: String
    /// Members of request and answer bodies, and lowercase field names, that the journal masks.
    public let secrets: Set<String>
    /// The longest request content in bytes; `nil` for the server's limit.
    public let bodyLimit: Int?
    public let handler: Handler

    /// Creates a route from its parts.
    ///
    /// - Parameter observed: further endpoints, known only from the vendor's clients.
    public convenience init(
        _ id: String, _ endpoints: Endpoint..., observed: Endpoint..., access: V.Access, evidence: Evidence,
        source: String, secrets: Set<String> = [], bodyLimit: Int? = nil, handler: @escaping Handler
    ) {
        self.init(
            id, endpoints, observed: observed, access: access, evidence: evidence, source: source, secrets: secrets,
            bodyLimit: bodyLimit, handler: handler)
    }

    /// The same for endpoints that are already in lists.
    public init(
        _ id: String, _ endpoints: [Endpoint], observed: [Endpoint] = [], access: V.Access, evidence: Evidence,
        source: String, secrets: Set<String> = [], bodyLimit: Int? = nil, handler: @escaping Handler
    ) {
        self.id = id
        self.endpoints = endpoints + observed
        self.observed = Set(observed)
        (self.access, self.evidence, self.source, self.secrets) = (access, evidence, source, secrets)
        (self.bodyLimit, self.handler) = (bodyLimit, handler)
    }

    @usableFromInline var listing: RouteListing {
        RouteListing(
            id: id, endpoints: endpoints, evidence: evidence, observed: observed, source: source, bodyLimit: bodyLimit)
    }
}

/// A method and a path pattern.
public struct Endpoint: Sendable, Hashable {
    public let method: HTTPRequest.Method
    /// The pattern: literal segments and parameters in braces, such as `/partner/{partner}/profile`; the last one may
    /// be `{name...}`, which matches the rest of the path, even if empty.
    public let pattern: String

    public init(_ method: HTTPRequest.Method, _ pattern: String) {
        self.method = method
        self.pattern = pattern
    }

    /// GET on that pattern; HEAD follows.
    package static func get(_ pattern: String) -> Endpoint { Endpoint(.get, pattern) }
    package static func post(_ pattern: String) -> Endpoint { Endpoint(.post, pattern) }
    package static func put(_ pattern: String) -> Endpoint { Endpoint(.put, pattern) }
    package static func patch(_ pattern: String) -> Endpoint { Endpoint(.patch, pattern) }
    package static func delete(_ pattern: String) -> Endpoint { Endpoint(.delete, pattern) }
    package static func options(_ pattern: String) -> Endpoint { Endpoint(.options, pattern) }
}

extension Endpoint: CustomStringConvertible {
    public var description: String { "\(method.rawValue) \(pattern)" }
}

/// What several routes have in common. Each of them says only how it differs.
public struct RouteGroup<V: Vendor>: Sendable {
    fileprivate let access: V.Access
    fileprivate let evidence: Evidence
    fileprivate let source: String
    fileprivate let secrets: Set<String>
    fileprivate let bodyLimit: Int?

    /// A route with the group's values where none is given.
    public func route(
        _ id: String, _ endpoints: Endpoint..., observed: Endpoint..., access: V.Access? = nil,
        evidence: Evidence? = nil, source: String? = nil, secrets: Set<String>? = nil, bodyLimit: Int? = nil,
        handler: @escaping Route<V>.Handler
    ) -> Route<V> {
        route(
            id, endpoints, observed: observed, access: access, evidence: evidence, source: source, secrets: secrets,
            bodyLimit: bodyLimit, handler: handler)
    }

    /// The same for endpoints that are already in lists.
    public func route(
        _ id: String, _ endpoints: [Endpoint], observed: [Endpoint] = [], access: V.Access? = nil,
        evidence: Evidence? = nil, source: String? = nil, secrets: Set<String>? = nil, bodyLimit: Int? = nil,
        handler: @escaping Route<V>.Handler
    ) -> Route<V> {
        Route(
            id, endpoints, observed: observed, access: access ?? self.access, evidence: evidence ?? self.evidence,
            source: source ?? self.source, secrets: secrets ?? self.secrets, bodyLimit: bodyLimit ?? self.bodyLimit,
            handler: handler)
    }
}

extension Vendor {
    package typealias Handler = Route<Self>.Handler

    /// What several routes have in common; the values mean what ``Route`` says of them.
    package static func group(
        access: Access, evidence: Evidence, source: String, secrets: Set<String> = [], bodyLimit: Int? = nil
    ) -> RouteGroup<Self> {
        RouteGroup(access: access, evidence: evidence, source: source, secrets: secrets, bodyLimit: bodyLimit)
    }
}

/// A vendor's names and the paths it owns.
public struct VendorIdentity: Sendable {
    /// The stable lowercase name used by files, flags and the control API.
    public let id: String
    public let title: String
    /// Paths that the vendor answers, including everything below them.
    public let prefixes: [String]
    public let pathRules: PathRules
    /// The longest request content in bytes on routes without a limit of their own; `nil` for the server's limit.
    public let bodyLimit: Int?
    /// The lists of `accounts.yaml` to which files in `accounts/` may add records; empty for a vendor without such files.
    package let accountLists: [String]
    /// Whether some of its routes read forms, so that JSON sent as one is a mistake.
    let readsForms: Bool
    /// The request fields that are the vendor's own, in lowercase: names that are known, and prefixes that end in `-`.
    let unreadFields: [String]
    /// Documented parameters and members that have no effect here, by route.
    let unreadParameters: [String: [String]]

    /// Creates an identity whose paths are read by ``PathRules`` with these values; the defaults are ours.
    package init(
        id: String, title: String, prefixes: [String],
        repeatedSlashes: PathRules.RepeatedSlashes = .collapseLeading, ignoresTrailingSlash: Bool = false,
        rewrite: (@Sendable (inout [Substring]) -> Void)? = nil, bodyLimit: Int? = nil, accountLists: [String] = [],
        readsForms: Bool = false, unreadFields: [String] = [], unreadParameters: [String: [String]] = [:]
    ) {
        (self.id, self.title, self.prefixes) = (id, title, prefixes)
        pathRules = PathRules(
            repeatedSlashes: repeatedSlashes, ignoresTrailingSlash: ignoresTrailingSlash, rewrite: rewrite)
        (self.bodyLimit, self.accountLists) = (bodyLimit, accountLists)
        self.readsForms = readsForms
        (self.unreadFields, self.unreadParameters) = (unreadFields, unreadParameters)
    }
}

/// What the journal must know of a vendor to show its exchanges.
public final class VendorTraits: Sendable {
    /// `nil` when no vendor owns the path.
    let identity: VendorIdentity?
    /// Body members that are masked when an entry is read.
    let secrets: Set<String>
    /// Whether fixtures describe its routes, with templates that can repeat any part of a request.
    let answersByTemplate: Bool

    @usableFromInline
    package init(_ identity: VendorIdentity? = nil, secrets: Set<String>, answersByTemplate: Bool = false) {
        (self.identity, self.secrets, self.answersByTemplate) = (identity, secrets, answersByTemplate)
    }
}

/// A part of a vendor's API that is known to exist but is not emulated: the reason says so, which spares callers a
/// search for a mistake in the path.
@usableFromInline
struct UnofferedPart: Sendable {
    private let prefixes: [(text: String, segments: [Substring])]
    private let reason: String

    /// Covers everything below these prefixes, in which `{name}` stands for any segment.
    @usableFromInline
    init(prefixes: [String], reason: String) {
        self.prefixes = prefixes.map { ($0, $0.split(separator: "/")) }
        self.reason = reason
    }

    /// Why nothing is at a path; `nil` when it is below none of the prefixes.
    func reason(at path: Substring) -> String? {
        let segments = TargetPath(path).segments.filter { !$0.isEmpty }
        // A parameter stands for any segment.
        return prefixes.first { segments.starts(with: $0.segments) { $1.first == "{" || $0 == $1 } }
            .map { "\($0.text) \(reason)" }
    }
}

/// How much of a vendor's state is exported, and how an import applies it.
public enum StateExtent: Sendable {
    /// All records, without passwords, private keys and other secrets: what the control API shows.
    ///
    /// An import replaces the whole state. A record that existed before keeps the secrets that the import omits.
    case whole
    /// The records that requests added or changed, including secrets: what a file needs to survive a restart.
    ///
    /// An import overlays the fixtures' state, so that unchanged records follow the fixtures.
    case changes
}

/// Where a route, a failure or a rule comes from.
public enum Evidence: String, Sendable, CaseIterable {
    /// The vendor's documentation says so.
    case documented
    /// The vendor's clients, or tests against the vendor's servers, show it.
    case observed
    /// It follows from what is documented or observed.
    case inferred
    /// Nothing is known; it is Understudy's choice.
    case ours
}
