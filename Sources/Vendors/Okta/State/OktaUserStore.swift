import Emulation
import JSON

/// Users that come and go.
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
}
