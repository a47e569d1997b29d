import JSON

/// A mistake with an HMAC secret that explains an invalid signature.
///
/// It does not change the verdict; it saves the developer who signs an afternoon.
public enum SignatureDiagnosis: Sendable, Hashable {
    /// The secret was read as hexadecimal.
    case secretHexDecoded
    case secretBase64Decoded
    /// The secret's `=` at the end were left out.
    case secretUnpadded
    /// The secret was base64-encoded, perhaps with a line break at the end.
    case secretBase64Text(hasLineBreak: Bool)
    /// The secret was encoded as Latin-1.
    case secretLatin1
    /// Leading or trailing whitespace of the secret was dropped.
    case secretTrimmed
    /// Whitespace was appended to the secret.
    case secretExtended
    /// Another account's secret was used.
    case secretOfAnother(String)

    /// The first mistake that yields the token's signature; `nil` if none does, the signature is valid, or the token is
    /// malformed.
    package static func explain(
        _ token: CompactToken, algorithm: Algorithm, secret: String, others: [SecretKey] = []
    ) -> SignatureDiagnosis? {
        guard algorithm.family == .hmac, token.isWellFormed, let signature = token.signature else { return nil }
        let input = token.signingInput
        func fits(_ key: [UInt8]) -> Bool {
            guard !key.isEmpty, let code = MACKey(secret: key).code(for: input, algorithm: algorithm) else {
                return false
            }
            return OpenSSL.areEqual(code, signature)
        }
        guard !fits(Array(secret.utf8)) else { return nil }
        return candidates(secret).first { fits($0.key) }?.diagnosis
            ?? others.first { fits(Array($0.text.utf8)) }.map { .secretOfAnother($0.owner) }
    }

    private static func candidates(_ secret: String) -> [(diagnosis: SignatureDiagnosis, key: [UInt8])] {
        let bytes = Array(secret.utf8)
        var candidates: [(SignatureDiagnosis, [UInt8])] = []
        if let key = Hexadecimal.decode(bytes) { candidates.append((.secretHexDecoded, key)) }
        if let key = Base64URL.decodeLeniently(bytes) { candidates.append((.secretBase64Decoded, key)) }
        // Lenient decoders drop what is outside their alphabet: Python's b64decode drops “-” and “_” too.
        let alphabet: (UInt8) -> Bool = { Base64URL.decodeLeniently([$0, UInt8(ascii: "A")]) != nil }
        for foreign in [Array("-_".utf8), []] {
            let kept = bytes.filter { alphabet($0) && !foreign.contains($0) }
            let whole = kept.dropLast(kept.count % 4 == 1 ? 1 : 0)
            if let key = Base64URL.decodeLeniently(whole) { candidates.append((.secretBase64Decoded, key)) }
        }
        let unpadded = Array(bytes.reversed().drop { $0 == UInt8(ascii: "=") }.reversed())
        if unpadded != bytes { candidates.append((.secretUnpadded, unpadded)) }
        for text in [Base64.encode(bytes), Base64URL.encode(bytes)] {
            for key in [Array(text.utf8), text.utf8.filter { $0 != UInt8(ascii: "=") }] {
                candidates.append((.secretBase64Text(hasLineBreak: false), key))
                candidates.append((.secretBase64Text(hasLineBreak: true), key + [0x0A]))
            }
        }
        if let key = latin1(secret) { candidates.append((.secretLatin1, key)) }
        let core = trimmed(bytes)
        if core != bytes { candidates.append((.secretTrimmed, core)) }
        for blank in [" ", "\n", "\r\n"] { candidates.append((.secretExtended, bytes + Array(blank.utf8))) }
        return candidates
    }

    /// The secret in Latin-1; `nil` if that equals UTF-8 or is impossible.
    private static func latin1(_ secret: String) -> [UInt8]? {
        var bytes: [UInt8] = []
        for scalar in secret.unicodeScalars {
            guard let byte = UInt8(exactly: scalar.value) else { return nil }
            bytes.append(byte)
        }
        return bytes.count == secret.utf8.count ? nil : bytes
    }

    private static func trimmed(_ bytes: [UInt8]) -> [UInt8] {
        let isBlank: (UInt8) -> Bool = { $0 == 0x20 || (0x09...0x0D).contains($0) }
        return Array(Array(bytes.drop(while: isBlank)).reversed().drop(while: isBlank).reversed())
    }
}

extension SignatureDiagnosis: CustomStringConvertible {
    /// The stable name, in kebab-case.
    package var name: String {
        switch self {
        case .secretHexDecoded: "secret-hex-decoded"
        case .secretBase64Decoded: "secret-base64-decoded"
        case .secretBase64Text: "secret-base64-text"
        case .secretLatin1: "secret-latin-1"
        case .secretTrimmed, .secretExtended, .secretUnpadded: "secret-trimmed"
        case .secretOfAnother: "secret-of-another"
        }
    }

    public var description: String {
        switch self {
        case .secretHexDecoded:
            "The signature matches when the secret is read as hexadecimal. The key is the text itself in UTF-8."
        case .secretBase64Decoded:
            "The signature matches when the secret is base64-decoded first. The key is the text itself in UTF-8."
        case .secretBase64Text(let hasLineBreak):
            "The signature matches when the key is the base64 text of the secret\(hasLineBreak ? ", with a line break" : ""). "
                + "Encode only for a library that decodes again."
        case .secretLatin1: "The signature matches when the secret is taken as Latin-1. Use its UTF-8 bytes."
        case .secretUnpadded:
            "The signature matches when = at the end of the secret is left out; it belongs to the key."
        case .secretTrimmed: "The signature matches when white space at the ends of the secret is removed."
        case .secretExtended: "The signature matches when white space is added at the ends of the secret."
        case .secretOfAnother(let name): "The signature matches the secret of \(name)."
        }
    }

    /// The diagnosis as a remark next to the failed signature.
    public var finding: Finding { Finding(name, .noted, note: description) }
}

extension CompactToken {
    /// `signature`: the signature was made with this key and algorithm, whatever the header says.
    ///
    /// Fails for a malformed token, and for an algorithm that the key cannot do or must not be used for.
    public func signature(by key: VerificationKey, algorithm: Algorithm, source: String? = nil) -> Finding {
        Finding("signature", source: source) { signature(by: key, algorithm: algorithm, &$0) }
    }

    /// The judgement of ``signature(by:algorithm:source:)``.
    public func signature(by key: VerificationKey, algorithm: Algorithm, _ finding: inout Finding?) -> Finding.Outcome {
        finding?.expected = .key(key.kind, id: key.id, algorithm)
        if let obstacle = obstacle(for: key, algorithm) {
            finding?.found = signature.map { .count($0.count) } ?? .absent
            finding?.note = obstacle
            return .failed
        }
        if key.isValid(signature: signature ?? [], for: signedBytes, algorithm: algorithm) { return .passed }
        finding?.found = .text("a signature that does not match")
        finding?.note = Self.strangeKey
        return .failed
    }

    /// Whether the key made the signature.
    public func isSigned(by key: VerificationKey, algorithm: Algorithm) -> Bool {
        var nothing: Finding?
        return signature(by: key, algorithm: algorithm, &nothing) == .passed
    }

    /// The note on a signature that may be right by another key.
    package static let strangeKey = "The signature was not made with this key, or header or payload changed since."

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
