import COpenSSL
public import JSON

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

extension VerificationKey {
    /// The keys of all blocks of a PEM text, in order: `PUBLIC KEY`, `RSA PUBLIC KEY` and `CERTIFICATE`.
    ///
    /// A certificate is only a container for a key: signature, chain and names are not checked, its dates are kept.
    ///
    /// - Throws: ``KeyError/privateKey`` for a private block, ``KeyError/noKeyInPEM`` when there is no block.
    public static func pem(_ text: String, id: String? = nil) throws(KeyError) -> [VerificationKey] {
        try pem(Array(text.utf8), id: id)
    }

    /// The keys of all blocks of a PEM text, given as bytes.
    public static func pem(_ text: [UInt8], id: String? = nil) throws(KeyError) -> [VerificationKey] {
        var keys: [VerificationKey] = []
        for block in try PEM.blocks(of: text) {
            if let key = try key(of: block, id: id) { keys.append(key) }
        }
        guard !keys.isEmpty else { throw .unreadable(.noKeyInPEM, text) }
        return keys
    }

    private static func key(of block: PEM.Block, id: String?) throws(KeyError) -> VerificationKey? {
        do throws(KeyError) {
            switch block.label {
            case "PUBLIC KEY": return VerificationKey(try DERKey.publicKey(block.bytes), id: id)
            case "RSA PUBLIC KEY": return VerificationKey(try DERKey.rsaPublicKey(block.bytes), id: id)
            case "CERTIFICATE": return try certificate(der: block.bytes, id: id)
            // OpenSSL writes this block before a private key, which names the curve again.
            case "EC PARAMETERS": return nil
            case let label where label.hasSuffix("PRIVATE KEY"): throw .privateKey
            default: throw .unreadable("a PEM block “\(block.label)”")
            }
        } catch .unreadable(let why) {
            throw .unreadable(KeyForm.mistake(inBlock: block.label, block.bytes) ?? why)
        }
    }

    public static func certificate(der bytes: [UInt8], id: String? = nil) throws(KeyError) -> VerificationKey {
        let (key, validity) = try DERKey.certificate(bytes)
        return VerificationKey(key, id: id, validity: validity)
    }

    /// A public key in DER: a SubjectPublicKeyInfo, or the RSAPublicKey of PKCS#1.
    public static func publicKey(der bytes: [UInt8], id: String? = nil) throws(KeyError) -> VerificationKey {
        do throws(KeyError) {
            return VerificationKey(try DERKey.publicKey(bytes), id: id)
        } catch {
            // Bytes that are neither get the SubjectPublicKeyInfo error, the more common form; a key rejected for a
            // reason keeps it.
            guard case .unreadable = error else { throw error }
            guard let key = try rsaKey(der: bytes, id: id) else { throw .unreadable(error, bytes) }
            return key
        }
    }

    private static func rsaKey(der bytes: [UInt8], id: String?) throws(KeyError) -> VerificationKey? {
        do throws(KeyError) {
            return VerificationKey(try DERKey.rsaPublicKey(bytes), id: id)
        } catch .unreadable {
            return nil
        }
    }
}

extension VerificationKey {
    /// The key of a JWK.
    ///
    /// `use` and `key_ops` must allow verifying, `alg` restricts the key, `kid` names it; other members, including
    /// `x5c` and `x5u`, are ignored. RSA numbers may have leading zeros, as published sets do; a point must have its
    /// curve's exact length and lie on the curve.
    ///
    /// - Parameter acceptsPrivate: Whether to accept secrets (`oct`) and keys with private members too.
    /// - Throws: ``KeyError/sharedSecret`` and ``KeyError/privateKey`` for those otherwise.
    /// Source: RFC 7517 section 4, RFC 7518 section 6, RFC 8037 section 2.
    public static func jwk(_ value: JSON, acceptsPrivate: Bool = false) throws(KeyError) -> VerificationKey {
        let jwk = try JWK(value)
        if !acceptsPrivate {
            guard !jwk.isSecret else { throw .sharedSecret }
            guard jwk.privateNames.isEmpty else { throw .privateKey }
        }
        try jwk.checkPurpose("verify")
        let id = try jwk.id()
        let key =
            try jwk.type() == .secret
            ? VerificationKey(try jwk.secret(), id: id) : VerificationKey(try jwk.publicKey(), id: id)
        return key.limited(to: try jwk.algorithms(of: key.kind))
    }
}

public struct CertificateValidity: Sendable, Hashable {
    /// The start, in Unix seconds.
    public let notBefore: Double
    /// The end, in Unix seconds.
    public let notAfter: Double

    /// Whether a time is within the period, both ends included.
    ///
    /// Source: RFC 5280 section 4.1.2.5.
    public func contains(_ moment: Double) -> Bool { notBefore <= moment && moment <= notAfter }

    /// The period for people.
    public var dates: String { "valid from \(UnixTime.text(of: notBefore)) to \(UnixTime.text(of: notAfter))" }

    /// A finding that fails outside the period.
    public func finding(at moment: Double) -> Finding {
        Finding(
            moment < notBefore ? "certificate-not-yet-valid" : "certificate-expired",
            contains(moment) ? .passed : .failed,
            expected: .time(moment < notBefore ? notBefore : notAfter), found: .time(moment),
            source: "RFC 5280 section 4.1.2.5")
    }
}

extension CertificateValidity {
    /// The period of an OpenSSL certificate; `nil` if a date is unreadable.
    init?(certificate: OpaquePointer) {
        guard let start = Self.seconds(of: X509_get0_notBefore(certificate)),
            let end = Self.seconds(of: X509_get0_notAfter(certificate))
        else { return nil }
        self.init(notBefore: start, notAfter: end)
    }

    private static func seconds(of time: UnsafePointer<ASN1_TIME>?) -> Double? {
        var fields = tm()
        guard let time, ASN1_TIME_to_tm(time, &fields) == 1 else { return nil }
        return UnixTime.seconds(
            year: Int(fields.tm_year) + 1900, month: Int(fields.tm_mon) + 1, day: Int(fields.tm_mday),
            hour: Int(fields.tm_hour), minute: Int(fields.tm_min), second: Int(fields.tm_sec))
    }
}
