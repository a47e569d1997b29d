public import JSON

/// The usable keys of a JWKS (RFC 7517 section 5), and what was left out.
public struct KeySet: Sendable {
    /// A key that was left out.
    public struct Skipped: Sendable, Hashable {
        /// Its place in the set, counted from 0.
        public let index: Int
        /// Its `kid`, where it has one.
        public let id: String?
        /// Why it was left out.
        public let reason: KeyError
    }

    /// The usable keys, in the set's order.
    public private(set) var keys: [VerificationKey] = []
    /// The others: RFC 7517 section 5 asks to ignore what one does not understand.
    public private(set) var skipped: [Skipped] = []

    /// A set of keys that came from elsewhere.
    public init(keys: [VerificationKey]) {
        self.keys = keys
    }

    /// Reads a JWKS; it may turn out to have no usable key.
    ///
    /// - Parameter acceptsPrivate: Whether secrets (`oct`) and keys with private members are taken; a set that was
    ///   fetched or handed in for verification should have none, and they are skipped as ``KeyError/sharedSecret`` and
    ///   ``KeyError/privateKey``.
    /// - Throws: ``KeyError/unreadable(_:)`` when the value is no object with an array `keys`.
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

    /// The first key of that name, compared byte for byte.
    public func key(withID id: String) -> VerificationKey? {
        keys.first { $0.id?.hasSameBytes(as: id) == true }
    }

    /// Whether any key has a name.
    public var hasIDs: Bool { keys.contains { $0.id != nil } }

    /// Names that more than one key has, each once.
    public var duplicateIDs: [String] {
        JSONObject(keys.compactMap(\.id).map { ($0, JSON.null) }).duplicateNames
    }

    /// A JWKS whose shared secrets (`oct`) have lost their bytes, for whoever keeps what is public of it.
    public static func withoutSecrets(_ jwks: JSON) -> JSON {
        guard var set = jwks.object, let keys = jwks["keys"]?.array else { return jwks }
        set["keys"] = .array(
            keys.map { key in
                guard var members = key.object, JWK.isSecret(members) else { return key }
                members["k"] = nil
                return .object(members)
            })
        return .object(set)
    }

    /// The names of private members (`d`, `p`, `q`, …) in a JWK or a JWKS, each once.
    ///
    /// - Parameter countsSecrets: Whether the `k` of a shared secret (`oct`) is one of them.
    public static func privateMembers(in value: JSON, countsSecrets: Bool = true) -> [String] {
        let objects = (value["keys"]?.array ?? [value]).compactMap(\.object)
            .filter { countsSecrets || !JWK.isSecret($0) }
        return JWK.privateMembers.filter { name in objects.contains { $0[name] != nil } }
    }
}
