/// A key that verifies signatures.
///
/// The key and its user fix the algorithm, never the token: only ``algorithms`` are used, and a public key can never
/// serve as an HMAC secret.
public struct VerificationKey: Sendable {
    enum Material: Sendable {
        case secret(MACKey)
        case publicKey(AsymmetricKey)
    }

    /// The key's name (`kid`), if its source has one.
    public var id: String?
    public let kind: KeyKind
    /// The algorithms it may verify: those of its kind, restricted by its JWK's `alg` or by its user.
    public private(set) var algorithms: [Algorithm]
    /// The validity period of the certificate that contained it; not enforced here.
    public let validity: CertificateValidity?

    let material: Material

    init(_ key: AsymmetricKey, id: String? = nil, validity: CertificateValidity? = nil) {
        self.id = id
        kind = key.kind
        algorithms = key.kind.algorithms
        self.validity = validity
        material = .publicKey(key)
    }

    init(_ key: MACKey, id: String? = nil) {
        self.id = id
        kind = .secret(byteCount: key.secret.count)
        algorithms = kind.algorithms
        validity = nil
        material = .secret(key)
    }

    /// An HMAC secret, taken byte for byte.
    ///
    /// Short secrets are accepted, although RFC 7518 section 3.2 requires as many bytes as the hash has; see
    /// ``strengthFinding(for:)``.
    public static func secret(_ bytes: [UInt8], id: String? = nil) throws(KeyError) -> VerificationKey {
        guard !bytes.isEmpty else { throw .emptySecret }
        return VerificationKey(MACKey(secret: bytes), id: id)
    }

    /// An HMAC secret: the UTF-8 bytes of a text, not decoded.
    public static func secret(_ text: String, id: String? = nil) throws(KeyError) -> VerificationKey {
        try secret(Array(text.utf8), id: id)
    }

    /// The same key restricted to these algorithms; unsupported ones are ignored.
    public func limited(to allowed: [Algorithm]) -> VerificationKey {
        var key = self
        key.algorithms.removeAll { !allowed.contains($0) }
        return key
    }

    /// Whether the signature is valid; false for algorithms outside ``algorithms`` and for a wrong length. HMACs are
    /// compared in constant time.
    public func isValid(signature: [UInt8], for signingInput: [UInt8], algorithm: Algorithm) -> Bool {
        isValid(signature: signature, for: signingInput[...], algorithm: algorithm)
    }

    func isValid(signature: [UInt8], for signingInput: ArraySlice<UInt8>, algorithm: Algorithm) -> Bool {
        guard algorithms.contains(algorithm) else { return false }
        switch material {
        case .secret(let key):
            return key.verifies(signature, of: signingInput, algorithm: algorithm)
        case .publicKey(let key):
            guard let encoded = key.kind.openSSLForm(of: signature) else { return false }
            return key.verifies(encoded, of: signingInput, algorithm: algorithm)
        }
    }

    /// A remark on an HMAC secret shorter than its hash, otherwise `nil`.
    ///
    /// Source: RFC 7518 section 3.2. Only a remark, since a vendor's own sample key has six bytes.
    public func strengthFinding(for algorithm: Algorithm) -> Finding? {
        guard case .secret(let byteCount) = kind, let needed = algorithm.hashByteCount, byteCount < needed else {
            return nil
        }
        return Finding(
            "secret-length", .noted, expected: .count(needed), found: .count(byteCount),
            note: "The secret has fewer bytes than the hash; it can be guessed more easily than the hash broken.",
            source: "RFC 7518 section 3.2")
    }
}

extension VerificationKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Kind and name; never a secret.
    public var description: String { id.map { "\(kind) “\($0)”" } ?? kind.description }

    public var debugDescription: String { description }

    /// No children, so that printing by reflection reveals no secret.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
