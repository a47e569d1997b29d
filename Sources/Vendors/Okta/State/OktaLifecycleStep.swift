import Emulation

/// A step of a user's life that an administrator takes. Source: api.
enum OktaLifecycleStep: String, CaseIterable, Sendable {
    case activate, deactivate, suspend, unsuspend, unlock
    case resetFactors = "reset_factors", expirePassword = "expire_password", resetPassword = "reset_password"

    /// The statuses in which the step can be taken. Source: api; for the last three steps ours.
    private var statuses: [OktaUser.Status] {
        switch self {
        case .activate: [.staged, .deprovisioned]
        case .suspend: [.active]
        case .unsuspend: [.suspended]
        case .unlock: [.lockedOut]
        case .deactivate, .resetFactors: OktaUser.Status.allCases.filter { $0 != .deprovisioned }
        case .expirePassword: [.active, .passwordExpired]
        case .resetPassword: [.active, .provisioned, .passwordExpired, .lockedOut, .recovery]
        }
    }

    func isAllowed(for user: OktaUser) -> Bool { statuses.contains(user.status) }

    var condition: String { statuses.map(\.rawValue).joined(separator: ", ") }
}

extension OktaState {
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
        case .deactivate: user.set(.deprovisioned, at: moment)
        case .suspend: user.set(.suspended, at: moment)
        case .unsuspend, .unlock: user.set(.active, at: moment)
        case .resetFactors:
            for factor in factors(of: user.id) { remove(factor) }
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

extension OktaUser {
    /// Moves the user to a status.
    mutating func set(_ status: Status, at moment: Moment) {
        if status != .recovery { recoveryToken = nil }
        guard status != self.status else { return }
        (self.status, statusChanged, lastUpdated) = (status, moment, moment)
    }
}
