public import JSON

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
