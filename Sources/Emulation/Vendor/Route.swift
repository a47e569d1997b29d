public import HTTPTypes

/// One route of a vendor: its endpoints, who may call it, where it is known from, and what it does.
public final class Route<V: Vendor>: Sendable {
    /// A handler: a function of the call and the vendor's state in this sandbox.
    ///
    /// It checks first and changes state last, so a thrown refusal has changed nothing.
    public typealias Handler =
        @Sendable (inout Call<V>, inout V.State) throws(Refusal<V.Failure>) -> Reply

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
        self.access = access
        self.evidence = evidence
        self.source = source
        self.secrets = secrets
        self.bodyLimit = bodyLimit
        self.handler = handler
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
    private let access: V.Access
    private let evidence: Evidence
    private let source: String
    private let secrets: Set<String>
    private let bodyLimit: Int?

    /// Creates a group; its values mean what ``Route`` says of them.
    public init(
        access: V.Access, evidence: Evidence, source: String, secrets: Set<String> = [], bodyLimit: Int? = nil
    ) {
        self.access = access
        self.evidence = evidence
        self.source = source
        self.secrets = secrets
        self.bodyLimit = bodyLimit
    }

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
