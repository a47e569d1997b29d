public import JSON

extension VerificationKey {
    /// The key of a JWK.
    ///
    /// `use` and `key_ops` must allow verifying, `alg` narrows what the key may do, `kid` names it; other members,
    /// `x5c` and `x5u` among them, are not looked at. RSA numbers may have leading zeros, since published sets have
    /// them; a point has exactly its curve's length and lies on it.
    ///
    /// - Parameter acceptsPrivate: Whether secrets (`oct`) and keys with private members are taken as well.
    /// - Throws: ``KeyError/sharedSecret`` and ``KeyError/privateKey`` for such a key otherwise.
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
