import Emulation

/// An authorization server: the organization's own, or a custom one with an audience and scopes.
struct OktaServer: Sendable {
    /// The id of the organization's own server, whose issuer is the base alone.
    static let orgID = "org"

    /// The id in paths and control calls.
    let id: String
    /// What access tokens are for; `nil` at the org server, where it is the issuer.
    let audience: String?
    /// The scopes besides those of OpenID Connect.
    let scopes: [OktaScope]
    /// How long access tokens live, in seconds.
    let accessTokenLifetime: Int
    /// The ids of other servers whose access tokens can be exchanged here.
    let trustedServers: [String]
    let keys: IssuerKeyFiles

    var isOrg: Bool { id == Self.orgID }

    /// The path of its endpoints, before `/v1`.
    let path: String

    /// The issuer for clients that reach the server at that base. Source: ref.
    func issuer(at base: String) -> String { isOrg ? base : base + path }

    /// Whether a text is its issuer at that base; no text is made to compare with.
    func isIssuer(_ text: String, at base: String) -> Bool {
        let (text, base) = (text.utf8, base.utf8)
        guard text.starts(with: base) else { return false }
        let rest = text.dropFirst(base.count)
        return isOrg ? rest.isEmpty : rest.elementsEqual(path.utf8)
    }

    /// What its access tokens are for. Source: ref; at the org server the base.
    func audience(at base: String) -> String { audience ?? base }

    /// The names of its own scopes, for texts.
    var scopeNames: String { scopes.map(\.name).joined(separator: " ") }

    /// The configured scope of that name; `nil` for those of OpenID Connect and unknown ones.
    func scope(_ name: String) -> OktaScope? { scopes.first { $0.name.hasSameBytes(as: name) } }

    init(_ node: FixtureNode, _ fixtures: VendorFixtures) throws(FixtureProblem) {
        let entry = try node.mapping(
            "id", "audience", "scopes", "access_token_lifetime", "trusted_servers", "key", "next", "spares",
            "cache_control")
        id = try entry.required("id").string()
        path = id == Self.orgID ? "/oauth2" : "/oauth2/\(id)"
        audience = try entry["audience"]?.string()
        guard (audience == nil) == (id == Self.orgID) else {
            throw node.problem("the server “\(id)” needs an audience unless it is “\(Self.orgID)”, which has none")
        }
        var scopes: [OktaScope] = []
        if let list = entry["scopes"] {
            try OktaScope.read(list, .fixture(fixtures)) { scope in
                scopes.append(scope)
                return nil
            }
        }
        self.scopes = scopes
        // Source of the range: ref, lifetime of access tokens of custom servers.
        accessTokenLifetime = try entry["access_token_lifetime"]?.int(in: 300...86_400) ?? 3600
        trustedServers =
            try entry["trusted_servers"].map { (node) throws(FixtureProblem) in try [String].read(node) } ?? []
        keys = try IssuerKeyFiles(name: id, entry, fixtures, naming: .thumbprint)
    }
}

/// A scope of a custom authorization server.
struct OktaScope: CodedRecord {
    /// Whether the user is asked for consent. Source: guide:request-user-consent.
    enum Consent: String, CaseIterable, RecordValue {
        case implicit = "IMPLICIT", required = "REQUIRED", flexible = "FLEXIBLE"
    }

    var name = ""
    /// What the consent page shows.
    var display = ""
    var consent = Consent.implicit

    mutating func code(_ coder: inout RecordCoder) {
        coder.member("name", &name)
        coder.member("display", &display, or: "")
        coder.member("consent", &consent, or: .implicit)
    }
}

extension Okta {
    /// The server that the path names; `nil` for an unknown one. The org server's paths name none.
    func server(of arrival: OktaArrival) -> OktaServer? {
        let id = arrival.parameters["server"]
        guard !id.isEmpty else { return accounts.server(OktaServer.orgID) }
        return accounts.server(id).flatMap { $0.isOrg ? nil : $0 }
    }

    /// The server that the path names.
    ///
    /// - Throws: ``OktaFailure/asNotFound`` for an unknown id.
    static func server(_ call: OktaCall) throws(Refused) -> OktaServer {
        if let server = call.vendor.server(of: call.arrival) { return server }
        let id = call.parameters["server"]
        let known = call.vendor.accounts.servers.filter { !$0.isOrg }.map(\.id)
        throw Refusal(
            .asNotFound, ["id": .string(id)],
            because: "no authorization server is called \(id); expected \(known.joined(separator: " or "))")
    }
}
