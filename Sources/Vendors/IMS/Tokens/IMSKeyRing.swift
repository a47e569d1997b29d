import JSON
import Tokens

/// The keys of an issuer at one time; results found with them may be kept together with the ring.
final class IMSKeyRing: Sendable {
    /// The usable keys, in the order of their source.
    let keys: [VerificationKey]
    /// Whether any key has an id.
    let hasIDs: Bool
    /// ours: the maximum number of keys without ids that are tried.
    static let mostTried = 4

    init(_ keys: [VerificationKey]) {
        self.keys = keys
        hasIDs = keys.contains { $0.id != nil }
    }

    /// The name of a token's key. A kid is ignored when no key has one, so it is no reason to fetch again.
    func name(ofKeyFor token: IMSToken) -> String? { hasIDs || keys.isEmpty ? token.keyID : nil }

    /// Which keys may have made a token's signature.
    enum Choice: Sendable {
        /// One of the keys at these places.
        case keys([Int])
        /// The token must name its key.
        case idRequired
        /// None has the id that the token names.
        case idUnknown
    }

    /// The candidate keys for a token that names that key, or none.
    ///
    /// Source: selection by kid when present is documented (security page); trying keys without ids in turn, ignoring a
    /// kid, is ours.
    func choice(naming id: String?) -> Choice {
        guard hasIDs else { return .keys(Array(keys.indices.prefix(Self.mostTried))) }
        if let id {
            let index = keys.firstIndex { $0.id?.hasSameBytes(as: id) == true }
            return index.map { .keys([$0]) } ?? .idUnknown
        }
        return keys.count == 1 ? .keys([0]) : .idRequired
    }
}
