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
