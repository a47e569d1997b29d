internal import COpenSSL

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
