package import JSON
public import Tokens

/// The keys of an issuer in one sandbox: which one signs, which are published, and how often they were fetched.
///
/// A value type: a vendor keeps it in its state, where drills change it.
public struct IssuerKeys: Sendable {
    package struct Published: Sendable {
        package enum Role: String, Sendable, CaseIterable {
            case signing
            /// It will sign after the next rotation.
            case next
            /// It has signed, and what it signed is still accepted.
            case old
        }

        /// The key, whose id is its `kid`.
        package let key: SigningKey
        package let role: Role
    }

    package enum Naming: Sendable {
        case random
        /// By their SHA-256 thumbprint (RFC 7638).
        case thumbprint
    }

    public let name: String
    public let algorithm: Algorithm
    /// How new keys are named, unless a fixture names them.
    let naming: Naming
    public private(set) var signing: SigningKey
    /// The key that is already published and will sign next; `nil` for issuers that announce none.
    package private(set) var next: SigningKey?
    /// The key that signed before and is still published. Only one: known issuers have an active, a next and an expired
    /// key.
    package private(set) var old: SigningKey?
    package private(set) var isBroken = false
    package private(set) var fetchCount = 0
    /// The keys that are published before any drill.
    private let initial: [SigningKey]
    private let spares: [SigningKey]
    /// How many of the spare pairs drills have used; fixtures may have fewer by now.
    private(set) var usedSpares = 0

    /// Creates an issuer's initial keys, which all have ids.
    ///
    /// - Parameter spares: key pairs made in advance, so that drills need not wait for new ones.
    package init(
        name: String, algorithm: Algorithm, signing: SigningKey, next: SigningKey? = nil, spares: [SigningKey] = [],
        naming: Naming = .random
    ) {
        (self.name, self.naming, self.algorithm, self.signing, self.next) = (name, naming, algorithm, signing, next)
        initial = [signing, next].compactMap(\.self)
        self.spares = spares
    }

    package var published: [Published] {
        [(signing, .signing), (next, .next), (old, .old)].compactMap { key, role in
            key.map { Published(key: $0, role: role) }
        }
    }

    /// The published keys as a JWKS (RFC 7517 section 5), public parts only.
    package var keySet: JSON { ["keys": .array(published.compactMap { $0.key.publicJWK(algorithm: algorithm) })] }

    /// Counts a request for the published keys.
    ///
    /// - Returns: the JWKS; `nil` while it is broken, when the vendor answers with its error.
    package mutating func fetch() -> JSON? {
        fetchCount = Ordinal.next(after: fetchCount)
        if isBroken { return nil }
        return keySet
    }

    /// All keys whose private parts are available: those published now, the initial ones, and the spares.
    var known: [SigningKey] { published.map(\.key) + initial + spares }

    /// A key of the issuer that is not published: a former one, or else an unused spare.
    package var unpublished: SigningKey? {
        (initial + spares.reversed()).first { key in !published.contains { $0.key.thumbprint == key.thumbprint } }
    }

    public func key(withID id: String) -> SigningKey? {
        // Nearly always it is the one that signs, for which no list is built.
        if signing.id?.hasSameBytes(as: id) == true { return signing }
        return published.first { $0.key.id?.hasSameBytes(as: id) == true }?.key
    }

    // MARK: Drills

    package func mustWait(for drill: KeyDrill) -> Bool { drill.needsPair && usedSpares >= spares.count }

    /// - Parameter pair: an unused key pair, for when there is no spare one.
    /// - Returns: `false`, without changes, when a pair is needed and none is available.
    package mutating func perform(_ drill: KeyDrill, with pair: SigningKey?, _ identifiers: IdentifierSource) -> Bool {
        switch drill {
        case .retire: old = nil
        case .break: isBroken = true
        case .repair: isBroken = false
        case .overlap, .replace, .sameKID:
            guard var fresh = spares.dropFirst(usedSpares).first ?? pair else { return false }
            if usedSpares < spares.count { usedSpares += 1 }
            if drill == .sameKID {
                fresh.id = signing.id
                signing = fresh
                return true
            }
            // Reusing an id for a new key would be a different drill.
            let isNamed = fresh.id.map { key(withID: $0) == nil } ?? false
            // Only a secret has no thumbprint, and secrets are not published.
            let thumbprint = naming == .thumbprint ? fresh.thumbprint : nil
            if !isNamed { fresh.id = thumbprint ?? identifiers.uuid() }
            old = drill == .overlap ? signing : nil
            // An announced next key signs now, and the new one is announced.
            (signing, next) = next.map { ($0, fresh) } ?? (fresh, nil)
        }
        return true
    }

    static let members = ["issuer", "broken", "fetches", "used_spares", "keys"]

    /// The keys as JSON that ``imported(from:_:)`` reads: public parts, and with ``StateExtent/changes`` the private
    /// ones too.
    package func export(_ extent: StateExtent) -> JSON {
        let keys = published.map { entry -> JSON in
            var members: JSONObject = [
                "kid": JSON(entry.key.id), "role": .string(entry.role.rawValue),
                "jwk": entry.key.publicJWK(algorithm: algorithm) ?? .null,
            ]
            if extent == .changes { members["private_key"] = JSON(entry.key.privatePEM) }
            return .object(members)
        }
        var record: JSONObject = ["issuer": .string(name), "broken": .bool(isBroken), "fetches": JSON(fetchCount)]
        if usedSpares > 0 { record["used_spares"] = JSON(usedSpares) }
        record["keys"] = .array(keys)
        return .object(record)
    }

    /// These keys as an export describes them; a key without its private part must be known here.
    ///
    /// - Throws: the first problem with the export, such as a key whose private part is unknown.
    package func imported(from node: FixtureNode, _ extent: StateExtent) throws(FixtureProblem) -> IssuerKeys {
        let record = try node.mapping(Self.members)
        var (signing, next, old): (SigningKey?, SigningKey?, SigningKey?) = (nil, nil, nil)
        let entries = try record.required("keys")
        for element in try entries.elements(atMost: 18) {
            let entry = try element.mapping("kid", "role", "jwk", "private_key")
            let role = try entry.required("role").choice(of: Published.Role.self)
            // Earlier releases kept sixteen old keys, latest first.
            if role == .old, old != nil { continue }
            let key = try key(entry)
            switch role {
            case .signing:
                if signing != nil { throw element.problem("a second key that signs; expected one") }
                signing = key
            case .next:
                if next != nil { throw element.problem("a second key that signs next; expected one at most") }
                next = key
            case .old: old = key
            }
        }
        guard let signing else { throw entries.problem("no key has the role signing") }
        var keys = self
        (keys.signing, keys.next, keys.old) = (signing, next, old)
        keys.isBroken = try record["broken"]?.bool() ?? isBroken
        keys.fetchCount = try record["fetches"]?.int(in: 0...Ordinal.largest) ?? fetchCount
        let used = try record["used_spares"]?.int(in: 0...Ordinal.largest) ?? 0
        // Files of earlier releases do not count them, and no published pair is a spare one.
        let published = Set(keys.published.map(\.key.thumbprint))
        let last = spares.lastIndex { published.contains($0.thumbprint) }
        keys.usedSpares = max(used, last.map { $0 + 1 } ?? 0)
        return keys
    }

    private func key(_ entry: FixtureMapping) throws(FixtureProblem) -> SigningKey {
        let name = try entry.required("kid")
        let id = try name.json().isNull ? nil : try name.string()
        guard let text = entry["private_key"] else { return try known(id, entry["jwk"], name) }
        let pem = try text.string()
        do throws(KeyError) { return try SigningKey.pem(pem, id: id) } catch { throw text.problem(error.inPEM) }
    }

    /// The known key with that public part, since a drill may have given its id to another one; without a public part
    /// the one with that id.
    private func known(_ id: String?, _ jwk: FixtureNode?, _ name: FixtureNode) throws(FixtureProblem) -> SigningKey {
        let thumbprint = try jwk?.publicKey()?.thumbprint
        let found = known.first { key in
            if let thumbprint { return key.thumbprint == thumbprint }
            return key.id.map(ExactText.init) == id.map(ExactText.init)
        }
        guard var found else {
            throw name.problem("no private key with the id \(id ?? "null") is known, and the export has none")
        }
        found.id = id
        return found
    }
}

extension FixtureNode {
    /// The key of a public JWK; `nil` for `null`.
    fileprivate func publicKey() throws(FixtureProblem) -> VerificationKey? {
        let value = try json()
        if value.isNull { return nil }
        do throws(KeyError) {
            return try VerificationKey.jwk(value)
        } catch {
            throw problem("is not a public key as a JWK: \(error)")
        }
    }
}

extension RecordCoder {
    /// The keys of issuers that drills have changed, by their names.
    ///
    /// - Parameter current: returns the present keys of the issuer with that name; `nil` if there is none. They
    ///   complete an export without private parts.
    package mutating func issuerKeys(
        _ name: String, _ changed: inout [String: IssuerKeys], of kind: String, named names: [String],
        current: (String) throws(ControlRefusal) -> IssuerKeys?
    ) {
        let extent = extent ?? .changes
        let exports = elements { changed.values.sorted { $0.name < $1.name }.map { $0.export(extent) } }
        var read: Set<String> = []
        list(name, exports) { (node) throws(FixtureProblem) in
            let issuer = try node.mapping(IssuerKeys.members).required("issuer")
            let name = try issuer.string()
            guard let known = try issuer.locate({ () throws(ControlRefusal) in try current(name) }) else {
                throw issuer.problem("no \(kind) is called \(name)\(Nearest.hint(to: name, among: names))")
            }
            guard read.insert(name).inserted else { throw issuer.problem("\(kind) \(name) occurs twice") }
            changed[known.name] = try known.imported(from: node, extent)
        }
    }
}
