/// What can happen to an issuer's keys.
public enum KeyDrill: String, Sendable, CaseIterable {
    case overlap
    case retire
    case replace
    case sameKID = "same-kid"
    case `break`
    case repair

    /// Whether it needs an unused key pair.
    package var needsPair: Bool {
        switch self {
        case .overlap, .replace, .sameKID: true
        case .retire, .break, .repair: false
        }
    }

    package var about: String {
        switch self {
        case .overlap: "Another key signs; the old one stays published."
        case .retire: "The old key leaves the published set."
        case .replace: "Another key signs, and the old ones leave at once."
        case .sameKID: "Another key signs under the name of the old one."
        case .break: "Requests for the published keys get an error."
        case .repair: "Requests for the published keys get the keys again."
        }
    }
}
