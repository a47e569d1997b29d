import Emulation
import JSON

/// The issuers of a sandbox, in the order in which they were onboarded; cheap to copy.
struct IMSIssuers: Sendable {
    /// ours: a bound, so that onboarding in a loop cannot fill the machine.
    static let capacity = 1000
    /// ours: a bound of what the issuers were onboarded with, in bytes.
    static let byteCapacity = 32 * 1024 * 1024

    private(set) var all: [IMSIssuer] = []
    /// Where in ``all`` the issuer of a name stands.
    private var places: [ExactText: Int] = [:]
    private var byIssuer: [ExactText: IMSIssuer] = [:]
    /// What the issuers of ``all`` were onboarded with, in bytes.
    private(set) var byteCount = 0

    /// The issuer of that exact `iss`.
    func issuer(_ iss: String) -> IMSIssuer? { byIssuer[ExactText(iss)] }

    /// The issuer of that name.
    func named(_ name: String) -> IMSIssuer? { places[ExactText(name)].map { all[$0] } }

    /// Puts an issuer in the place of the one of its name, or behind all others.
    mutating func put(_ issuer: IMSIssuer) {
        if let place = places[ExactText(issuer.record.name)] {
            forget(all[place])
            all[place] = issuer
        } else {
            places[ExactText(issuer.record.name)] = all.count
            all.append(issuer)
        }
        byIssuer[ExactText(issuer.record.issuer)] = issuer
        byteCount += issuer.record.byteCount
    }

    /// Whether an issuer may be put there, in the place of the one of its name if there is one.
    func hasRoom(for record: IMSIssuerRecord) -> Bool {
        byteCount - (named(record.name)?.record.byteCount ?? 0) + record.byteCount <= Self.byteCapacity
    }

    /// Puts those of these names first, in this order; the others follow as they stood.
    mutating func order(_ names: [String]) {
        let places = Dictionary(names.enumerated().map { (ExactText($1), $0) }, uniquingKeysWith: { first, _ in first })
        all = all.enumerated().map { (place: places[ExactText($1.record.name)] ?? .max, index: $0, issuer: $1) }
            .sorted { ($0.place, $0.index) < ($1.place, $1.index) }.map(\.issuer)
    }

    /// Removes the issuer of that name.
    mutating func remove(_ name: String) {
        guard let place = places.removeValue(forKey: ExactText(name)) else { return }
        forget(all.remove(at: place))
        for place in all.indices.suffix(from: place) { places[ExactText(all[place].record.name)] = place }
    }

    private mutating func forget(_ issuer: IMSIssuer) {
        byIssuer[ExactText(issuer.record.issuer)] = nil
        byteCount -= issuer.record.byteCount
    }
}
