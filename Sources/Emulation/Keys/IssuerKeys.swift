public import JSON
public import Tokens

/// The keys of an issuer in one sandbox: which one signs, which are published, and how often they were fetched.
///
/// A value type: a vendor keeps it in its state, where drills change it.
public struct IssuerKeys: Sendable {
    /// A published key.
    public struct Published: Sendable {
        /// What a published key is for.
        public enum Role: String, Sendable, CaseIterable {
            /// It signs.
            case signing
            /// It will sign after the next change.
            case next
            /// It has signed, and what it signed is still accepted.
            case old
        }

        /// The key, whose id is its `kid`.
        public let key: SigningKey
        /// What it is for.
        public let role: Role
    }

    /// The issuer's name in control calls.
    public let name: String
    /// What the keys sign with.
    public let algorithm: Algorithm
    /// The key that signs.
    public private(set) var signing: SigningKey
    /// The key that is already published and will sign next; `nil` for issuers that announce none.
    public private(set) var next: SigningKey?
    /// The keys that signed before and are still published, latest first.
    public private(set) var old: [SigningKey] = []
    /// Whether fetching the published keys returns an error.
    public private(set) var isBroken = false
    /// How often the published keys were fetched.
    public private(set) var fetchCount = 0
    private var spares: [SigningKey]
    /// ours: a limit, so that drills in a loop cannot exhaust the memory.
    private static let mostOld = 16

    /// Creates an issuer's initial keys.
    ///
    /// - Parameters:
    ///   - name: the issuer's name in control calls.
    ///   - signing: the key that signs; all keys have ids.
    ///   - next: the key that will sign next, for issuers that announce it.
    ///   - spares: key pairs made in advance, so that drills need not wait for new ones.
    public init(
        name: String, algorithm: Algorithm, signing: SigningKey, next: SigningKey? = nil, spares: [SigningKey] = []
    ) {
        self.name = name
        self.algorithm = algorithm
        self.signing = signing
        self.next = next
        self.spares = spares
    }

    /// The published keys with their roles, the signing one first.
    public var published: [Published] {
        [Published(key: signing, role: .signing)] + [next].compactMap { $0.map { Published(key: $0, role: .next) } }
            + old.map { Published(key: $0, role: .old) }
    }

    /// The published keys as a JWKS (RFC 7517 section 5), public parts only.
    public var keySet: JSON {
        ["keys": .array(published.compactMap { $0.key.publicJWK(algorithm: algorithm) })]
    }

    /// Counts a request for the published keys.
    ///
    /// - Returns: the JWKS; `nil` while it is broken, when the vendor answers with its error.
    public mutating func fetch() -> JSON? {
        fetchCount = Ordinal.next(after: fetchCount)
        if isBroken { return nil }
        return keySet
    }

    /// The published key with that id.
    public func key(withID id: String) -> SigningKey? { published.first { $0.key.id == id }?.key }
}

// MARK: - Drills

extension IssuerKeys {
    /// Whether a drill must wait for a key pair to be generated.
    public func mustWait(for drill: KeyDrill) -> Bool { drill.needsPair && spares.isEmpty }

    /// Performs a drill.
    ///
    /// - Parameters:
    ///   - pair: an unused key pair, for when there is no spare one.
    ///   - identifiers: the source of a new key's id, so that a seed reproduces it.
    /// - Returns: `false`, without changes, when a pair is needed and none is available.
    public mutating func perform(_ drill: KeyDrill, with pair: SigningKey?, _ identifiers: IdentifierSource) -> Bool {
        switch drill {
        case .retire: old = []
        case .break: isBroken = true
        case .repair: isBroken = false
        case .overlap, .replace, .sameKID:
            guard var fresh = spares.isEmpty ? pair : spares.removeFirst() else { return false }
            // Reusing an id for a new key would be a different drill.
            let isNamed = fresh.id.map { key(withID: $0) == nil } ?? false
            if drill == .sameKID { fresh.id = signing.id } else if !isNamed { fresh.id = identifiers.uuid() }
            take(fresh, drill)
        }
        return true
    }

    /// Replaces everything but the spare pairs.
    mutating func replace(
        signing: SigningKey, next: SigningKey?, old: [SigningKey], isBroken: Bool, fetchCount: Int
    ) {
        (self.signing, self.next, self.isBroken, self.fetchCount) = (signing, next, isBroken, fetchCount)
        self.old = Array(old.prefix(Self.mostOld))
    }

    private mutating func take(_ fresh: SigningKey, _ drill: KeyDrill) {
        switch drill {
        case .sameKID: signing = fresh
        case .replace, .overlap, .retire, .break, .repair:
            old = drill == .overlap ? Array(([signing] + old).prefix(Self.mostOld)) : []
            // A next key that was announced signs now, and the new one is announced.
            (signing, next) = next.map { ($0, fresh) } ?? (fresh, nil)
        }
    }
}
