import Emulation
import JSON

/// The issuers of a sandbox, in the order in which they were onboarded; cheap to copy.
struct IMSIssuers: Sendable {
    /// ours: a bound, so that onboarding in a loop cannot fill the machine.
    static let capacity = 1000

    private(set) var all: [IMSIssuer] = []
    private var byIssuer: [ExactText: IMSIssuer] = [:]

    /// The issuer of that exact `iss`.
    func issuer(_ iss: String) -> IMSIssuer? { byIssuer[ExactText(iss)] }

    /// The issuer of that name.
    func named(_ name: String) -> IMSIssuer? { all.first { $0.record.name.hasSameBytes(as: name) } }

    /// Puts an issuer in the place of the one of its name, or behind all others.
    mutating func put(_ issuer: IMSIssuer) {
        if let index = all.firstIndex(where: { $0.record.name.hasSameBytes(as: issuer.record.name) }) {
            byIssuer[ExactText(all[index].record.issuer)] = nil
            all[index] = issuer
        } else {
            all.append(issuer)
        }
        byIssuer[ExactText(issuer.record.issuer)] = issuer
    }

    /// Removes the issuer of that name.
    mutating func remove(_ name: String) {
        for issuer in all where issuer.record.name.hasSameBytes(as: name) {
            byIssuer[ExactText(issuer.record.issuer)] = nil
        }
        all.removeAll { $0.record.name.hasSameBytes(as: name) }
    }
}
