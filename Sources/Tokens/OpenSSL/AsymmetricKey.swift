import COpenSSL
import Synchronization

/// An RSA, EC or Ed25519 key of OpenSSL, public or private, already validated.
///
/// `@unchecked Sendable`: the key is owned from the initializer to `deinit` and never changed. OpenSSL 3 lets any
/// number of threads read a key and locks its internal caches.
final class AsymmetricKey: @unchecked Sendable {
    let pointer: OpaquePointer
    let kind: KeyKind
    let hasPrivatePart: Bool
    private let verifications = Mutex<[Algorithm: PreparedVerification]>([:])

    /// Takes ownership of the key, even when it throws.
    init(owning pointer: OpaquePointer, hasPrivatePart: Bool) throws(KeyError) {
        self.pointer = pointer
        self.hasPrivatePart = hasPrivatePart
        do throws(KeyError) {
            kind = try OpenSSL.run { () throws(KeyError) in try KeyInspection(key: pointer).kind() }
        } catch {
            EVP_PKEY_free(pointer)
            throw error
        }
    }

    deinit { EVP_PKEY_free(pointer) }

    /// Whether the signature, in OpenSSL's form, is valid; the caller has checked that the key supports the algorithm.
    func verifies(_ signature: [UInt8], of bytes: ArraySlice<UInt8>, algorithm: Algorithm) -> Bool {
        verification(for: algorithm)?.accepts(signature, of: bytes) ?? false
    }

    private func verification(for algorithm: Algorithm) -> PreparedVerification? {
        verifications.withLock { verifications in
            if let verification = verifications[algorithm] { return verification }
            let verification = PreparedVerification(key: pointer, algorithm: algorithm)
            verifications[algorithm] = verification
            return verification
        }
    }

    /// The signature in OpenSSL's form; `nil` when OpenSSL fails.
    func sign(_ bytes: [UInt8], algorithm: Algorithm) -> [UInt8]? {
        OpenSSL.run {
            guard let context = EVP_MD_CTX_new() else { return nil }
            defer { EVP_MD_CTX_free(context) }
            var keyContext: OpaquePointer?
            guard EVP_DigestSignInit_ex(context, &keyContext, algorithm.digestName, nil, nil, pointer, nil) == 1,
                setPadding(of: keyContext, for: algorithm)
            else { return nil }
            var count = 0
            guard EVP_DigestSign(context, nil, &count, bytes, bytes.count) == 1 else { return nil }
            var signature = [UInt8](repeating: 0, count: count)
            guard EVP_DigestSign(context, &signature, &count, bytes, bytes.count) == 1 else { return nil }
            return Array(signature.prefix(count))
        }
    }
}

/// A verification with key and hash set and no data yet, so that each token costs one copy and the computation.
///
/// `@unchecked Sendable`: `context` is written in the initializer and freed in `deinit`; in between it is only the
/// source of `EVP_MD_CTX_copy_ex`, which reads it and counts references atomically.
private final class PreparedVerification: @unchecked Sendable {
    private let context: OpaquePointer

    init?(key: OpaquePointer, algorithm: Algorithm) {
        let prepared: OpaquePointer? = OpenSSL.run {
            guard let context = EVP_MD_CTX_new() else { return nil }
            var keyContext: OpaquePointer?
            if EVP_DigestVerifyInit_ex(context, &keyContext, algorithm.digestName, nil, nil, key, nil) == 1,
                setPadding(of: keyContext, for: algorithm)
            {
                return context
            }
            EVP_MD_CTX_free(context)
            return nil
        }
        guard let prepared else { return nil }
        context = prepared
    }

    deinit { EVP_MD_CTX_free(context) }

    func accepts(_ signature: [UInt8], of bytes: ArraySlice<UInt8>) -> Bool {
        guard let copy = EVP_MD_CTX_new() else { return false }
        defer { EVP_MD_CTX_free(copy) }
        if EVP_MD_CTX_copy_ex(copy, context) == 1,
            bytes.withUnsafeBufferPointer({
                EVP_DigestVerify(copy, signature, signature.count, $0.baseAddress, $0.count)
            }) == 1
        {
            return true
        }
        ERR_clear_error()
        return false
    }
}

/// Sets the padding that RFC 7518 sections 3.3 and 3.5 prescribe; for PSS the salt is exactly as long as the hash.
private func setPadding(of context: OpaquePointer?, for algorithm: Algorithm) -> Bool {
    switch algorithm.family {
    case .rsaPKCS1: EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_PADDING) == 1
    case .rsaPSS:
        EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_PSS_PADDING) == 1
            && EVP_PKEY_CTX_set_rsa_pss_saltlen(context, RSA_PSS_SALTLEN_DIGEST) == 1
    case .hmac, .ecdsa, .edwards: true
    }
}

/// Reads the numbers of RSA keys in their usual binary forms.
///
/// OpenSSL supports every form of every key, and spends millions of instructions on finding the decoder. `nil` means
/// that the bytes are something else, well formed or not, and OpenSSL must decide.
enum RSANumbers {
    /// The AlgorithmIdentifier `rsaEncryption` without parameters (RFC 8017 appendix A.1).
    private static let algorithm: [UInt8] = [
        0x06, 0x09, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x01, 0x05, 0x00,
    ]

    /// Modulus and exponent of a SubjectPublicKeyInfo (RFC 5280 section 4.1.2.7).
    static func publicKeyInfo(_ bytes: [UInt8]) -> (modulus: [UInt8], exponent: [UInt8])? {
        guard var info = DERReader(sequence: bytes[...]), info.content(0x30)?.elementsEqual(algorithm) == true,
            var bits = info.content(0x03), info.isAtEnd, bits.popFirst() == 0
        else { return nil }
        return publicKey(bits)
    }

    /// Modulus and exponent of an RSAPublicKey (RFC 8017 appendix A.1.1).
    static func publicKey(_ bytes: ArraySlice<UInt8>) -> (modulus: [UInt8], exponent: [UInt8])? {
        guard var key = DERReader(sequence: bytes), let modulus = key.positiveNumber(),
            let exponent = key.positiveNumber(), key.isAtEnd
        else { return nil }
        return (modulus, exponent)
    }

    /// The numbers n, e, d, p, q, dp, dq and qi of a PrivateKeyInfo (RFC 5208 section 5) or RSAPrivateKey.
    static func privateKey(_ bytes: [UInt8]) -> [[UInt8]]? {
        guard var info = behindVersion(bytes[...]) else { return nil }
        var wrapped = info
        guard wrapped.content(0x30)?.elementsEqual(algorithm) == true else { return numbers(&info) }
        guard let content = wrapped.content(0x04), wrapped.isAtEnd, var key = behindVersion(content) else {
            return nil
        }
        return numbers(&key)
    }

    /// What follows version 0 in a sequence.
    private static func behindVersion(_ bytes: ArraySlice<UInt8>) -> DERReader? {
        guard var sequence = DERReader(sequence: bytes), sequence.content(0x02)?.elementsEqual([0]) == true else {
            return nil
        }
        return sequence
    }

    /// The numbers after the version of a two-prime RSAPrivateKey (RFC 8017 appendix A.1.2).
    private static func numbers(_ key: inout DERReader) -> [[UInt8]]? {
        var numbers: [[UInt8]] = []
        for _ in 0..<8 {
            guard let number = key.positiveNumber() else { return nil }
            numbers.append(number)
        }
        return key.isAtEnd ? numbers : nil
    }
}

/// The hash of RSAES-OAEP, for both data and mask.
package enum OAEPHash: String, Sendable, Hashable, CaseIterable {
    /// The default of RFC 8017 section 7.1, which most platforms mean by plain "OAEP".
    case sha1 = "SHA1"
    case sha256 = "SHA256"
}

extension SigningKey {
    /// Decrypts RSAES-OAEP without a label; `nil` when that fails or the key is not RSA. An empty plaintext is not
    /// `nil`.
    package func decryptOAEP(_ bytes: [UInt8], hash: OAEPHash = .sha1) -> [UInt8]? {
        guard case .privateKey(let key) = material, case .rsa = kind else { return nil }
        return OpenSSL.run { transform(bytes, key, hash, EVP_PKEY_decrypt_init, EVP_PKEY_decrypt) }
    }
}

extension VerificationKey {
    /// Encrypts a short text with RSAES-OAEP without a label; `nil` when the text is too long or the key is not RSA.
    package func encryptOAEP(_ bytes: [UInt8], hash: OAEPHash = .sha1) -> [UInt8]? {
        guard case .publicKey(let key) = material, case .rsa = kind else { return nil }
        return OpenSSL.run { transform(bytes, key, hash, EVP_PKEY_encrypt_init, EVP_PKEY_encrypt) }
    }
}

private typealias Initialization = (OpaquePointer?) -> Int32
private typealias Operation = (
    OpaquePointer?, UnsafeMutablePointer<UInt8>?, UnsafeMutablePointer<Int>?, UnsafePointer<UInt8>?, Int
) -> Int32

private func transform(
    _ bytes: [UInt8], _ key: AsymmetricKey, _ hash: OAEPHash, _ start: Initialization, _ run: Operation
) -> [UInt8]? {
    guard let context = EVP_PKEY_CTX_new_from_pkey(nil, key.pointer, nil) else { return nil }
    defer { EVP_PKEY_CTX_free(context) }
    guard start(context) == 1, EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_OAEP_PADDING) == 1,
        EVP_PKEY_CTX_set_rsa_oaep_md_name(context, hash.rawValue, nil) == 1,
        EVP_PKEY_CTX_set_rsa_mgf1_md_name(context, hash.rawValue, nil) == 1
    else { return nil }
    var count = Int(EVP_PKEY_get_size(key.pointer))
    var output = [UInt8](repeating: 0, count: count)
    guard run(context, &output, &count, bytes, bytes.count) == 1 else { return nil }
    return Array(output.prefix(count))
}

/// The fingerprint of RSA keys from a smart-card library whose primes can be found (CVE-2017-15361).
///
/// Those primes are powers of 65537 modulo the product of all small primes, so the modulus is too: modulo each small
/// prime it lies in the subgroup that 65537 generates. Fewer than one in a hundred million other moduli do.
/// Source: Nemec and others, “The Return of Coppersmith's Attack”, 2017, section 2.
enum ROCAFingerprint {
    /// The small primes that even the shortest keys use, with the remainders of the powers of 65537. Primes for which
    /// those remainders are the whole group distinguish nothing and are omitted.
    private static let subgroups: [(prime: Int, powers: Set<Int>)] = (3...167).compactMap { candidate in
        guard (2..<candidate).allSatisfy({ candidate % $0 != 0 }) else { return nil }
        var powers: Set<Int> = []
        var power = 1
        while powers.insert(power).inserted { power = power * 65537 % candidate }
        return powers.count == candidate - 1 ? nil : (candidate, powers)
    }

    /// Whether a modulus, most significant byte first, has the fingerprint.
    static func isPresent(in modulus: [UInt8]) -> Bool {
        subgroups.allSatisfy { prime, powers in
            powers.contains(modulus.reduce(0) { ($0 << 8 | Int($1)) % prime })
        }
    }
}
