internal import COpenSSL

enum KeyBuilder {
    /// A key parameter, by OpenSSL's name.
    enum Parameter {
        case number(String, [UInt8])
        case octets(String, [UInt8])
        case text(String, String)
    }

    static func rsa(modulus: [UInt8], exponent: [UInt8]) throws(KeyError) -> AsymmetricKey {
        try key(
            "RSA", [.number(OSSL_PKEY_PARAM_RSA_N, modulus), .number(OSSL_PKEY_PARAM_RSA_E, exponent)],
            isPrivate: false)
    }

    /// The numbers of RFC 7518 section 6.3.2, in the order n, e, d, p, q, dp, dq, qi.
    ///
    /// - Parameter checkingParts: Whether to check that the numbers belong together, which costs as much as a hundred
    ///   signatures.
    static func rsa(privateNumbers: [[UInt8]], checkingParts: Bool = true) throws(KeyError) -> AsymmetricKey {
        // Literals, since Swift does not import macros composed of others.
        let names = [
            OSSL_PKEY_PARAM_RSA_N, OSSL_PKEY_PARAM_RSA_E, OSSL_PKEY_PARAM_RSA_D, "rsa-factor1", "rsa-factor2",
            "rsa-exponent1", "rsa-exponent2", "rsa-coefficient1",
        ]
        let key = try key("RSA", zip(names, privateNumbers).map { .number($0, $1) }, isPrivate: true)
        if checkingParts { try checkParts(of: key) }
        return key
    }

    /// An uncompressed point on a curve, and the private scalar if there is one.
    static func ec(_ curve: KeyKind.Curve, x: [UInt8], y: [UInt8], scalar: [UInt8]?) throws(KeyError) -> AsymmetricKey {
        var parameters: [Parameter] = [
            .text(OSSL_PKEY_PARAM_GROUP_NAME, curve.openSSLName), .octets(OSSL_PKEY_PARAM_PUB_KEY, [0x04] + x + y),
        ]
        guard let scalar else {
            return try key("EC", parameters, isPrivate: false, failure: .pointOffCurve)
        }
        parameters.append(.number(OSSL_PKEY_PARAM_PRIV_KEY, scalar))
        let key = try key("EC", parameters, isPrivate: true, failure: .pointOffCurve)
        try checkParts(of: key)
        return key
    }

    static func ed25519(publicPoint: [UInt8]) throws(KeyError) -> AsymmetricKey {
        let key = OpenSSL.run { EVP_PKEY_new_raw_public_key_ex(nil, "ED25519", nil, publicPoint, publicPoint.count) }
        guard let key else { throw .unreadable("the bytes are no Ed25519 key") }
        return try AsymmetricKey(owning: key, hasPrivatePart: false)
    }

    static func ed25519(seed: [UInt8]) throws(KeyError) -> AsymmetricKey {
        let key = OpenSSL.run { EVP_PKEY_new_raw_private_key_ex(nil, "ED25519", nil, seed, seed.count) }
        guard let key else { throw .unreadable("the bytes are no Ed25519 key") }
        return try AsymmetricKey(owning: key, hasPrivatePart: true)
    }

    private static func checkParts(of key: AsymmetricKey) throws(KeyError) {
        let agrees: Bool = OpenSSL.run {
            guard let context = EVP_PKEY_CTX_new_from_pkey(nil, key.pointer, nil) else { return false }
            defer { EVP_PKEY_CTX_free(context) }
            return EVP_PKEY_pairwise_check(context) == 1
        }
        guard agrees else { throw .partsDisagree }
    }

    private static func key(
        _ type: String, _ parameters: [Parameter], isPrivate: Bool,
        failure: KeyError = .unreadable("the numbers make no key")
    ) throws(KeyError) -> AsymmetricKey {
        let key = OpenSSL.run { build(type, parameters, isPrivate: isPrivate) }
        guard let key else { throw failure }
        return try AsymmetricKey(owning: key, hasPrivatePart: isPrivate)
    }

    private static func build(_ type: String, _ parameters: [Parameter], isPrivate: Bool) -> OpaquePointer? {
        guard let list = ParameterList(parameters) else { return nil }
        guard let context = EVP_PKEY_CTX_new_from_name(nil, type, nil) else { return nil }
        defer { EVP_PKEY_CTX_free(context) }
        // EVP_PKEY_PUBLIC_KEY and EVP_PKEY_KEYPAIR, which Swift does not import.
        let publicPart =
            OSSL_KEYMGMT_SELECT_DOMAIN_PARAMETERS | OSSL_KEYMGMT_SELECT_OTHER_PARAMETERS
            | OSSL_KEYMGMT_SELECT_PUBLIC_KEY
        let selection = isPrivate ? publicPart | OSSL_KEYMGMT_SELECT_PRIVATE_KEY : publicPart
        var key: OpaquePointer?
        guard EVP_PKEY_fromdata_init(context) == 1,
            EVP_PKEY_fromdata(context, &key, selection, list.pointer) == 1
        else { return nil }
        return key
    }
}
