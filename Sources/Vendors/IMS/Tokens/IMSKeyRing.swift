import JSON
import Tokens

/// The keys of an issuer as they are at one time; what was found out with them may be kept together with the ring.
final class IMSKeyRing: Sendable {
    /// The usable keys, in the order of their source.
    let keys: [VerificationKey]
    /// Whether any key has an id.
    let hasIDs: Bool
    /// ours: of several keys without ids so many are tried.
    static let mostTried = 4

    init(_ keys: [VerificationKey]) {
        self.keys = keys
        hasIDs = keys.contains { $0.id != nil }
    }

    /// The name by which a token's key is looked for. A kid is ignored where no key has one, so it is no reason to ask again.
    func name(ofKeyFor token: IMSToken) -> String? { hasIDs || keys.isEmpty ? token.keyID : nil }

    /// Which keys may have made a token's signature.
    enum Choice: Sendable {
        /// One of those at these places.
        case keys([Int])
        /// The token has to say which.
        case idRequired
        /// None has the id that the token names.
        case idUnknown
    }

    /// The keys for a token that names that key, or none.
    ///
    /// Source: selection by kid when present is documented (seed); trying bare keys in turn, and that they ignore a kid,
    /// are ours.
    func choice(naming id: String?) -> Choice {
        guard hasIDs else { return .keys(Array(keys.indices.prefix(Self.mostTried))) }
        if let id {
            let index = keys.firstIndex { $0.id?.hasSameBytes(as: id) == true }
            return index.map { .keys([$0]) } ?? .idUnknown
        }
        return keys.count == 1 ? .keys([0]) : .idRequired
    }
}
