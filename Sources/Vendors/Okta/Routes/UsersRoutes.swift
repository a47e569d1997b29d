import Emulation
import HTTPTypes
import JSON
import Wire

extension HTTPField.Name {
    fileprivate static let link = Self("Link") ?? .location
}

/// Users as the management API creates and shows them.
extension Okta {
    /// Creates a user, with a password or without one.
    ///
    /// - Throws: ``OktaFailure/userExists`` when the login is taken.
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
    ///
    /// - Throws: ``OktaFailure/userNotFound``
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
