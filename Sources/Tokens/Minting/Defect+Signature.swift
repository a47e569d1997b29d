internal import JSON

/// Defects in the key or algorithm.
extension Defect {
    /// Changes key and algorithm, and the header's `alg` if the defect includes it.
    func change(_ order: inout SigningOrder, _ draft: inout TokenDraft) throws(MintError) {
        guard let key = order.key else { return }
        switch self {
        case .noAlgorithm:
            draft.header["alg"] = "none"
            order.key = nil
        case .wrongAlgorithm:
            let other = order.algorithm.neighbor
            draft.header["alg"] = .string(other.rawValue)
            if key.algorithms.contains(other) { order.algorithm = other }
        case .wrongSecret: order.key = try wrongSecret(for: key)
        case .wrongKey: order.key = try wrongKey(for: key)
        case .publicKeyAsSecret:
            guard let text = key.publicPEM else { throw .notApplicable(self, "a secret has no public key") }
            order.key = try secret(Array(text.utf8))
            order.algorithm = order.algorithm.sameHashHMAC
            draft.header["alg"] = .string(order.algorithm.rawValue)
        case .secretBase64Decoded:
            order.key = try decoded(key, "is not base64 text") { Base64URL.decodeLeniently($0) }
        case .secretHexDecoded:
            order.key = try decoded(key, "is not an even number of hexadecimal digits") { Hexadecimal.decode($0) }
        case .expired, .notYetValid, .missing, .tamperedPayload, .badSignature, .truncatedSignature, .paddedBase64,
            .twoParts, .fourParts, .milliseconds, .stringExpiry, .fractionalExpiry:
            break
        }
    }

    private func wrongSecret(for key: SigningKey) throws(MintError) -> SigningKey {
        guard let bytes = key.secretBytes else {
            throw .notApplicable(self, "the key is not a secret but an \(key.kind)")
        }
        // A different text for every secret, but always the same one.
        return try secret(bytes + Array("-but-wrong".utf8))
    }

    private func wrongKey(for key: SigningKey) throws(MintError) -> SigningKey {
        if key.secretBytes != nil { return try wrongSecret(for: key) }
        do {
            let other = try SpareKey.key(like: key.kind)
            guard other.thumbprint != key.thumbprint else {
                throw MintError.notApplicable(self, "the key is the very one that is used as a wrong key")
            }
            return other
        } catch let error as MintError {
            throw error
        } catch {
            throw .notApplicable(self, "there is no other \(key.kind)")
        }
    }

    private func decoded(
        _ key: SigningKey, _ problem: String, _ decode: ([UInt8]) -> [UInt8]?
    ) throws(MintError) -> SigningKey {
        guard let bytes = key.secretBytes else {
            throw .notApplicable(self, "the key is not a secret but an \(key.kind)")
        }
        guard let decoded = decode(bytes), !decoded.isEmpty else { throw .notApplicable(self, "the secret \(problem)") }
        return try secret(decoded)
    }

    private func secret(_ bytes: [UInt8]) throws(MintError) -> SigningKey {
        do {
            return try .secret(bytes)
        } catch {
            throw .key(error)
        }
    }
}

extension SigningKey {
    /// The secret; `nil` for a private key.
    var secretBytes: [UInt8]? {
        if case .secret(let key) = material { key.secret } else { nil }
    }
}

extension Algorithm {
    /// Another algorithm, which the same key supports if possible.
    fileprivate var neighbor: Algorithm {
        switch self {
        case .hs256: .hs512
        case .hs384, .hs512: .hs256
        case .rs256: .rs512
        case .rs384, .rs512: .rs256
        case .ps256: .ps512
        case .ps384, .ps512: .ps256
        case .es256: .es384
        case .es384, .es512, .edDSA: .es256
        }
    }

    fileprivate var sameHashHMAC: Algorithm {
        switch hashByteCount {
        case 48: .hs384
        case 64: .hs512
        default: .hs256
        }
    }
}
