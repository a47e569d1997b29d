public import JSON

/// Reads a JSON Web Key (RFC 7517, RFC 7518 section 6, RFC 8037 section 2).
struct JWK {
    let members: JSONObject

    /// The private members (RFC 7518 sections 6.2.2, 6.3.2 and 6.4.1).
    static let privateMembers = ["d", "p", "q", "dp", "dq", "qi", "oth", "k"]

    init(_ value: JSON) throws(KeyError) {
        guard let members = value.object else { throw .unreadable("a JWK is a JSON object, not \(value.typeName)") }
        // RFC 7517 section 4 leaves duplicates to the reader; two readers must not see two keys.
        if let name = members.duplicateNames.first { throw .member(name, "occurs twice") }
        self.members = members
    }

    var privateNames: [String] { Self.privateMembers.filter { members[$0] != nil } }

    /// Whether it is a shared secret, even without its bytes.
    var isSecret: Bool { Self.isSecret(members) }

    static func isSecret(_ members: JSONObject) -> Bool {
        members["kty"]?.string?.hasSameBytes(as: KeyType.secret.rawValue) == true
    }

    /// The `kid`; optional.
    func id() throws(KeyError) -> String? {
        guard let value = members["kid"] else { return nil }
        guard let id = value.string else { throw .member("kid", "is \(value.typeName), not a string") }
        return id
    }

    func string(_ name: String) throws(KeyError) -> String {
        guard let value = members[name] else { throw .member(name, "is absent") }
        guard let string = value.string else { throw .member(name, "is \(value.typeName), not a string") }
        return string
    }

    func bytes(_ name: String) throws(KeyError) -> [UInt8] {
        let text = try string(name)
        do {
            return try Base64URL.decode(text.utf8)
        } catch {
            throw .member(name, "is not base64url: \(error)")
        }
    }

    /// Bytes of an exact length (RFC 7518 section 6.2.1.2: no leading zeros dropped or added).
    func bytes(_ name: String, count: Int) throws(KeyError) -> [UInt8] {
        let bytes = try bytes(name)
        guard bytes.count == count else { throw .member(name, "has \(bytes.count) bytes; expected \(count)") }
        return bytes
    }

    /// Checks that `use` and `key_ops`, if present, allow the operation.
    ///
    /// Source: RFC 7517 sections 4.2 and 4.3.
    func checkPurpose(_ operation: String) throws(KeyError) {
        if let use = members["use"], use.string?.hasSameBytes(as: "sig") != true {
            throw .purpose("use is \(use.text), expected \"sig\"")
        }
        guard let operations = members["key_ops"] else { return }
        guard let names = operations.array, names.contains(where: { $0.string?.hasSameBytes(as: operation) == true })
        else { throw .purpose("key_ops is \(operations.text), expected an array with \"\(operation)\"") }
    }

    /// The algorithm in `alg`, otherwise all that the kind supports.
    ///
    /// Source: RFC 7517 section 4.4.
    func algorithms(of kind: KeyKind) throws(KeyError) -> [Algorithm] {
        guard let value = members["alg"] else { return kind.algorithms }
        guard let name = value.string else { throw .member("alg", "is \(value.typeName), not a string") }
        guard let algorithm = Algorithm(named: name), kind.algorithms.contains(algorithm) else {
            throw .algorithm(name)
        }
        return [algorithm]
    }

    /// Key types (RFC 7518 section 6.1, RFC 8037 section 2).
    enum KeyType: String, CaseIterable {
        case rsa = "RSA"
        case ec = "EC"
        case octetPair = "OKP"
        case secret = "oct"
    }

    /// The type, compared byte for byte: with `==`, the Kelvin sign in “OKP” is a K.
    func type() throws(KeyError) -> KeyType {
        let name = try string("kty")
        guard let type = KeyType.allCases.first(where: { $0.rawValue.hasSameBytes(as: name) }) else {
            throw .unsupportedType(name)
        }
        return type
    }

    func curve() throws(KeyError) -> KeyKind.Curve {
        let name = try string("crv")
        guard let curve = KeyKind.Curve.allCases.first(where: { $0.rawValue.hasSameBytes(as: name) }) else {
            throw .unsupportedCurve(name)
        }
        return curve
    }

    /// Checks that an octet key pair is Ed25519.
    func checkEdwardsCurve() throws(KeyError) {
        let name = try string("crv")
        guard name.hasSameBytes(as: "Ed25519") else { throw .unsupportedCurve(name) }
    }

    func secret() throws(KeyError) -> MACKey {
        let secret = try bytes("k")
        guard !secret.isEmpty else { throw .emptySecret }
        if let algorithm = members["alg"]?.string.flatMap(Algorithm.init(named:)), let needed = algorithm.hashByteCount,
            algorithm.family == .hmac, secret.count < needed
        {
            throw .member(
                "k", "has \(secret.count) bytes; its alg \(algorithm.rawValue) needs \(needed) (RFC 7518 section 3.2)")
        }
        return MACKey(secret: secret)
    }

    /// The public key; private members are ignored.
    func publicKey() throws(KeyError) -> AsymmetricKey {
        switch try type() {
        case .rsa: return try KeyBuilder.rsa(modulus: try bytes("n"), exponent: try bytes("e"))
        case .ec:
            let curve = try curve()
            let x = try bytes("x", count: curve.byteCount)
            return try KeyBuilder.ec(curve, x: x, y: try bytes("y", count: curve.byteCount), scalar: nil)
        case .octetPair:
            try checkEdwardsCurve()
            return try KeyBuilder.ed25519(publicPoint: try bytes("x", count: 32))
        case .secret: throw .unsupportedType("oct")
        }
    }

    /// The private key; its public part must match.
    func privateKey() throws(KeyError) -> AsymmetricKey {
        guard members["d"] != nil else { throw .notPrivate }
        switch try type() {
        case .rsa:
            var numbers: [[UInt8]] = []
            for name in ["n", "e", "d", "p", "q", "dp", "dq", "qi"] { numbers.append(try bytes(name)) }
            return try KeyBuilder.rsa(privateNumbers: numbers)
        case .ec:
            let curve = try curve()
            let x = try bytes("x", count: curve.byteCount)
            let y = try bytes("y", count: curve.byteCount)
            return try KeyBuilder.ec(curve, x: x, y: y, scalar: try bytes("d", count: curve.byteCount))
        case .octetPair:
            try checkEdwardsCurve()
            let key = try KeyBuilder.ed25519(seed: try bytes("d", count: 32))
            guard KeyInspection(key: key.pointer).publicPoint() == (try bytes("x", count: 32)) else {
                throw .partsDisagree
            }
            return key
        case .secret: throw .unsupportedType("oct")
        }
    }
}

/// The usable keys of a JWKS (RFC 7517 section 5), and those skipped.
public struct KeySet: Sendable {
    public struct Skipped: Sendable, Hashable {
        public let index: Int
        /// Its `kid`, if present.
        public let id: String?
        public let reason: KeyError

        /// `key 2 “id”`, as people are told of it.
        package var name: String { "key \(index)" + (id.map { " “\($0.prefix(100))”" } ?? "") }

        package var finding: Finding { Finding("key-left-out", .noted, found: .text(name), note: "\(reason)") }
    }

    /// The usable keys, in the order of the set.
    public private(set) var keys: [VerificationKey] = []
    /// The other keys: RFC 7517 section 5 says to ignore those that are not understood.
    public private(set) var skipped: [Skipped] = []

    public init(keys: [VerificationKey]) { self.keys = keys }

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
    public func key(withID id: String) -> VerificationKey? { keys.first { $0.id?.hasSameBytes(as: id) == true } }

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
