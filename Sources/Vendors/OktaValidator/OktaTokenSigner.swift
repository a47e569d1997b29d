public import JSON
public import Tokens

/// Signs tokens as an app on a device does.
public enum OktaTokenSigner {
    /// Signs a payload.
    ///
    /// The header has `kid` if the key has an id, and `alg`.
    ///
    /// - Returns: the token in compact form.
    /// - Throws: the reason when the key does not support the algorithm.
    /// Source: documented, validator page (its signer of challenge answers); the header ours.
    public static func sign(
        payload: JSONObject, algorithm: Algorithm = .rs256, key: SigningKey
    ) throws(MintError) -> String {
        var header: JSONObject = [:]
        header["kid"] = key.id.map(JSON.string)
        header["alg"] = .string(algorithm.rawValue)
        return try TokenDraft(header: header, claims: payload).mint(key: key, algorithm: algorithm)
    }
}
