import Emulation
import JSON
import Tokens

/// What the fixtures provide: the organization, its servers, clients, users and their factors.
struct OktaAccounts: Sendable {
    let orgID: String
    /// The value of `Authorization: SSWS` on the routes of the management API.
    let apiToken: String
    /// The id of the user who signs in when nobody is asked.
    let defaultUserID: String
    let trustedOrigins: [OktaTrustedOrigin]
    let servers: [OktaServer]
    let clients: RecordTable<OktaClient>
    let groups: RecordTable<OktaGroup>
    let users: [OktaUser]
    let factors: [OktaFactor]
    /// The keys with which proofs are minted, by name.
    let proofKeys: [(name: String, key: KeyFile)]

    func server(_ id: String) -> OktaServer? { servers.first { $0.id.hasSameBytes(as: id) } }

    init(_ fixtures: VendorFixtures) throws(FixtureProblem) {
        let lists = Okta.identity.accountLists
        let document = try fixtures.document("accounts.yaml").mapping(["org", "servers", "proof_keys"] + lists)
        // Further records, so that nobody has to copy the rest.
        var more: [FixtureMapping] = []
        for file in fixtures.names(in: "accounts") where file.hasSuffix(".yaml") {
            more.append(try fixtures.document("accounts/\(file)").mapping(lists))
        }
        func nodes(_ name: String) throws(FixtureProblem) -> [FixtureNode] {
            [try document.required(name)] + more.compactMap { $0[name] }
        }
        let org = try document.required("org").mapping("id", "api_token", "default_user")
        orgID = try org.required("id").string()
        apiToken = try org.required("api_token").string()
        defaultUserID = try org.required("default_user").string()
        guard !apiToken.isEmpty else { throw try org.required("api_token").problem("the token is empty") }
        var origins: [String] = []
        for node in ([document] + more).compactMap({ $0["trusted_origins"] }) {
            origins += try [String].addresses(node)
        }
        trustedOrigins = origins.map { OktaTrustedOrigin(origin: OktaTrustedOrigin.normalized($0)) }
        servers = try Self.servers(try document.required("servers"), fixtures)
        let form = RecordForm.fixture(fixtures)
        let groups = RecordTable(fixtures: try RecordTable<OktaGroup>.list(try nodes("groups"), form))
        self.groups = groups
        let users = try RecordTable<OktaUser>.list(
            try nodes("users"), form,
            complaint: { user in
                user.groups.first { groups[ExactText($0)] == nil }.map {
                    "no group has the id \($0)\(groups.hint(to: $0, by: \.id))"
                }
            })
        self.users = users
        let everybody = RecordTable(fixtures: users)
        clients = RecordTable(
            fixtures: try RecordTable<OktaClient>.list(
                try nodes("clients"), form, complaint: { $0.assigned?.stranger(everybody, groups) }))
        let ids = Set(users.map(\.key))
        guard ids.contains(ExactText(defaultUserID)) else {
            throw try org.required("default_user").problem("no user has the id \(defaultUserID)")
        }
        factors = try RecordTable<OktaFactor>.list(
            try nodes("factors"), form,
            complaint: { factor in
                ids.contains(ExactText(factor.userID)) ? nil : "no user has the id \(factor.userID)"
            })
        var proofKeys: [(name: String, key: KeyFile)] = []
        try document["proof_keys"]?.forEachRecord { (node) throws(FixtureProblem) in
            let entry = try node.mapping("name", "file", "kid")
            proofKeys.append((try entry.required("name").string(), try KeyFile(entry, fixtures)))
        }
        self.proofKeys = proofKeys
    }

    private static func servers(
        _ node: FixtureNode, _ fixtures: VendorFixtures
    ) throws(FixtureProblem) -> [OktaServer] {
        var servers: [OktaServer] = []
        try node.forEachRecord { (node) throws(FixtureProblem) in
            let server = try OktaServer(node, fixtures)
            guard !servers.contains(where: { $0.id.hasSameBytes(as: server.id) }) else {
                throw node.problem("another server is called \(server.id)")
            }
            servers.append(server)
        }
        guard servers.contains(where: \.isOrg) else { throw node.problem("no server is called “\(OktaServer.orgID)”") }
        return servers
    }

    /// The server with that id; by default the first custom one.
    func server(named id: String?) throws(ControlRefusal) -> OktaServer {
        guard let id else { return defaultServer }
        return try ControlRefusal.require(server(id), "no authorization server is called", id, among: servers.map(\.id))
    }

    /// The default server: the first custom one.
    var defaultServer: OktaServer { servers.first { !$0.isOrg } ?? servers[0] }
}

/// An authorization server: the organization's own, or a custom one with an audience and scopes.
struct OktaServer: Sendable {
    /// The id of the organization's own server, whose issuer is the base alone.
    static let orgID = "org"
    /// Source: docs:concepts/auth-servers.
    static let orgHasNoPolicies = "the server “\(orgID)” has no access policies; expected those of a custom server"
    /// In seconds. Source: ref, lifetime of access tokens of custom servers.
    static let accessTokenLifetimes = 300...86_400

    /// The id in paths and control calls.
    let id: String
    /// What access tokens are for; `nil` at the org server, where it is the issuer.
    let audience: String?
    /// The scopes besides those of OpenID Connect.
    let scopes: [OktaScope]
    /// How long access tokens live, in seconds.
    let accessTokenLifetime: Int
    /// What clients may have; `nil` for all.
    let policies: [OktaAccessPolicy]?
    /// What its tokens say besides their own claims.
    let claims: [OktaClaim]
    /// The ids of other servers whose access tokens can be exchanged here.
    let trustedServers: [String]
    let keys: IssuerKeyFiles
    /// The key of access tokens that is never published; `nil` where they have the same as ID tokens.
    let accessTokenKey: KeyFile?

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

    var scopeNames: String { scopes.map(\.name).joined(separator: " ") }

    /// The configured scope of that name; `nil` for those of OpenID Connect and unknown ones.
    func scope(_ name: String) -> OktaScope? { scopes.first { $0.name.hasSameBytes(as: name) } }

    init(_ node: FixtureNode, _ fixtures: VendorFixtures) throws(FixtureProblem) {
        let entry = try node.mapping(
            "id", "audience", "scopes", "access_token_lifetime", "policies", "claims", "trusted_servers", "key", "next",
            "spares", "cache_control", "access_token_key")
        id = try entry.required("id").string()
        path = id == Self.orgID ? "/oauth2" : "/oauth2/\(id)"
        audience = try entry["audience"]?.address()
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
        accessTokenLifetime = try entry["access_token_lifetime"]?.int(in: Self.accessTokenLifetimes) ?? 3600
        policies = try entry["policies"].map([OktaAccessPolicy].read)
        if let policies = entry["policies"], id == Self.orgID { throw policies.problem(Self.orgHasNoPolicies) }
        claims = try entry["claims"].map([OktaClaim].read) ?? []
        trustedServers = try entry["trusted_servers"].map([String].read) ?? []
        keys = try IssuerKeyFiles(name: id, entry, fixtures, naming: .thumbprint)
        accessTokenKey = try entry["access_token_key"].map { (node) throws(FixtureProblem) in
            try KeyFile(node, fixtures, isRSA: true)
        }
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
    /// Whether a request that names no scope gets it. Source: api.
    var isDefault = false

    mutating func code(_ coder: inout RecordCoder) {
        coder.member("name", &name)
        coder.member("display", &display, or: "")
        coder.member("consent", &consent, or: .implicit)
        coder.member("default", &isDefault, or: false)
    }
}

extension Okta {
    /// The server that the path names; `nil` for an unknown one. The org server's paths name none.
    func server(of arrival: OktaArrival) -> OktaServer? {
        let id = arrival.parameters["server"]
        guard !id.isEmpty else { return accounts.server(OktaServer.orgID) }
        return accounts.server(id).flatMap { $0.isOrg ? nil : $0 }
    }

    static func server(_ call: OktaCall) throws(Refused) -> OktaServer {
        if let server = call.vendor.server(of: call.arrival) { return server }
        let id = call.parameters["server"]
        let known = call.vendor.accounts.servers.filter { !$0.isOrg }.map(\.id)
        throw Refused(
            .asNotFound, ["id": .string(id)],
            because: "no authorization server is called \(id); expected \(known.joined(separator: " or "))")
    }
}

struct OktaClient: Sendable, KeyedRecord, CodedRecord {
    /// What kind of application it is. Source: api.
    enum ApplicationType: String, CaseIterable, RecordValue { case web, native, browser, service }

    /// How it authenticates. Source: ref.
    enum Method: String, CaseIterable, RecordValue {
        case none, secretBasic = "client_secret_basic", secretPost = "client_secret_post"
        case secretJWT = "client_secret_jwt", privateKeyJWT = "private_key_jwt"
    }

    /// Whether a use of a refresh token yields another one. Source: guide:refresh-tokens.
    enum RotationType: String, CaseIterable, RecordValue { case `static` = "STATIC", rotate = "ROTATE" }

    /// Whether the user is asked for consent. Source: guide:request-user-consent.
    enum ConsentMethod: String, CaseIterable, RecordValue { case trusted = "TRUSTED", required = "REQUIRED" }

    /// How many factors a sign-in of the client needs (ours, in place of sign-on policies).
    enum Assurance: String, CaseIterable, RecordValue { case one = "1fa", two = "2fa" }

    var id = ""
    var name = ""
    var type = ApplicationType.web
    var methods: [Method] = []
    var secret: String?
    var keys: [KeyFile] = []
    var redirectURIs: [String] = []
    var postLogoutURIs: [String] = []
    var grants: [String] = []
    var requiresPKCE = false
    var bindsTokens = false
    var requiresPushedRequests = false
    var refresh = Rotation()
    var consentMethod = ConsentMethod.trusted
    var assurance = Assurance.one
    /// Whether people sign in on the page; `nil` for what the switch login-mode says (ours).
    var loginMode: OktaSwitches.LoginMode?
    /// Who may sign in to it; `nil` for everyone.
    var assigned: OktaAssignment?
    /// The `okta.*` scopes that it may have at the org server.
    var grantedScopes: [String] = []

    /// Whether each use of a refresh token yields another one: browser apps rotate unless configured otherwise. Source:
    /// guide:refresh-tokens.
    func rotates(_ switches: OktaSwitches) -> Bool {
        switch switches.refreshRotation {
        case .perClient: (refresh.type ?? (type == .browser ? .rotate : .static)) == .rotate
        case .on: true
        case .off: false
        }
    }

    func allows(_ grant: String) -> Bool { grants.contains(exactly: grant) }

    var key: ExactText { ExactText(id) }
    var secretText: String? { secret }

    func clash(over name: Never?) -> String { "another client has the id \(id)" }

    /// Keys are files beside the fixtures.
    mutating func keepSecrets(of known: OktaClient, fromWhole isWhole: Bool) {
        keys = known.keys
        if isWhole { secret = secret ?? known.secret }
    }

    mutating func code(_ coder: inout RecordCoder) {
        coder.member("id", &id)
        coder.member("name", &name, or: "")
        coder.member("application_type", &type)
        coder.member("methods", &methods)
        coder.secret("secret", &secret)
        if case .fixture(let fixtures) = coder.form {
            coder.member("keys", &keys, or: [], write: { _ in nil }) { (node) throws(FixtureProblem) in
                var keys: [KeyFile] = []
                for element in try node.elements() { keys.append(try KeyFile(element, fixtures)) }
                return keys
            }
        }
        coder.member("redirect_uris", &redirectURIs, or: [], write: { $0.written }, read: [String].addresses)
        coder.member(
            "post_logout_redirect_uris", &postLogoutURIs, or: [], write: { $0.written }, read: [String].addresses)
        coder.member("grants", &grants)
        coder.member("pkce_required", &requiresPKCE, or: false)
        coder.member("dpop_bound_access_tokens", &bindsTokens, or: false)
        coder.member("require_pushed_authorization_requests", &requiresPushedRequests, or: false)
        coder.member("refresh_token", &refresh, or: Rotation())
        coder.member("consent_method", &consentMethod, or: .trusted)
        coder.member("assurance", &assurance, or: .one)
        coder.member("login_mode", &loginMode)
        coder.member("assigned", &assigned, or: .some(nil), write: { $0?.written }, read: OktaAssignment.ofClient)
        coder.member("granted_scopes", &grantedScopes, or: [])
        coder.check(OktaGrantType.complaint(about: grants))
        coder.check(!methods.isEmpty, or: "client \(id) has no method of authentication; “none” is one")
        // Exports leave the secret out.
        let isExport = coder.form.extent == .whole
        coder.check(
            isExport || secret != nil || !methods.contains { [.secretBasic, .secretPost, .secretJWT].contains($0) },
            or: "client \(id) authenticates with a secret and has none")
    }

    /// The member `refresh_token`. Source: guide:refresh-tokens.
    struct Rotation: CodedRecord, RecordValue {
        var type: RotationType?
        /// How long a rotated refresh token still works, in seconds.
        var leeway = 30

        mutating func code(_ coder: inout RecordCoder) {
            coder.member("rotation_type", &type)
            coder.member("leeway", &leeway, or: 30, in: 0...60)
        }
    }

    var secretKey: SigningKey? {
        guard let secret else { return nil }
        // Only an empty secret is no key.
        return try? SigningKey.secret(secret, id: id)
    }
}

extension [String] {
    fileprivate static func addresses(_ node: FixtureNode) throws(FixtureProblem) -> [String] {
        var addresses: [String] = []
        for element in try node.elements() { addresses.append(try element.address()) }
        return addresses
    }
}
