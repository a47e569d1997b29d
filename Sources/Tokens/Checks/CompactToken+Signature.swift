internal import JSON

extension CompactToken {
    /// `signature`: the signature was made with this key and algorithm, whatever the header says.
    ///
    /// Fails for a malformed token, and for an algorithm that the key cannot do or must not be used for.
    public func signature(by key: VerificationKey, algorithm: Algorithm, source: String? = nil) -> Finding {
        let expected = Fact.key(key.kind, id: key.id, algorithm)
        if let obstacle = obstacle(for: key, algorithm) {
            return Finding(
                "signature", .failed, expected: expected, found: signature.map { .count($0.count) } ?? .absent,
                note: obstacle, source: source)
        }
        let isValid = isSigned(by: key, algorithm: algorithm)
        return Finding(
            "signature", isValid ? .passed : .failed, expected: expected,
            found: isValid ? nil : .text("a signature that does not fit"),
            note: isValid ? nil : "The signature was not made with this key, or header or payload changed since.",
            source: source)
    }

    /// Whether the signature was made with this key and algorithm; false for a malformed token.
    func isSigned(by key: VerificationKey, algorithm: Algorithm) -> Bool {
        isWellFormed && key.isValid(signature: signature ?? [], for: signedBytes, algorithm: algorithm)
    }

    /// Whether nothing fails in ``structure``, ``algorithm(is:source:)``, ``type(is:required:exactly:source:)``,
    /// ``critical(source:)`` and ``signature(by:algorithm:source:)``.
    ///
    /// For callers that verify many tokens and create those findings only when they are read.
    public func isGenuine(by key: VerificationKey, algorithm: Algorithm, type: String) -> Bool {
        hasSoundStructure && names(algorithm) && isOfType(type) ?? true && !isCritical
            && isSigned(by: key, algorithm: algorithm)
    }

    /// Why the signature need not be computed.
    private func obstacle(for key: VerificationKey, _ algorithm: Algorithm) -> String? {
        if !isWellFormed { return "The form of the token is broken, so there is no signature to judge." }
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
