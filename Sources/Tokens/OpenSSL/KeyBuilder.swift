import COpenSSL

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
        guard let scalar else { return try key("EC", parameters, isPrivate: false, failure: .pointOffCurve) }
        parameters.append(.number(OSSL_PKEY_PARAM_PRIV_KEY, scalar))
        let key = try key("EC", parameters, isPrivate: true, failure: .pointOffCurve)
        try checkParts(of: key)
        return key
    }

    static func ed25519(publicPoint: [UInt8]) throws(KeyError) -> AsymmetricKey {
        let key = OpenSSL.run { EVP_PKEY_new_raw_public_key_ex(nil, "ED25519", nil, publicPoint, publicPoint.count) }
        return try ed25519(key, isPrivate: false)
    }

    static func ed25519(seed: [UInt8]) throws(KeyError) -> AsymmetricKey {
        let key = OpenSSL.run { EVP_PKEY_new_raw_private_key_ex(nil, "ED25519", nil, seed, seed.count) }
        return try ed25519(key, isPrivate: true)
    }

    private static func ed25519(_ key: OpaquePointer?, isPrivate: Bool) throws(KeyError) -> AsymmetricKey {
        guard let key else { throw .unreadable("the bytes are no Ed25519 key") }
        return try AsymmetricKey(owning: key, hasPrivatePart: isPrivate)
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

/// The parameters of one key as an OpenSSL list, which is freed with the last reference.
final class ParameterList {
    let pointer: UnsafeMutablePointer<OSSL_PARAM>
    private let borrowed: Borrowed

    init?(_ parameters: [KeyBuilder.Parameter]) {
        guard let builder = OSSL_PARAM_BLD_new() else { return nil }
        defer { OSSL_PARAM_BLD_free(builder) }
        let borrowed = Borrowed()
        guard parameters.allSatisfy({ borrowed.push($0, to: builder) }),
            let list = OSSL_PARAM_BLD_to_param(builder)
        else { return nil }
        pointer = list
        self.borrowed = borrowed
    }

    deinit { OSSL_PARAM_free(pointer) }
}

/// Stable memory for names, numbers and bytes: builder and list only borrow them, the names for their whole lifetime.
private final class Borrowed {
    private var numbers: [OpaquePointer] = []
    private var buffers: [UnsafeMutableRawBufferPointer] = []

    deinit {
        numbers.forEach { BN_clear_free($0) }
        for buffer in buffers {
            OPENSSL_cleanse(buffer.baseAddress, buffer.count)
            buffer.deallocate()
        }
    }

    func push(_ parameter: KeyBuilder.Parameter, to builder: OpaquePointer) -> Bool {
        switch parameter {
        case .number(let name, let bytes):
            guard let number = BN_bin2bn(bytes, Int32(bytes.count), nil) else { return false }
            numbers.append(number)
            return OSSL_PARAM_BLD_push_BN(builder, copy(name), number) == 1
        case .octets(let name, let bytes):
            return OSSL_PARAM_BLD_push_octet_string(builder, copy(name), copy(bytes).baseAddress, bytes.count) == 1
        case .text(let name, let text):
            return OSSL_PARAM_BLD_push_utf8_string(builder, copy(name), copy(text), 0) == 1
        }
    }

    private func copy(_ text: String) -> UnsafePointer<CChar>? {
        UnsafePointer(copy(Array(text.utf8) + [0]).bindMemory(to: CChar.self).baseAddress)
    }

    private func copy(_ bytes: [UInt8]) -> UnsafeMutableRawBufferPointer {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
        buffer.copyBytes(from: bytes)
        buffers.append(buffer)
        return buffer
    }
}

/// Helpers for every use of OpenSSL.
enum OpenSSL {
    /// Runs OpenSSL calls and then clears this thread's error queue.
    ///
    /// Failed calls and some successful ones leave errors there, which a TLS connection on the same thread would take
    /// for its own.
    static func run<Value, Failure: Error>(_ body: () throws(Failure) -> Value) throws(Failure) -> Value {
        defer { ERR_clear_error() }
        return try body()
    }

    /// Compares in a time that depends only on the lengths.
    static func areEqual(_ first: [UInt8], _ second: [UInt8]) -> Bool {
        first.withUnsafeBufferPointer { areEqual($0, second) }
    }

    static func areEqual(_ first: UnsafeBufferPointer<UInt8>, _ second: [UInt8]) -> Bool {
        first.count == second.count && CRYPTO_memcmp(first.baseAddress, second, first.count) == 0
    }

    static func sha256(_ bytes: [UInt8]) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: 32)
        var count: UInt32 = 0
        run { _ = EVP_Digest(bytes, bytes.count, &digest, &count, EVP_sha256(), nil) }
        return digest
    }

    /// The HMAC-SHA-1 code, 20 bytes; only one-time passwords use it.
    static func hmacSHA1(_ bytes: [UInt8], secret: [UInt8]) -> [UInt8] {
        var code = [UInt8](repeating: 0, count: 20)
        var count: UInt32 = 0
        run { _ = HMAC(EVP_sha1(), secret, Int32(clamping: secret.count), bytes, bytes.count, &code, &count) }
        return code
    }
}
