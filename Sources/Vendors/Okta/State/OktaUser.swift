import Emulation
import JSON

struct OktaUser: Sendable, Equatable, KeyedRecord, CodedRecord {
    /// Source: api.
    enum Status: String, CaseIterable, RecordValue {
        case active = "ACTIVE", deprovisioned = "DEPROVISIONED", lockedOut = "LOCKED_OUT"
        case passwordExpired = "PASSWORD_EXPIRED", provisioned = "PROVISIONED", recovery = "RECOVERY"
        case staged = "STAGED", suspended = "SUSPENDED"
    }

    var id = ""
    var login = ""
    var password: String?
    var status = Status.active
    var firstName = ""
    var lastName = ""
    /// `nil` for the login.
    var email: String?
    /// Further members of the profile, as sent.
    var profile: JSON = [:]
    var groups: [String] = []
    var created = Moment(unixSeconds: 0)
    var activated: Moment?
    var statusChanged: Moment?
    var lastLogin: Moment?
    var lastUpdated: Moment?
    var passwordChanged: Moment?
    /// What is asked when the password is forgotten; `nil` for nothing.
    var recoveryQuestion: String?
    var recoveryAnswer: String?
    /// The last part of the address at which a password can be set; `nil` when nobody asked.
    var recoveryToken: String?

    var name: String { [firstName, lastName].filter { !$0.isEmpty }.joined(separator: " ") }
    var address: String { email ?? login }
    var isActive: Bool { status == .active }

    var updated: Moment { lastUpdated ?? created }

    var key: ExactText { ExactText(id) }
    /// Logins differ by more than case (ours).
    var names: [ExactText] { [ExactText(login.lowercased())] }
    var secretText: String? { password }

    func clash(over name: ExactText?) -> String {
        name == nil ? "another user is \(id)" : "another user signs in as \(login)"
    }

    mutating func keepSecrets(of known: OktaUser, fromWhole isWhole: Bool) {
        guard isWhole else { return }
        (password, recoveryAnswer) = (password ?? known.password, recoveryAnswer ?? known.recoveryAnswer)
        if status == known.status { recoveryToken = recoveryToken ?? known.recoveryToken }
    }

    mutating func code(_ coder: inout RecordCoder) {
        coder.member("id", &id)
        coder.member("login", &login)
        coder.secret("password", &password)
        coder.member("status", &status, or: .active)
        coder.member("first_name", &firstName, or: "")
        coder.member("last_name", &lastName, or: "")
        coder.member("email", &email)
        coder.member("profile", &profile, or: [:])
        coder.member("groups", &groups, or: [])
        coder.member("created", &created)
        coder.member("activated", &activated)
        coder.member("status_changed", &statusChanged)
        coder.member("last_login", &lastLogin)
        coder.member("last_updated", &lastUpdated)
        coder.member("password_changed", &passwordChanged)
        coder.member("recovery_question", &recoveryQuestion)
        coder.secret("recovery_answer", &recoveryAnswer)
        coder.secret("recovery_token", &recoveryToken)
        coder.check(!id.isEmpty && !login.isEmpty, or: "a user needs an id and a login")
        coder.check(profile.object != nil, or: "profile is a JSON \(profile.typeName), not an object")
    }

    /// Sets the password; who needed a new one is then active.
    mutating func setPassword(_ text: String, at moment: Moment) {
        (password, passwordChanged, lastUpdated) = (text, moment, moment)
        if [.passwordExpired, .recovery, .provisioned].contains(status) { set(.active, at: moment) }
    }

    mutating func set(_ status: Status, at moment: Moment) {
        if status != .recovery, status != .provisioned { recoveryToken = nil }
        guard status != self.status else { return }
        (self.status, statusChanged, lastUpdated) = (status, moment, moment)
    }

    /// A member of the profile, as the management API shows it.
    func profileValue(_ name: String) -> JSON? {
        switch name {
        case "login": .string(login)
        case "email": .string(address)
        case "firstName": .string(firstName)
        case "lastName": .string(lastName)
        default: profile[name]
        }
    }
}

struct OktaGroup: Sendable, Equatable, KeyedRecord, CodedRecord {
    var id = ""
    var name = ""
    var description: String?
    var created = Moment(unixSeconds: 0)
    var lastMembershipUpdated: Moment?

    var key: ExactText { ExactText(id) }
    var names: [ExactText] { [ExactText(name)] }

    func clash(over name: ExactText?) -> String { "another group is \(name == nil ? id : self.name)" }

    mutating func code(_ coder: inout RecordCoder) {
        coder.member("id", &id)
        coder.member("name", &name)
        coder.member("description", &description)
        coder.member("created", &created, or: Moment(unixSeconds: 0))
        coder.member("last_membership_updated", &lastMembershipUpdated)
    }
}

extension RecordTable<OktaGroup> {
    /// The names of groups with these ids; unknown ones have none.
    func names(of ids: [String]) -> [String] { ids.compactMap { self[$0]?.name } }

    /// The id of the group that all users are in, if there is one. Source: docs:concepts/user-profiles.
    var everyone: [String] { self[named: ExactText("Everyone")].map { [$0.id] } ?? [] }
}

/// A user as userinfo shows it. Source: ref; which members of a profile they come from: api.
extension OktaUser {
    func claims(for scopes: [String], _ groups: RecordTable<OktaGroup>, _ further: [OktaClaim]) -> JSONObject {
        var claims: JSONObject = ["sub": .string(id)]
        if scopes.contains("profile") { appendProfile(to: &claims) }
        if scopes.contains("email") {
            claims.append("email", .string(address))
            claims.append("email_verified", true)
        }
        if scopes.contains("phone"), let phone = text("mobilePhone") ?? text("primaryPhone") {
            claims.append("phone_number", .string(phone))
        }
        if scopes.contains("address") { claims.append("address", .object(postalAddress)) }
        if scopes.contains("groups") { claims.append("groups", .array(groups.names(of: self.groups).map(JSON.string))) }
        for claim in further { claim.apply(to: &claims, of: nil, scopes, self, groups) }
        return claims
    }

    private func appendProfile(to claims: inout JSONObject) {
        claims.append("name", .string(name))
        claims.append("nickname", .string(text("nickName") ?? ""))
        claims.append("given_name", .string(firstName))
        if let middleName = text("middleName") { claims.append("middle_name", .string(middleName)) }
        claims.append("family_name", .string(lastName))
        if let profileURL = text("profileUrl") { claims.append("profile", .string(profileURL)) }
        claims.append("preferred_username", .string(login))
        // Profiles have en_US, tokens en-US.
        claims.append("locale", .string(text("locale")?.replacing("_", with: "-") ?? "en-US"))
        claims.append("zoneinfo", .string(text("timezone") ?? "UTC"))
        claims.append("updated_at", JSON(updated.wholeSeconds))
    }

    private var postalAddress: JSONObject {
        let parts = [
            ("street_address", "streetAddress"), ("locality", "city"), ("region", "state"), ("postal_code", "zipCode"),
            ("country", "countryCode"),
        ]
        return JSONObject(parts.compactMap { claim, member in text(member).map { (claim, .string($0)) } })
    }

    private func text(_ member: String) -> String? { profile[member]?.string }
}

/// A step of a user's life that an administrator takes. Source: api.
enum OktaLifecycleStep: String, CaseIterable, Sendable {
    case activate, reactivate, deactivate, suspend, unsuspend, unlock
    case resetFactors = "reset_factors", expirePassword = "expire_password", resetPassword = "reset_password"
    case expireWithTemporary = "expire_password_with_temp_password"

    /// The statuses in which the step can be taken. Source: api; for the last three steps ours.
    var statuses: [OktaUser.Status] {
        switch self {
        case .activate: [.staged, .deprovisioned]
        case .reactivate: [.provisioned, .recovery]
        case .suspend: [.active]
        case .unsuspend: [.suspended]
        case .unlock: [.lockedOut]
        case .deactivate, .resetFactors: OktaUser.Status.allCases.filter { $0 != .deprovisioned }
        case .expirePassword, .expireWithTemporary: [.active, .passwordExpired]
        case .resetPassword: [.active, .provisioned, .passwordExpired, .lockedOut, .recovery]
        }
    }

    /// What answers it in another status. Source: recorded answers (pysdk) of unlock and reactivate; codes.
    func refusal(for user: OktaUser) -> OktaFailure {
        switch self {
        case .unlock: .unlockForbidden
        case .reactivate: .userOperationForbidden
        case .activate where user.isActive: .userAlreadyActive
        default: .userStatus
        }
    }
}

extension OktaState {
    /// ours: a bound on users besides those of the fixtures.
    static let userBound = RecordBound(count: 20_000)

    /// Stores a new user, whose id and login are free.
    mutating func add(_ user: OktaUser) {
        users.store(user)
        for gone in users.shrink(to: Self.userBound, sparing: user.key) { forgetWorld(of: gone.id) }
    }

    mutating func remove(_ user: OktaUser) {
        users.remove(user.key)
        forgetWorld(of: user.id)
    }

    private mutating func forgetWorld(of userID: String) {
        endSessions(of: userID)
        revokeGrants(of: userID)
        for factor in factors(of: userID) { remove(factor) }
        for consent in consents.records(in: ExactText(userID)) { consents.remove(consent.key) }
    }

    /// Takes a step that the user's status allows, and returns the changed user.
    @discardableResult
    mutating func take(
        _ step: OktaLifecycleStep, for user: OktaUser, _ identifiers: IdentifierSource, at moment: Moment
    ) -> OktaUser {
        var user = user
        switch step {
        case .activate:
            user.activated = moment
            user.set(user.password == nil ? .provisioned : .active, at: moment)
            user.recoveryToken = identifiers.oktaID(ofLength: 20)
        case .reactivate: user.recoveryToken = identifiers.oktaID(ofLength: 20)
        case .deactivate: user.set(.deprovisioned, at: moment)
        case .suspend: user.set(.suspended, at: moment)
        case .unsuspend, .unlock: user.set(.active, at: moment)
        case .resetFactors:
            for factor in factors(of: user.id) { remove(factor) }
        case .expireWithTemporary:
            user.setPassword(identifiers.oktaID(ofLength: 8), at: moment)
            user.set(.passwordExpired, at: moment)
        case .expirePassword: user.set(.passwordExpired, at: moment)
        case .resetPassword:
            user.recoveryToken = identifiers.oktaID(ofLength: 20)
            user.set(.recovery, at: moment)
        }
        change(user)
        return user
    }

    /// Stores a changed user; a deactivated one loses sessions and tokens. Source: ref, revoking tokens.
    mutating func change(_ user: OktaUser) {
        users.put(user)
        guard user.status == .deprovisioned else { return }
        endSessions(of: user.id)
        revokeGrants(of: user.id)
    }
}
