import COpenSSL
public import JSON

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

    /// The first private key of a PEM text: `PRIVATE KEY`, `RSA PRIVATE KEY` or `EC PRIVATE KEY`, without a password.
    public static func pem(_ text: String, id: String? = nil) throws(KeyError) -> SigningKey {
        for block in try PEM.blocks(of: Array(text.utf8)) {
            switch block.label {
            case "ENCRYPTED PRIVATE KEY": throw .encryptedPrivateKey
            case "OPENSSH PRIVATE KEY": throw .unreadable(KeyForm.mistake(inBlock: block.label) ?? block.label)
            case let label where label.hasSuffix("PRIVATE KEY"):
                guard block.headers.isEmpty else { throw .encryptedPrivateKey }
                return try SigningKey(try DERKey.privateKey(block.bytes), id: id)
            case "PUBLIC KEY", "RSA PUBLIC KEY", "CERTIFICATE": throw .notPrivate
            default: continue
            }
        }
        let expected = "no PEM block with a private key; expected PRIVATE KEY, RSA PRIVATE KEY or EC PRIVATE KEY"
        throw .unreadable(.unreadable(expected), Array(text.utf8))
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

extension SigningKey {
    /// Generates an RSA key pair. Blocks for about 0.2 s at 2048 bits, seconds at 4096.
    package static func generateRSA(bits: Int = 2048, id: String? = nil) throws(KeyError) -> SigningKey {
        guard bits >= 2048 else { throw .rsaTooSmall(bits: bits) }
        guard bits <= 16_384 else { throw .rsaTooLarge(bits: bits) }
        return try generate("RSA", id: id) { EVP_PKEY_CTX_set_rsa_keygen_bits($0, Int32(bits)) == 1 }
    }

    package static func generateEC(_ curve: KeyKind.Curve, id: String? = nil) throws(KeyError) -> SigningKey {
        try generate("EC", id: id) { EVP_PKEY_CTX_set_group_name($0, curve.openSSLName) == 1 }
    }

    package static func generateEd25519(id: String? = nil) throws(KeyError) -> SigningKey {
        try generate("ED25519", id: id) { _ in true }
    }

    private static func generate(
        _ type: String, id: String?, _ configure: (OpaquePointer) -> Bool
    ) throws(KeyError) -> SigningKey {
        let key: OpaquePointer? = OpenSSL.run {
            guard let context = EVP_PKEY_CTX_new_from_name(nil, type, nil) else { return nil }
            defer { EVP_PKEY_CTX_free(context) }
            var key: OpaquePointer?
            guard EVP_PKEY_keygen_init(context) == 1, configure(context), EVP_PKEY_generate(context, &key) == 1 else {
                return nil
            }
            return key
        }
        guard let key else { throw .unreadable("OpenSSL made no \(type) key") }
        return try SigningKey(try AsymmetricKey(owning: key, hasPrivatePart: true), id: id)
    }
}

extension SigningKey {
    /// The key of a private JWK, or of an `oct` one; `use` and `key_ops` must allow signing.
    ///
    /// An RSA key needs all the numbers of RFC 7518 section 6.3.2 except `oth`.
    public static func jwk(_ value: JSON) throws(KeyError) -> SigningKey {
        let jwk = try JWK(value)
        try jwk.checkPurpose("sign")
        let id = try jwk.id()
        if try jwk.type() == .secret { return try secret(try jwk.secret().secret, id: id) }
        return try SigningKey(try jwk.privateKey(), id: id)
    }

    /// The public key as a JWK with `kid`, `use` and, if given, `alg`; `nil` for a secret.
    package func publicJWK(algorithm: Algorithm? = nil) -> JSON? {
        guard var members = PublicMembers(of: verificationKey)?.members else { return nil }
        if let id { members["kid"] = .string(id) }
        members["use"] = "sig"
        if let algorithm { members["alg"] = .string(algorithm.rawValue) }
        return .object(members)
    }

    /// The public key's SHA-256 thumbprint in base64url (RFC 7638); `nil` for a secret.
    package var thumbprint: String? { verificationKey.thumbprint }
}

extension VerificationKey {
    /// The key's SHA-256 thumbprint in base64url (RFC 7638, RFC 8037 section 2); `nil` for a secret.
    package var thumbprint: String? {
        guard let members = PublicMembers(of: self)?.members else { return nil }
        let sorted = members.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
        let text = JSON.object(JSONObject(sorted.map { ($0.name, $0.value) }))
        return Base64URL.encode(OpenSSL.sha256(text.bytes))
    }
}

/// The members of a JWK that define the public key.
private struct PublicMembers {
    let members: JSONObject

    init?(of key: VerificationKey) {
        guard case .publicKey(let material) = key.material else { return nil }
        let read = OpenSSL.run { Self.members(of: material) }
        guard let read else { return nil }
        members = read
    }

    private static func members(of key: AsymmetricKey) -> JSONObject? {
        let inspection = KeyInspection(key: key.pointer)
        switch key.kind {
        case .rsa:
            guard let modulus = inspection.number("n"), let exponent = inspection.number("e") else { return nil }
            return ["kty": "RSA", "n": text(modulus), "e": text(exponent)]
        case .ec(let curve):
            guard let x = inspection.number("qx"), let y = inspection.number("qy") else { return nil }
            let point = [x, y].map { [UInt8](repeating: 0, count: curve.byteCount - $0.count) + $0 }
            return ["kty": "EC", "crv": .string(curve.rawValue), "x": text(point[0]), "y": text(point[1])]
        case .ed25519:
            guard let point = inspection.publicPoint() else { return nil }
            return ["kty": "OKP", "crv": "Ed25519", "x": text(point)]
        case .secret: return nil
        }
    }

    private static func text(_ bytes: [UInt8]) -> JSON { .string(Base64URL.encode(bytes)) }
}

extension SigningKey {
    /// The public key as PEM (SubjectPublicKeyInfo, lines of 64 characters); `nil` for a secret.
    package var publicPEM: String? { verificationKey.publicPEM }

    /// The private key as PEM (PKCS#8 without a password, lines of 64 characters); `nil` for a secret.
    package var privatePEM: String? {
        guard case .privateKey(let key) = material else { return nil }
        return OpenSSL.run {
            guard let information = EVP_PKEY2PKCS8(key.pointer) else { return nil }
            defer { PKCS8_PRIV_KEY_INFO_free(information) }
            return encoded { i2d_PKCS8_PRIV_KEY_INFO(information, $0) }.map { PEM.text(label: "PRIVATE KEY", $0) }
        }
    }

    /// A certificate in PEM that only carries the public key, signed by the key itself and valid from 2020 to 2040;
    /// `nil` unless the key signs RS256.
    ///
    /// Equal keys give equal certificates.
    package func selfSignedCertificate(name: String) -> String? {
        guard case .privateKey(let key) = material, algorithms.contains(.rs256) else { return nil }
        return OpenSSL.run {
            guard let certificate = X509_new() else { return nil }
            defer { X509_free(certificate) }
            let subject = X509_get_subject_name(certificate)
            // A plain UTF8String: of a text in any encoding, OpenSSL takes 64 characters at most.
            guard X509_set_version(certificate, 2) == 1,
                ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1) == 1,
                ASN1_TIME_set_string(X509_getm_notBefore(certificate), "200101000000Z") == 1,
                ASN1_TIME_set_string(X509_getm_notAfter(certificate), "400101000000Z") == 1,
                X509_set_pubkey(certificate, key.pointer) == 1,
                X509_NAME_add_entry_by_NID(
                    subject, NID_commonName, V_ASN1_UTF8STRING, name, Int32(name.utf8.count), -1, 0) == 1,
                X509_set_issuer_name(certificate, subject) == 1, X509_sign(certificate, key.pointer, EVP_sha256()) > 0
            else { return nil }
            return encoded { i2d_X509(certificate, $0) }.map { PEM.text(label: "CERTIFICATE", $0) }
        }
    }
}

extension VerificationKey {
    /// The key as PEM (SubjectPublicKeyInfo, lines of 64 characters); `nil` for a secret.
    package var publicPEM: String? { publicDER.map { PEM.text(label: "PUBLIC KEY", $0) } }

    /// The key as DER (SubjectPublicKeyInfo); `nil` for a secret.
    package var publicDER: [UInt8]? {
        guard case .publicKey(let key) = material else { return nil }
        return OpenSSL.run { encoded { i2d_PUBKEY(key.pointer, $0) } }
    }
}

/// The output of an OpenSSL encoder, called once for the length and once for the bytes.
private func encoded(_ write: (UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>?) -> Int32) -> [UInt8]? {
    let count = Int(write(nil))
    guard count > 0 else { return nil }
    return [UInt8](unsafeUninitializedCapacity: count) { buffer, written in
        var position = buffer.baseAddress
        written = max(0, Int(write(&position)))
    }
}

/// A secret that a vendor shares with those who sign tokens: the UTF-8 bytes of a text, not decoded.
public final class SecretKey: Sendable {
    /// Whose it is, for people.
    package let owner: String
    /// The text as printed, used to diagnose wrong encodings.
    package let text: String
    /// The HMAC for which it is shared.
    package let algorithm: Algorithm
    package let signing: SigningKey
    package let verification: VerificationKey

    package convenience init(_ text: String, of owner: String, for algorithm: Algorithm) throws(KeyError) {
        self.init(text, owner, algorithm, try SigningKey.secret(text))
    }

    private init(_ text: String, _ owner: String, _ algorithm: Algorithm, _ signing: SigningKey) {
        (self.text, self.owner, self.algorithm, self.signing) = (text, owner, algorithm, signing)
        var verification = signing.verificationKey
        verification.id = owner
        self.verification = verification
    }

    /// The same secret of another owner.
    package func shared(with owner: String) -> SecretKey { SecretKey(text, owner, algorithm, signing) }

    package func sign(_ draft: TokenDraft) -> String {
        // Only keys of another kind refuse to sign by HMAC.
        (try? draft.mint(key: signing, algorithm: algorithm)) ?? ""
    }
}
