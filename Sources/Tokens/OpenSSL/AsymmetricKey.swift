internal import COpenSSL
internal import Synchronization

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
