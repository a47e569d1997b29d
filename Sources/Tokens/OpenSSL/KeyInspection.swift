internal import COpenSSL

/// Inspects an external key and rejects those that nobody should verify with.
struct KeyInspection {
    let key: OpaquePointer

    func kind() throws(KeyError) -> KeyKind {
        switch EVP_PKEY_get_base_id(key) {
        case EVP_PKEY_RSA: return try rsa()
        case EVP_PKEY_EC: return .ec(try curve())
        case EVP_PKEY_ED25519: return try edwards()
        default:
            throw .unsupportedType(EVP_PKEY_get0_type_name(key).map { String(cString: $0) } ?? "unknown")
        }
    }

    /// RFC 7518 section 3.3 requires 2048 bits; the exponent's rules are from RFC 8017 section 3.1, its upper bound is
    /// OpenSSL's.
    private func rsa() throws(KeyError) -> KeyKind {
        let bits = Int(EVP_PKEY_get_bits(key))
        guard bits >= 2048 else { throw .rsaTooSmall(bits: bits) }
        guard bits <= 16_384 else { throw .rsaTooLarge(bits: bits) }
        guard let exponent = number(OSSL_PKEY_PARAM_RSA_E), let modulus = number(OSSL_PKEY_PARAM_RSA_N) else {
            throw .unreadable("an RSA key without modulus or exponent")
        }
        guard exponent.last.map({ $0 & 1 == 1 }) == true, exponent.count <= 8, exponent != [1] else {
            throw .rsaExponent
        }
        guard modulus.last.map({ $0 & 1 == 1 }) == true else { throw .rsaModulus }
        guard !ROCAFingerprint.isPresent(in: modulus) else { throw .rsaFingerprint }
        return .rsa(bits: bits)
    }

    private func curve() throws(KeyError) -> KeyKind.Curve {
        // Instead of naming the curve, a key may carry explicit parameters, which its author can choose freely.
        var isExplicit: Int32 = 0
        if EVP_PKEY_get_int_param(key, OSSL_PKEY_PARAM_EC_DECODED_FROM_EXPLICIT_PARAMS, &isExplicit) == 1,
            isExplicit != 0
        {
            throw .unsupportedCurve("explicit parameters")
        }
        let name = groupName()
        guard let curve = KeyKind.Curve.allCases.first(where: { $0.openSSLName == name }) else {
            throw .unsupportedCurve(name)
        }
        guard let context = EVP_PKEY_CTX_new_from_pkey(nil, key, nil) else { throw .pointOffCurve }
        defer { EVP_PKEY_CTX_free(context) }
        guard EVP_PKEY_public_check(context) == 1 else { throw .pointOffCurve }
        return curve
    }

    private func groupName() -> String {
        var name = [UInt8](repeating: 0, count: 80)
        var count = 0
        let isRead = name.withUnsafeMutableBytes { name in
            EVP_PKEY_get_group_name(key, name.bindMemory(to: CChar.self).baseAddress, name.count, &count) == 1
        }
        return isRead ? String(decoding: name.prefix(count), as: UTF8.self) : "unnamed"
    }

    private func edwards() throws(KeyError) -> KeyKind {
        guard let point = publicPoint(), !EdwardsPoint.hasSmallOrder(point) else { throw .pointOfSmallOrder }
        return .ed25519
    }

    func publicPoint() -> [UInt8]? {
        var count = 32
        var bytes = [UInt8](repeating: 0, count: count)
        guard EVP_PKEY_get_raw_public_key(key, &bytes, &count) == 1, count == 32 else { return nil }
        return bytes
    }

    /// A number of the key, most significant byte first, without leading zeros.
    func number(_ name: String) -> [UInt8]? {
        var number: OpaquePointer?
        guard EVP_PKEY_get_bn_param(key, name, &number) == 1, let number else { return nil }
        defer { BN_clear_free(number) }
        var bytes = [UInt8](repeating: 0, count: Int(BN_num_bits(number) + 7) / 8)
        BN_bn2bin(number, &bytes)
        return bytes
    }
}

/// Ed25519 points that accept forged signatures.
enum EdwardsPoint {
    /// Whether the point's order divides 8: with such a key some signature fits every message.
    ///
    /// There are eight such points (RFC 7748 section 6.1 has the same concern for X25519). Their y is 0, 1, −1 or one
    /// of the two of order 8, each with either sign; 0 and 1 also have a second encoding, p and p + 1.
    static func hasSmallOrder(_ encoded: [UInt8]) -> Bool {
        guard encoded.count == 32 else { return false }
        var y = encoded
        y[31] &= 0x7F
        return smallOrderOrdinates.contains(y)
    }

    private static let smallOrderOrdinates: [[UInt8]] = {
        let zeros = [UInt8](repeating: 0, count: 31)
        let ones = [UInt8](repeating: 0xFF, count: 30)
        let orderEight = [
            "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
            "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
        ]
        return [
            [0x00] + zeros, [0x01] + zeros, [0xEC] + ones + [0x7F], [0xED] + ones + [0x7F], [0xEE] + ones + [0x7F],
        ] + orderEight.compactMap { Hexadecimal.decode($0.utf8) }
    }()
}
