internal import COpenSSL

/// A key that signs tokens: an HMAC secret or a private key.
///
/// It prints as its kind and name; only ``privatePEM`` reveals the secret part.
public struct SigningKey: Sendable {
    enum Material: Sendable {
        case secret(MACKey)
        case privateKey(AsymmetricKey)
    }

    /// The key's name (`kid`).
    public var id: String?
    public let kind: KeyKind
    let material: Material

    public var algorithms: [Algorithm] { kind.algorithms }

    init(_ key: AsymmetricKey, id: String?) throws(KeyError) {
        guard key.hasPrivatePart else { throw .notPrivate }
        self.id = id
        kind = key.kind
        material = .privateKey(key)
    }

    /// An HMAC secret, taken byte for byte.
    public static func secret(_ bytes: [UInt8], id: String? = nil) throws(KeyError) -> SigningKey {
        guard !bytes.isEmpty else { throw .emptySecret }
        return SigningKey(secret: MACKey(secret: bytes), id: id)
    }

    /// An HMAC secret: the UTF-8 bytes of a text, not decoded.
    public static func secret(_ text: String, id: String? = nil) throws(KeyError) -> SigningKey {
        try secret(Array(text.utf8), id: id)
    }

    private init(secret: MACKey, id: String?) {
        self.id = id
        kind = .secret(byteCount: secret.secret.count)
        material = .secret(secret)
    }

    /// Lets OpenSSL find what RSA keys need, for which the first key of a process waits otherwise.
    package static func prepare() {
        OpenSSL.run { EVP_PKEY_CTX_free(EVP_PKEY_CTX_new_from_name(nil, "RSA", nil)) }
    }

    /// The first private key of a PEM text: `PRIVATE KEY`, `RSA PRIVATE KEY` or `EC PRIVATE KEY`, without a password.
    public static func pem(_ text: String, id: String? = nil) throws(KeyError) -> SigningKey {
        for block in try PEM.blocks(of: Array(text.utf8)) {
            switch block.label {
            case "ENCRYPTED PRIVATE KEY": throw .encryptedPrivateKey
            case let label where label.hasSuffix("PRIVATE KEY"):
                guard block.headers.isEmpty else { throw .encryptedPrivateKey }
                return try SigningKey(try DERKey.privateKey(block.bytes), id: id)
            case "PUBLIC KEY", "RSA PUBLIC KEY", "CERTIFICATE": throw .notPrivate
            default: continue
            }
        }
        throw .noKeyInPEM
    }

    /// The signature in JWS form.
    ///
    /// HMAC, RS and Ed25519 are deterministic; PS and ES are randomized.
    ///
    /// - Throws: ``KeyError/algorithm(_:)`` when this kind of key does not support the algorithm.
    public func sign(_ signingInput: [UInt8], algorithm: Algorithm) throws(KeyError) -> [UInt8] {
        guard algorithms.contains(algorithm) else { throw .algorithm(algorithm.rawValue) }
        let signature =
            switch material {
            case .secret(let key): key.code(for: signingInput, algorithm: algorithm)
            case .privateKey(let key): key.sign(signingInput, algorithm: algorithm).flatMap(kind.joseForm(of:))
            }
        guard let signature else { throw .unreadable("OpenSSL does not sign with it") }
        return signature
    }

    /// Whether both are the same key in memory, so that what one has verified need not be verified with the other; equal
    /// keys that were read twice are not.
    package func isIdentical(to other: SigningKey) -> Bool {
        switch (material, other.material) {
        case (.secret(let key), .secret(let other)): key === other
        case (.privateKey(let key), .privateKey(let other)): key === other
        case (.secret, .privateKey), (.privateKey, .secret): false
        }
    }

    public var verificationKey: VerificationKey {
        switch material {
        case .secret(let key): VerificationKey(key, id: id)
        case .privateKey(let key): VerificationKey(key, id: id)
        }
    }
}

extension SigningKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Kind and name; never the secret.
    public var description: String { id.map { "\(kind) “\($0)”" } ?? kind.description }

    public var debugDescription: String { description }

    /// No children, so that printing by reflection reveals no secret.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
