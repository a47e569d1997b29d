internal import COpenSSL

extension SigningKey {
    /// The public key as PEM (SubjectPublicKeyInfo, lines of 64 characters); `nil` for a secret.
    package var publicPEM: String? { verificationKey.publicPEM }

    /// The private key as PEM (PKCS#8 without a password, lines of 64 characters); `nil` for a secret.
    package var privatePEM: String? {
        guard case .privateKey(let key) = material else { return nil }
        return OpenSSL.run {
            guard let information = EVP_PKEY2PKCS8(key.pointer) else { return nil }
            defer { PKCS8_PRIV_KEY_INFO_free(information) }
            return encoded { i2d_PKCS8_PRIV_KEY_INFO(information, $0) }.map { PEM.text(label: "PRIVATE KEY", $0) }
        }
    }
}

extension VerificationKey {
    /// The key as PEM (SubjectPublicKeyInfo, lines of 64 characters); `nil` for a secret.
    package var publicPEM: String? { publicDER.map { PEM.text(label: "PUBLIC KEY", $0) } }

    /// The key as DER (SubjectPublicKeyInfo); `nil` for a secret.
    package var publicDER: [UInt8]? {
        guard case .publicKey(let key) = material else { return nil }
        return OpenSSL.run { encoded { i2d_PUBKEY(key.pointer, $0) } }
    }
}

/// The output of an OpenSSL encoder, called once for the length and once for the bytes.
private func encoded(_ write: (UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>?) -> Int32) -> [UInt8]? {
    let count = Int(write(nil))
    guard count > 0 else { return nil }
    return [UInt8](unsafeUninitializedCapacity: count) { buffer, written in
        var position = buffer.baseAddress
        written = max(0, Int(write(&position)))
    }
}
