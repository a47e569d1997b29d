import Emulation
import JSON

/// Who may use a client. Source: codes, `user_not_assigned`; the form: ours.
struct OktaAssignment: CodedRecord, RecordValue, Equatable {
    /// Ids or logins of users.
    var users: [String] = []
    /// Ids or names of groups.
    var groups: [String] = []

    mutating func code(_ coder: inout RecordCoder) {
        coder.member("users", &users, or: [])
        coder.member("groups", &groups, or: [])
    }

    /// The member `assigned` of a client; `nil` for everyone.
    static func ofClient(_ node: FixtureNode) throws(FixtureProblem) -> OktaAssignment? {
        guard let text = try node.verbatim().string else { return try read(node) }
        guard text == "everyone" else {
            throw node.problem("found \(text); expected everyone, or a mapping with users and groups")
        }
        return nil
    }

    func covers(_ user: OktaUser, _ known: RecordTable<OktaGroup>) -> Bool {
        let login = user.login.lowercased()
        return users.contains { $0.hasSameBytes(as: user.id) || $0.lowercased().hasSameBytes(as: login) }
            || groups.contains { name in
                user.groups.contains { $0.hasSameBytes(as: name) || known[$0]?.name.hasSameBytes(as: name) == true }
            }
    }

    /// A name that belongs to nobody; `nil` without one.
    func stranger(_ users: RecordTable<OktaUser>, _ groups: RecordTable<OktaGroup>) -> String? {
        if let name = self.users.first(where: { users[$0] == nil && users[named: ExactText($0.lowercased())] == nil }) {
            return "no user has the id or login \(name)\(users.hint(to: name, by: \.login))"
        }
        let name = self.groups.first { groups[$0] == nil && groups[named: ExactText($0)] == nil }
        return name.map { "no group has the id or name \($0)\(groups.hint(to: $0, by: \.name))" }
    }
}

/// What a server lets clients have: the first policy that allows all of a request counts.
///
/// Source: codes, `no_matching_policy`; docs:concepts/auth-servers; that policies and their rules are one list: ours.
struct OktaAccessPolicy: CodedRecord, RecordValue, Equatable {
    /// Ten minutes to five years, in seconds. Source: api, a rule's `refreshTokenWindowMinutes`.
    private static let refreshLifetimes = 600...157_680_000

    var name = ""
    /// Ids of clients; `nil` for all.
    var clients: [String]?
    /// Grant types; `nil` for all.
    var grants: [String]?
    /// Scopes; `nil` for all.
    var scopes: [String]?
    /// In seconds; `nil` for the server's.
    var accessTokenLifetime: Int?
    /// In seconds; `nil` for no end.
    var refreshTokenLifetime: Int?
    /// How many seconds a refresh token lives without a use; `nil` for the usual ones.
    var refreshTokenWindow: Int?

    mutating func code(_ coder: inout RecordCoder) {
        coder.member("name", &name)
        coder.member("clients", &clients)
        coder.member("grants", &grants)
        coder.member("scopes", &scopes)
        coder.member("access_token_lifetime", &accessTokenLifetime, in: OktaServer.accessTokenLifetimes)
        coder.member("refresh_token_lifetime", &refreshTokenLifetime, in: Self.refreshLifetimes)
        coder.member("refresh_token_window", &refreshTokenWindow, in: Self.refreshLifetimes)
        coder.check(OktaGrantType.complaint(about: grants ?? []))
    }

    /// The lines that would allow a request; none if it is allowed.
    ///
    /// - Parameter grant: `nil` for a refresh, which no policy bars (ours).
    func missingLines(for client: OktaClient, _ grant: String?, _ scopes: [String]) -> [String] {
        let demands = [
            ("clients", clients, [client.id]), ("grants", grants, grant.map { [$0] } ?? []),
            ("scopes", self.scopes, scopes),
        ]
        return demands.compactMap { member, allowed, asked in
            guard let allowed else { return nil }
            let lacking = asked.filter { !allowed.contains(exactly: $0) }
            return lacking.isEmpty ? nil : "\(member): \(JSON.array((allowed + lacking).map(JSON.string)).text)"
        }
    }
}

/// A claim that a server adds to tokens besides their own, or sets in place of one.
///
/// Source: guide:customize-tokens-returned-from-okta; that it may replace one of the standard: ours, to test apps.
struct OktaClaim: CodedRecord, RecordValue, Equatable {
    enum Target: String, CaseIterable, RecordValue { case access, id }

    /// Claims of the protocol, about the token and not the user, so that userinfo does not have them.
    private static let ofTokens: Set<String> = [
        "ver", "jti", "iss", "aud", "iat", "exp", "nbf", "sub", "amr", "acr", "idp", "nonce", "auth_time", "at_hash",
        "c_hash", "sid", "ds_hash", "azp",
    ]

    var name = ""
    /// `nil` for both.
    var target: Target?
    /// A constant, where null leaves the claim out; or `user.profile.NAME`, or `groups(…)`.
    var value = JSON.null
    /// The scope with which the claim comes; `nil` for any.
    var scope: String?
    /// Whether ID tokens have it; otherwise userinfo alone.
    var isAlways = true

    mutating func code(_ coder: inout RecordCoder) {
        coder.member("name", &name)
        coder.member("in", &target)
        coder.member("value", &value)
        coder.member("scope", &scope)
        coder.member("always", &isAlways, or: true)
        coder.check(!name.isEmpty, or: "a claim needs a name")
        let text = value.string ?? ""
        coder.check(
            !text.hasPrefix("groups(") || Self.filter(text) != nil,
            or:
                "value is \(text); expected groups(), groups(starts-with TEXT), groups(equals TEXT) or groups(contains TEXT)"
        )
    }

    /// Which names of groups the value selects; `nil` for a value that is not about groups.
    private static func filter(_ text: String) -> ((String) -> Bool)? {
        guard let match = text.wholeMatch(of: /groups\((?:(starts-with|equals|contains) (.+))?\)/) else { return nil }
        let (word, part) = (match.1, String(match.2 ?? ""))
        return { name in
            switch word {
            case "starts-with"?: name.utf8.starts(with: part.utf8)
            case "equals"?: name.hasSameBytes(as: part)
            case .some: name.contains(part)
            case nil: true
            }
        }
    }

    /// The value for a user; `nil` when there is none, as for services.
    private func value(for user: OktaUser?, _ groups: RecordTable<OktaGroup>) -> JSON? {
        guard let text = value.string else { return value }
        if text.hasPrefix("user.profile.") { return user?.profileValue(String(text.dropFirst("user.profile.".count))) }
        guard let filter = Self.filter(text) else { return value }
        return user.map { .array(groups.names(of: $0.groups).filter(filter).map(JSON.string)) }
    }

    /// Sets the claim, if it belongs there.
    ///
    /// - Parameter target: `nil` for userinfo, which shows the claims of ID tokens (guide).
    func apply(
        to claims: inout JSONObject, of target: Target?, _ scopes: [String], _ user: OktaUser?,
        _ groups: RecordTable<OktaGroup>
    ) {
        let isMeant =
            switch target {
            case .access?: self.target != .id
            case .id?: self.target != .access && isAlways
            case nil: self.target != .access && !Self.ofTokens.contains(name)
            }
        guard isMeant, scope.map({ scopes.contains(exactly: $0) }) ?? true,
            let value = value(for: user, groups)
        else { return }
        claims[name] = value.isNull ? JSON?.none : value
    }
}

extension [OktaClaim] {
    /// What the journal says about tokens with claims that an action set.
    func interventions(in scopes: [String]) -> [JSON] {
        let targets = OktaClaim.Target.allCases.filter { $0 == .access || scopes.contains("openid") }
        return targets.compactMap { target in
            let names = filter { $0.target ?? target == target }.map(\.name)
            return names.isEmpty
                ? nil : ["set_claims": .string(names.joined(separator: ", ")), "of": .string(target.rawValue)]
        }
    }
}

extension Okta {
    /// Refuses a user to whom the client is not assigned. Services act for users of other apps, and so have none.
    static func requireAssigned(_ userID: String?, to client: OktaClient, in state: State) throws(Refused) {
        guard let assigned = client.assigned, client.type != .service, let user = userID.flatMap({ state.users[$0] }),
            !assigned.covers(user, state.groups)
        else { return }
        let line = "users: \(JSON.array((assigned.users + [user.login]).map(JSON.string)).text)"
        let expected = [("users", assigned.users), ("groups", assigned.groups)].filter { !$0.1.isEmpty }
            .map { "one of the \($0) \(Nearest.list($1))" }
        throw Refused(
            .userNotAssigned,
            because: "assigned: found \(user.login), of the groups "
                + "\(Nearest.list(state.groups.names(of: user.groups))); "
                + "expected \(expected.isEmpty ? "nobody" : expected.joined(separator: " or ")). Write \(line) in assigned "
                + "of client \(client.id) in okta/accounts.yaml, or use the action assign-client")
    }

    /// The policy that allows a request for tokens; `nil` at a server without policies, which allows all (ours).
    static func accessPolicy(
        for client: OktaClient, _ grant: String, _ scopes: [String], at server: OktaServer, in state: State
    ) throws(Refused) -> OktaAccessPolicy? {
        guard let policies = state.accessPolicies(of: server) else { return nil }
        let candidates = policies.map { ($0, lines: $0.missingLines(for: client, grant, scopes)) }
        if let policy = candidates.first(where: \.lines.isEmpty) { return policy.0 }
        let nearest = candidates.min { $0.lines.count < $1.lines.count }
        let advice =
            nearest.map { "Write \($0.lines.joined(separator: " and ")) in policy “\($0.0.name)”" }
            ?? "Write policies: [{ name: \"All\" }]"
        throw Refused(
            .policyNotMatched,
            because: "policy: found client \(client.id), grant \(grant), scope \(scopes.joined(separator: " ")); "
                + "expected what a policy of server \(server.id) allows. \(advice) of the server in "
                + "okta/accounts.yaml, or use the action set-policies")
    }
}

/// What actions set in place of what the fixtures say about a server; `nil` is as in the fixtures.
struct OktaServerRules: KeyedRecord, CodedRecord, Equatable {
    static let bound = RecordBound(count: 1000)

    var serverID = ""
    var policies: [OktaAccessPolicy]?
    var claims: [OktaClaim]?

    var key: ExactText { ExactText(serverID) }

    mutating func code(_ coder: inout RecordCoder) {
        coder.member("server", &serverID)
        coder.member("policies", &policies)
        coder.member("claims", &claims)
        coder.check(size <= Self.longestList, or: "a list has \(size) bytes; expected at most \(Self.longestList)")
    }

    /// The bytes of the longer list.
    private var size: Int { max((policies ?? []).written.bytes.count, (claims ?? []).written.bytes.count) }

    /// ours: longer claims make tokens that no server takes, and policies are short.
    static let longestList = OktaSignIn.longestClaims
}

extension OktaState {
    private func rules(of server: OktaServer) -> OktaServerRules? {
        serverRules.count == 0 ? nil : serverRules[server.id]
    }

    func accessPolicies(of server: OktaServer) -> [OktaAccessPolicy]? { rules(of: server)?.policies ?? server.policies }

    func claims(of server: OktaServer) -> [OktaClaim] { rules(of: server)?.claims ?? server.claims }

    /// The claims that an action set, which the journal mentions.
    func setClaims(of server: OktaServer) -> [OktaClaim] { rules(of: server)?.claims ?? [] }
}

/// What administrators decide about clients and servers (all ours).
extension Okta {
    static let ruleActions = [
        action(
            "assign-client", about: "Assigns a client to users and groups alone; without both, to everyone.",
            members: [
                .required("client", "id of the client"),
                .optional("users", "a list of ids or logins"), .optional("groups", "a list of ids or names"),
            ]
        ) { (call, state) throws(ControlRefusal) in
            let client = try state.client(named: try call.required("client"))
            let (users, groups) = try call.read { ($0.texts("users"), $0.texts("groups")) }
            let isForEveryone = users == nil && groups == nil
            let assigned = isForEveryone ? nil : OktaAssignment(users: users ?? [], groups: groups ?? [])
            if let stranger = assigned?.stranger(state.users, state.groups) { throw ControlRefusal(stranger) }
            state.clients.change(client.key) { $0.assigned = assigned }
            return state.clients[client.key]?.json(.whole) ?? .null
        },
        action(
            "set-policies",
            about: "Replaces the access policies of a server, which clients, grants and scopes must match.",
            members: [
                whichServer,
                .optional(
                    "policies", "a list as in accounts.yaml; by default that of the fixtures, [] allows nothing"),
            ]
        ) { (call, state) throws(ControlRefusal) in
            try setRules(call, &state) { (rules) throws(ControlRefusal) in rules.policies = try list("policies", call) }
        },
        action(
            "set-claims", about: "Replaces the claims that a server adds to tokens or sets in them.",
            members: [
                whichServer,
                .optional("claims", "a list as in accounts.yaml; by default that of the fixtures, [] for none"),
            ]
        ) { (call, state) throws(ControlRefusal) in
            try setRules(call, &state) { (rules) throws(ControlRefusal) in rules.claims = try list("claims", call) }
        },
    ]

    private static func list<Value: RecordValue>(_ name: String, _ call: Action) throws(ControlRefusal) -> [Value]? {
        guard let value = call.members[name], !value.isNull else { return nil }
        try ControlRefusal.require(
            value.bytes.count <= OktaServerRules.longestList,
            "\(name) has \(value.bytes.count) bytes; expected at most \(OktaServerRules.longestList)")
        return try ControlRefusal.wording { try [Value].read(FixtureNode(value, from: name)) }
    }

    private static func setRules(
        _ call: Action, _ state: inout State,
        _ change: (inout OktaServerRules) throws(ControlRefusal) -> Void
    ) throws(ControlRefusal) -> JSON {
        let server = try call.vendor.accounts.server(named: try call.text("server"))
        var rules = state.serverRules[server.id] ?? OktaServerRules(serverID: server.id)
        try change(&rules)
        guard !server.isOrg || rules.policies == nil else { throw ControlRefusal(OktaServer.orgHasNoPolicies) }
        if rules.policies == nil, rules.claims == nil {
            state.serverRules.remove(rules.key)
        } else {
            state.serverRules.add(rules, within: OktaServerRules.bound)
        }
        return [
            "server": .string(server.id), "policies": state.accessPolicies(of: server)?.written ?? .null,
            "claims": state.claims(of: server).written,
        ]
    }
}
