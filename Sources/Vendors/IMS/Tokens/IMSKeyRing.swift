import JSON
import Tokens

/// The keys of an issuer at one time; results found with them may be kept together with the ring.
final class IMSKeyRing: Sendable {
    /// The usable keys, in the order of their source.
    let keys: [VerificationKey]
    let hasIDs: Bool
    let hasCertificates: Bool
    /// Each key alone, and all that are tried for tokens that name none: made once, since every token needs some.
    private let (each, tried): ([Candidates], Candidates)
    /// ours: the maximum number of keys without ids that are tried.
    static let mostTried = 4

    init(_ keys: [VerificationKey]) {
        self.keys = keys
        hasIDs = keys.contains { $0.id != nil }
        hasCertificates = keys.contains { $0.validity != nil }
        each = keys.indices.map { Candidates([$0]) }
        tried = Candidates(Array(keys.indices.prefix(Self.mostTried)))
    }

    /// The places of keys of which one may have made a token's signature.
    final class Candidates: Sendable {
        let places: [Int]
        /// Those that are not excluded by the dates of their certificates.
        let valid: [Int]

        init(_ places: [Int], valid: [Int]? = nil) {
            self.places = places
            self.valid = valid ?? places
        }
    }

    /// The name of a token's key. A kid is ignored when no key has one, so it is no reason to fetch again.
    func name(ofKeyFor token: IMSToken) -> String? { hasIDs || keys.isEmpty ? token.keyID : nil }

    /// Which keys may have made a token's signature.
    enum Choice: Sendable {
        case keys(Candidates)
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
        guard hasIDs else { return .keys(tried) }
        if let id {
            let index = keys.firstIndex { $0.id?.hasSameBytes(as: id) == true }
            return index.map { .keys(each[$0]) } ?? .idUnknown
        }
        return keys.count == 1 ? .keys(each[0]) : .idRequired
    }
}
