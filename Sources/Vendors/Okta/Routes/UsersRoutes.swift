import Emulation
import HTTPTypes
import JSON
import Wire

extension HTTPField.Name {
    fileprivate static let link = Self("Link") ?? .location
}

/// Users as the management API creates and shows them.
extension Okta {
    static func createUser(_ call: inout OktaCall, _ state: inout State) throws(Refused) -> Reply {
        let isActivated = try call.query.read { $0.flag("activate", or: true) }
        let draft = try call.json { OktaUserDraft(&$0) }
        let vendor = call.vendor
        if let unknown = draft.groups.first(where: { vendor.accounts.group($0) == nil }) {
            let hint = Nearest.hint(to: unknown, among: vendor.accounts.groups.map(\.id))
            throw Okta.refusal("groupIds", "has \(unknown), and no group has that id\(hint)")
        }
        try Refused.require(
            state.user(draft.login) == nil, .userExists,
            "another user signs in as \(draft.login); expected a login that nobody has")
        let user = draft.user(
            call.identifiers.oktaID("00u"), isActivated: isActivated, vendor.accounts, at: call.moment)
        state.add(user)
        return .json(user.json(at: call.arrival.base))
    }

    static func getUser(_ call: inout OktaCall, _ state: inout State) throws(Refused) -> Reply {
        .json(try call.user(in: state).json(at: call.arrival.base))
    }

    /// Lists users by pages, without deactivated ones. Source: api, with its 200 users a page.
    static func listUsers(_ call: inout OktaCall, _ state: inout State) throws(Refused) -> Reply {
        let (limit, after) = try call.query.read { query in
            for name in ["q", "filter", "search"] where query.object[name] != nil {
                query.refuse(name, "is not emulated; expected a request for all users")
            }
            return (query.int("limit", in: 1...200) ?? 200, query.optionalText("after"))
        }
        let users = state.users.all.filter { $0.status != .deprovisioned }
        // An unknown cursor begins anew (ours).
        let last = after.flatMap { id in users.firstIndex { $0.id.hasSameBytes(as: id) } }
        let page = users[(last.map { $0 + 1 } ?? 0)...].prefix(limit)
        let base = call.arrival.base
        var response = Response.json(.array(page.map { $0.json(at: base) }))
        let address = "\(base)/api/v1/users?limit=\(limit)"
        let own = last.map { "\(address)&after=\(users[$0].id)" } ?? address
        response.fields.append(HTTPField(name: .link, value: "<\(own)>; rel=\"self\""))
        if page.endIndex < users.endIndex, let end = page.last {
            response.fields.append(HTTPField(name: .link, value: "<\(address)&after=\(end.id)>; rel=\"next\""))
        }
        return .respond(response)
    }
}

extension OktaCall {
    /// The user whom the path names by id or login.
    func user(in state: OktaState) throws(OktaRefusal) -> OktaUser {
        let name = parameters["user"]
        if let user = state.user(name) { return user }
        throw Refusal(
            .userNotFound, ["id": .string(name)],
            because:
                "nobody has the id or login \(name)\(Nearest.hint(to: name, among: state.users.all.prefix(20).map(\.login)))"
        )
    }
}

/// What a request says about a new user.
struct OktaUserDraft {
    let login: String
    let email: String
    let firstName: String
    let lastName: String
    /// Further members of the profile.
    let profile: JSONObject
    let password: String?
    let groups: [String]

    private static let members: Set<String> = ["login", "email", "firstName", "lastName"]

    /// Source: api; by default Okta requires four members of a profile.
    init(_ body: inout FieldReader) {
        let profile = body.nested("profile", isRequired: true) { profile in
            (
                first: profile.text("firstName"), last: profile.text("lastName"), email: profile.text("email"),
                login: profile.text("login"), others: profile.object.filter { !Self.members.contains($0.name) }
            )
        }
        firstName = profile?.first ?? ""
        lastName = profile?.last ?? ""
        email = profile?.email ?? ""
        login = profile?.login ?? ""
        self.profile = JSONObject((profile?.others ?? []).map { ($0.name, $0.value) })
        let credentials = body.nested("credentials") { credentials in
            credentials.nested("password") { $0.text("value") }
        }
        password = credentials ?? nil
        groups = body.texts("groupIds") ?? []
    }

    /// The user: of the group Everyone, which has all users, and active with a password only.
    ///
    /// Source: api.
    func user(_ id: String, isActivated: Bool, _ accounts: OktaAccounts, at moment: Moment) -> OktaUser {
        var user = OktaUser()
        (user.id, user.login, user.email) = (id, login, email.hasSameBytes(as: login) ? nil : email)
        (user.firstName, user.lastName, user.profile) = (firstName, lastName, .object(profile))
        user.password = password
        user.groups = accounts.everyone + groups.filter { !accounts.everyone.contains($0) }
        (user.created, user.lastUpdated) = (moment, moment)
        user.status = isActivated ? password == nil ? .provisioned : .active : .staged
        user.passwordChanged = password == nil ? nil : moment
        if isActivated { (user.activated, user.statusChanged) = (moment, moment) }
        return user
    }
}

extension OktaUser {
    /// The user as the management API shows it. Source: api.
    func json(at base: String) -> JSON {
        var shown: JSONObject = [
            "firstName": .string(firstName), "lastName": .string(lastName), "email": .string(address),
            "login": .string(login),
        ]
        for member in profile.object ?? [:] { shown.append(member.name, member.value) }
        var credentials: JSONObject = ["provider": ["type": "OKTA", "name": "OKTA"]]
        if password != nil {
            credentials = ["password": [:], "provider": ["type": "OKTA", "name": "OKTA"]]
        }
        return [
            "id": .string(id), "status": .string(status.rawValue), "created": .string(created.rfc3339),
            "activated": JSON(activated?.rfc3339), "statusChanged": JSON(statusChanged?.rfc3339),
            "lastLogin": JSON(lastLogin?.rfc3339), "lastUpdated": .string(updated.rfc3339),
            "passwordChanged": JSON(passwordChanged?.rfc3339), "profile": .object(shown),
            "credentials": .object(credentials),
            "_links": ["self": ["href": .string("\(base)/api/v1/users/\(id)")]],
        ]
    }
}

extension OktaAccounts {
    func group(_ id: String) -> OktaGroup? { groups.first { $0.id.hasSameBytes(as: id) } }
}

extension IdentifierSource {
    /// An id of 20 characters that begins with the prefix of its kind.
    func oktaID(_ prefix: String) -> String { prefix + oktaID(ofLength: 20 - prefix.utf8.count) }
}

/// The steps of users' lives, and the end of their sessions.
extension Okta {
    static func takeLifecycleStep(_ call: inout OktaCall, _ state: inout State) throws(Refused) -> Reply {
        let name = call.parameters["step"]
        guard let step = OktaLifecycleStep(rawValue: name) else {
            let hint = Nearest.hint(to: name, among: OktaLifecycleStep.allCases.map(\.rawValue))
            throw Refusal(.pathNotFound, because: "no step is called \(name)\(hint)")
        }
        let sendsEmail = try call.query.read { $0.flag("sendEmail", or: true) }
        let user = try call.user(in: state)
        try Refused.require(
            step.isAllowed(for: user), .userStatus,
            "\(user.login) is \(user.status.rawValue); expected \(step.condition) for \(name)")
        let changed = state.take(step, for: user, call.identifiers, at: call.moment)
        switch step {
        case .expirePassword: return .json(changed.json(at: call.arrival.base))
        case .resetPassword where !sendsEmail:
            let address = "\(call.arrival.base)/reset_password/\(changed.recoveryToken ?? "")"
            return .json(["resetPasswordUrl": .string(address)])
        case .activate, .deactivate, .suspend, .unsuspend, .unlock, .resetFactors, .resetPassword: return .json([:])
        }
    }

    static func endUserSessions(_ call: inout OktaCall, _ state: inout State) throws(Refused) -> Reply {
        let endsTokens = try call.query.read { $0.flag("oauthTokens", or: false) }
        let user = try call.user(in: state)
        state.endSessions(of: user.id)
        if endsTokens { state.revokeGrants(of: user.id) }
        return .empty()
    }
}

/// The end of all that a user has, at the wish of a security product. Source: api.
extension Okta {
    static func revokeGlobally(_ call: inout OktaCall, _ state: inout State) throws(Refused) -> Reply {
        let subject = try call.json { $0.object("sub_id", isRequired: true) } ?? [:]
        let user = try user(subject, call, state)
        state.endSessions(of: user.id)
        state.revokeGrants(of: user.id)
        return .empty()
    }

    /// The user whom a subject identifier names (RFC 9493 section 3.2).
    private static func user(
        _ subject: JSONObject, _ call: OktaCall, _ state: State
    ) throws(Refused) -> OktaUser {
        let format = subject["format"]?.string ?? ""
        let name: String?
        switch format {
        case "opaque": name = subject["id"]?.string
        case "iss_sub":
            let sandbox = call.arrival.sandbox
            let issuer = subject["iss"]?.string ?? ""
            try Refused.require(
                sandbox.publicBase.addresses(of: sandbox.name).contains(where: { $0.hasSameBytes(as: issuer) }),
                .subIDInvalid, "iss is “\(issuer)”; expected \(call.arrival.base)")
            name = subject["sub"]?.string
        default:
            throw Refusal(.subIDInvalid, because: "format is “\(format)”; expected opaque or iss_sub")
        }
        let user = try Refused.require(
            name.flatMap(state.user), .subIDInvalid,
            "sub_id names nobody: \(name ?? "it has no id"); expected the id of a user")
        return user
    }
}

/// The authentication API, for apps that ask for the password themselves.
extension Okta {
    /// Exchanges login and password for a session token. Source: ref (authn).
    static func authenticateUser(_ call: inout OktaCall, _ state: inout State) throws(Refused) -> Reply {
        let (login, password) = try call.json { ($0.text("username"), $0.text("password")) }
        let user = try Refused.require(
            state.user(login), .authnFailed, "no user has the login or id \(login); expected one that exists")
        guard let known = user.password, known.hasSameBytes(as: password) else {
            throw Refusal(.authnFailed, because: "the password is not that of \(user.login); expected the user's own")
        }
        try Refused.require(user.isActive, .authnFailed, "\(user.login) is \(user.status.rawValue); expected ACTIVE")
        let authentication = OktaAuthentication(userID: user.id, moment: call.moment, methods: ["pwd"])
        let token = OktaTicket(call.identifiers.opaque(ofLength: 43), for: authentication, at: call.moment)
        state.sessionTokens.add(token, within: OktaState.shortBound)
        return .json([
            "expiresAt": .string(token.expires.rfc3339), "status": "SUCCESS",
            "sessionToken": .string(token.id), "_embedded": ["user": user.signedIn],
        ])
    }
}

extension OktaUser {
    /// The user as the authentication API shows it. Source: ref (authn), whose locale and time zone are its examples'.
    fileprivate var signedIn: JSON {
        [
            "id": .string(id), "passwordChanged": JSON(passwordChanged?.rfc3339),
            "profile": [
                "login": .string(login), "firstName": .string(firstName), "lastName": .string(lastName),
                "locale": profile["locale"] ?? "en_US", "timeZone": profile["timezone"] ?? "UTC",
            ],
        ]
    }
}
