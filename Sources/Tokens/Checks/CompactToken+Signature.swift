internal import JSON

extension CompactToken {
    /// `signature`: the signature was made with this key and algorithm, whatever the header says.
    ///
    /// Fails for a malformed token, and for an algorithm that the key cannot do or must not be used for.
    public func signature(by key: VerificationKey, algorithm: Algorithm, source: String? = nil) -> Finding {
        Finding(.named("signature"), source: source) { signature(by: key, algorithm: algorithm, &$0) }
    }

    /// The judgement of ``signature(by:algorithm:source:)``.
    public func signature(
        by key: VerificationKey, algorithm: Algorithm, _ finding: inout Finding?
    ) -> Finding.Outcome {
        finding?.expected = .key(key.kind, id: key.id, algorithm)
        if let obstacle = obstacle(for: key, algorithm) {
            finding?.found = signature.map { .count($0.count) } ?? .absent
            finding?.note = obstacle
            return .failed
        }
        if key.isValid(signature: signature ?? [], for: signedBytes, algorithm: algorithm) { return .passed }
        finding?.found = .text("a signature that does not match")
        finding?.note = "The signature was not made with this key, or header or payload changed since."
        return .failed
    }

    /// Why the signature need not be computed.
    private func obstacle(for key: VerificationKey, _ algorithm: Algorithm) -> String? {
        if !isWellFormed { return "The token is malformed, so there is no signature to judge." }
        if !key.algorithms.contains(algorithm) { return "The key cannot be used with this algorithm." }
        guard let signature else { return nil }
        if signature.isEmpty { return "The signature is empty." }
        if let needed = key.signatureByteCount(for: algorithm), needed != signature.count {
            return "A signature of this key and algorithm has \(needed) bytes, this one \(signature.count)."
        }
        return nil
    }
}

extension VerificationKey {
    /// The exact length of a signature in bytes.
    func signatureByteCount(for algorithm: Algorithm) -> Int? {
        switch kind {
        case .secret: algorithm.hashByteCount
        case .rsa(let bits): (bits + 7) / 8
        case .ec(let curve): 2 * curve.byteCount
        case .ed25519: 64
        }
    }
}
