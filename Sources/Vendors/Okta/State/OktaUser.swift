import Emulation
import JSON

/// A user of the organization.
struct OktaUser: Sendable, Equatable {
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
    /// The last part of the address at which a password can be reset; `nil` when nobody asked.
    var recoveryToken: String?

    var name: String { [firstName, lastName].filter { !$0.isEmpty }.joined(separator: " ") }
    var address: String { email ?? login }
    var isActive: Bool { status == .active }

    /// When anything about the user last changed.
    var updated: Moment { lastUpdated ?? created }
}

extension OktaUser: KeyedRecord, CodedRecord {
    var key: ExactText { ExactText(id) }
    /// Logins differ by more than case (ours).
    var names: [ExactText] { [ExactText(login.lowercased())] }
    var secretText: String? { password }

    func clash(over name: ExactText?) -> String {
        name == nil ? "another user is \(id)" : "another user signs in as \(login)"
    }

    mutating func keepSecrets(of known: OktaUser, leftOutBy extent: StateExtent?) {
        guard extent == .whole else { return }
        password = password ?? known.password
        if status == .recovery { recoveryToken = recoveryToken ?? known.recoveryToken }
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
        coder.secret("recovery_token", &recoveryToken)
        coder.check(!id.isEmpty && !login.isEmpty, or: "a user needs an id and a login")
        coder.check(profile.object != nil, or: "profile is a JSON \(profile.typeName), not an object")
    }
}

struct OktaGroup: CodedRecord {
    var id = ""
    var name = ""

    mutating func code(_ coder: inout RecordCoder) {
        coder.member("id", &id)
        coder.member("name", &name)
    }
}
