import Emulation
import JSON

/// What the fixtures provide: the organization, its servers, clients, users and their factors.
struct OktaAccounts: Sendable {
    let orgID: String
    /// What `Authorization: SSWS` must say on the routes of the management API.
    let apiToken: String
    /// The id of the user who signs in when nobody is asked.
    let defaultUserID: String
    let trustedOrigins: [OktaTrustedOrigin]
    let servers: [OktaServer]
    let clients: RecordTable<OktaClient>
    let groups: [OktaGroup]
    let users: [OktaUser]
    let factors: [OktaFactor]
    /// The keys with which proofs are minted, by name.
    let proofKeys: [(name: String, key: KeyFile)]

    func server(_ id: String) -> OktaServer? { servers.first { $0.id.hasSameBytes(as: id) } }

    /// The names of groups with these ids; unknown ones have none.
    func groupNames(_ ids: [String]) -> [String] {
        ids.compactMap { id in groups.first { $0.id.hasSameBytes(as: id) }?.name }
    }

    /// Reads `accounts.yaml`.
    init(_ fixtures: VendorFixtures) throws(FixtureProblem) {
        let document = try fixtures.document("accounts.yaml").mapping(
            "org", "trusted_origins", "servers", "groups", "users", "factors", "clients", "proof_keys")
        let org = try document.required("org").mapping("id", "api_token", "default_user")
        orgID = try org.required("id").string()
        apiToken = try org.required("api_token").string()
        defaultUserID = try org.required("default_user").string()
        guard !apiToken.isEmpty else { throw try org.required("api_token").problem("the token is empty") }
        var origins: [String] = []
        if let node = document["trusted_origins"] { origins = try [String].read(node) }
        trustedOrigins = origins.map { OktaTrustedOrigin($0) }
        servers = try Self.servers(try document.required("servers"), fixtures)
        let form = RecordForm.fixture(fixtures)
        clients = RecordTable(fixtures: try RecordTable<OktaClient>.list(try document.required("clients"), form))
        var groups: [OktaGroup] = []
        try OktaGroup.read(try document.required("groups"), form) { group in
            groups.append(group)
            return nil
        }
        self.groups = groups
        let users = try RecordTable<OktaUser>.list(try document.required("users"), form)
        self.users = users
        let ids = Set(users.map(\.key))
        guard ids.contains(ExactText(defaultUserID)) else {
            throw try org.required("default_user").problem("no user has the id \(defaultUserID)")
        }
        factors = try RecordTable<OktaFactor>.list(
            try document.required("factors"), form,
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
}
