public import JSON

extension SigningKey {
    /// The key of a private JWK, or of an `oct` one; `use` and `key_ops` must allow signing.
    ///
    /// An RSA key needs all the numbers of RFC 7518 section 6.3.2 except `oth`.
    public static func jwk(_ value: JSON) throws(KeyError) -> SigningKey {
        let jwk = try JWK(value)
        try jwk.checkPurpose("sign")
        let id = try jwk.id()
        if try jwk.type() == .secret {
            return try secret(try jwk.secret().secret, id: id)
        }
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
