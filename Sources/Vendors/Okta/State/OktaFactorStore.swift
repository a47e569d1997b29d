import Emulation
import JSON

/// Factors that come and go.
extension OktaState {
    /// A user's factors, those of the fixtures first.
    func factors(of userID: String) -> [OktaFactor] { factors.all.filter { $0.userID.hasSameBytes(as: userID) } }

    func factor(_ id: String, of userID: String) -> OktaFactor? {
        factors[id].flatMap { $0.userID.hasSameBytes(as: userID) ? $0 : nil }
    }

    /// Stores a new factor.
    mutating func add(_ factor: OktaFactor) {
        factors.store(factor)
        for gone in factors.shrink(to: Self.shortBound, sparing: factor.key) { forgetChallenges(of: gone) }
    }

    /// Removes a factor with its challenges.
    mutating func remove(_ factor: OktaFactor) {
        factors.remove(factor.key)
        forgetChallenges(of: factor)
    }

    private mutating func forgetChallenges(of factor: OktaFactor) {
        for challenge in transactions.records(in: ExactText(factor.id)) { transactions.remove(challenge.key) }
    }
}

extension OktaFactor.Kind {
    /// How ids of the kind begin. Source: postman.
    private var prefix: String {
        switch self {
        case .push: "opf"
        case .sms: "sms"
        case .call: "clf"
        case .totp: "ost"
        }
    }

    func newID(_ identifiers: IdentifierSource) -> String { identifiers.oktaID(prefix) }
}
