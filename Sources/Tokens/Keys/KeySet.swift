public import JSON

/// The usable keys of a JWKS (RFC 7517 section 5), and those skipped.
public struct KeySet: Sendable {
    public struct Skipped: Sendable, Hashable {
        public let index: Int
        /// Its `kid`, if present.
        public let id: String?
        /// Why it was skipped.
        public let reason: KeyError
    }

    /// The usable keys, in the order of the set.
    public private(set) var keys: [VerificationKey] = []
    /// The other keys: RFC 7517 section 5 says to ignore those that are not understood.
    public private(set) var skipped: [Skipped] = []

    public init(keys: [VerificationKey]) {
        self.keys = keys
    }

    /// Reads a JWKS; the result may have no usable key.
    ///
    /// - Parameter acceptsPrivate: Whether to accept secrets (`oct`) and keys with private members. Otherwise they are
    ///   skipped as ``KeyError/sharedSecret`` and ``KeyError/privateKey``, since a set for verification should have
    ///   none.
    /// - Throws: ``KeyError/unreadable(_:)`` when the value is not an object with an array `keys`.
    public init(jwks: JSON, acceptsPrivate: Bool = false) throws(KeyError) {
        guard let elements = jwks["keys"]?.array else {
            throw .unreadable("a JWKS is a JSON object with an array “keys”")
        }
        for (index, element) in elements.enumerated() {
            do throws(KeyError) {
                keys.append(try VerificationKey.jwk(element, acceptsPrivate: acceptsPrivate))
            } catch {
                skipped.append(Skipped(index: index, id: element["kid"]?.string, reason: error))
            }
        }
    }

    /// The first key with that `kid`, compared byte for byte.
    public func key(withID id: String) -> VerificationKey? {
        keys.first { $0.id?.hasSameBytes(as: id) == true }
    }

    /// Whether any key has a `kid`.
    public var hasIDs: Bool { keys.contains { $0.id != nil } }

    /// The JWKS without the bytes of its shared secrets (`oct`), so that only public parts remain.
    package static func withoutSecrets(_ jwks: JSON) -> JSON {
        guard var set = jwks.object, let keys = jwks["keys"]?.array else { return jwks }
        set["keys"] = .array(
            keys.map { key in
                guard var members = key.object, JWK.isSecret(members) else { return key }
                members["k"] = nil
                return .object(members)
            })
        return .object(set)
    }

    /// The names of private members (`d`, `p`, `q`, …) in a JWK or a JWKS, each listed once.
    ///
    /// - Parameter countsSecrets: Whether the `k` of a shared secret (`oct`) counts.
    package static func privateMembers(in value: JSON, countsSecrets: Bool = true) -> [String] {
        let objects = (value["keys"]?.array ?? [value]).compactMap(\.object)
            .filter { countsSecrets || !JWK.isSecret($0) }
        return JWK.privateMembers.filter { name in objects.contains { $0[name] != nil } }
    }
}
