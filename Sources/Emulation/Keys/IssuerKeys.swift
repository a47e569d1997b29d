package import JSON
public import Tokens

/// The keys of an issuer in one sandbox: which one signs, which are published, and how often they were fetched.
///
/// A value type: a vendor keeps it in its state, where drills change it.
public struct IssuerKeys: Sendable {
    package struct Published: Sendable {
        /// What a published key is for.
        package enum Role: String, Sendable, CaseIterable {
            case signing
            /// It will sign after the next change.
            case next
            /// It has signed, and what it signed is still accepted.
            case old
        }

        /// The key, whose id is its `kid`.
        package let key: SigningKey
        package let role: Role
    }

    /// How new keys are named.
    package enum Naming: Sendable {
        case random
        /// By their SHA-256 thumbprint (RFC 7638).
        case thumbprint
    }

    /// The issuer's name in control calls.
    public let name: String
    public let algorithm: Algorithm
    /// How new keys are named, unless a fixture names them.
    let naming: Naming
    public private(set) var signing: SigningKey
    /// The key that is already published and will sign next; `nil` for issuers that announce none.
    package private(set) var next: SigningKey?
    /// The key that signed before and is still published. One, as issuers show that have an active, a next and an
    /// expired key.
    package private(set) var old: SigningKey?
    /// Whether fetching the published keys returns an error.
    package private(set) var isBroken = false
    /// How often the published keys were fetched.
    package private(set) var fetchCount = 0
    /// The keys that are published before any drill.
    private let initial: [SigningKey]
    private let spares: [SigningKey]
    /// How many of the spare pairs drills have used; fixtures may have fewer by now.
    private(set) var usedSpares = 0

    /// Creates an issuer's initial keys.
    ///
    /// - Parameters:
    ///   - name: the issuer's name in control calls.
    ///   - signing: the key that signs; all keys have ids.
    ///   - next: the key that will sign next, for issuers that announce it.
    ///   - spares: key pairs made in advance, so that drills need not wait for new ones.
    ///   - naming: how keys are named that no fixture names.
    package init(
        name: String, algorithm: Algorithm, signing: SigningKey, next: SigningKey? = nil, spares: [SigningKey] = [],
        naming: Naming = .random
    ) {
        self.name = name
        self.naming = naming
        self.algorithm = algorithm
        self.signing = signing
        self.next = next
        initial = [signing, next].compactMap(\.self)
        self.spares = spares
    }

    /// The published keys with their roles, the signing one first.
    package var published: [Published] {
        [(signing, .signing), (next, .next), (old, .old)].compactMap { key, role in
            key.map { Published(key: $0, role: role) }
        }
    }

    /// The published keys as a JWKS (RFC 7517 section 5), public parts only.
    package var keySet: JSON {
        ["keys": .array(published.compactMap { $0.key.publicJWK(algorithm: algorithm) })]
    }

    /// Counts a request for the published keys.
    ///
    /// - Returns: the JWKS; `nil` while it is broken, when the vendor answers with its error.
    package mutating func fetch() -> JSON? {
        fetchCount = Ordinal.next(after: fetchCount)
        if isBroken { return nil }
        return keySet
    }

    /// All keys whose private parts are at hand: those published now, those at the beginning, and the spare ones.
    var known: [SigningKey] { published.map(\.key) + initial + spares }

    /// A key of the issuer that is not published: one that left, else a spare one that nobody has seen.
    package var unpublished: SigningKey? {
        (initial + spares.reversed()).first { key in !published.contains { $0.key.thumbprint == key.thumbprint } }
    }

    public func key(withID id: String) -> SigningKey? {
        // Nearly always it is the one that signs, for which no list is made.
        if signing.id?.hasSameBytes(as: id) == true { return signing }
        return published.first { $0.key.id?.hasSameBytes(as: id) == true }?.key
    }
}

// MARK: - Drills

extension IssuerKeys {
    package func mustWait(for drill: KeyDrill) -> Bool { drill.needsPair && usedSpares >= spares.count }

    /// Performs a drill.
    ///
    /// - Parameters:
    ///   - pair: an unused key pair, for when there is no spare one.
    ///   - identifiers: the source of a new key's id, so that a seed reproduces it.
    /// - Returns: `false`, without changes, when a pair is needed and none is available.
    package mutating func perform(_ drill: KeyDrill, with pair: SigningKey?, _ identifiers: IdentifierSource) -> Bool {
        switch drill {
        case .retire: old = nil
        case .break: isBroken = true
        case .repair: isBroken = false
        case .overlap, .replace, .sameKID:
            guard var fresh = spares.dropFirst(usedSpares).first ?? pair else { return false }
            if usedSpares < spares.count { usedSpares += 1 }
            // Reusing an id for a new key would be a different drill.
            let isNamed = fresh.id.map { key(withID: $0) == nil } ?? false
            if drill == .sameKID { fresh.id = signing.id } else if !isNamed { fresh.id = name(of: fresh, identifiers) }
            take(fresh, drill)
        }
        return true
    }

    private func name(of key: SigningKey, _ identifiers: IdentifierSource) -> String {
        switch naming {
        case .random: identifiers.uuid()
        // Only a secret has none, and secrets are not published.
        case .thumbprint: key.thumbprint ?? identifiers.uuid()
        }
    }

    /// Replaces everything but the spare pairs themselves.
    mutating func replace(
        signing: SigningKey, next: SigningKey?, old: SigningKey?, isBroken: Bool, fetchCount: Int, usedSpares: Int
    ) {
        (self.signing, self.next, self.old) = (signing, next, old)
        (self.isBroken, self.fetchCount) = (isBroken, fetchCount)
        // Files of earlier releases do not count them, and no published pair is a spare one.
        let published = Set(published.map(\.key.thumbprint))
        let last = spares.lastIndex { published.contains($0.thumbprint) }
        self.usedSpares = max(usedSpares, last.map { $0 + 1 } ?? 0)
    }

    private mutating func take(_ fresh: SigningKey, _ drill: KeyDrill) {
        switch drill {
        case .sameKID: signing = fresh
        case .replace, .overlap, .retire, .break, .repair:
            old = drill == .overlap ? signing : nil
            // A next key that was announced signs now, and the new one is announced.
            (signing, next) = next.map { ($0, fresh) } ?? (fresh, nil)
        }
    }
}
