internal import JSON

/// Defects in the encoded token.
extension Defect {
    /// Changes that the signature covers.
    func changeBeforeSigning(_ text: inout TokenText) {
        guard self == .paddedBase64 else { return }
        text.header = Self.padded(text.header)
        text.payload = Self.padded(text.payload)
    }

    /// Changes that the signature does not cover, and changes to the signature.
    func changeAfterSigning(_ text: inout TokenText, _ draft: TokenDraft) {
        switch self {
        case .tamperedPayload:
            var claims = draft.claims
            claims.append(Self.freeName(in: claims), true)
            text.payload = Base64URL.encode(JSON.object(claims).bytes)
        case .badSignature: Self.changeSignature(of: &text) { $0[0] ^= 0x80 }
        case .truncatedSignature: Self.changeSignature(of: &text) { $0.removeLast() }
        case .paddedBase64: padSignature(of: &text)
        case .twoParts: text.signature = nil
        case .fourParts: text.rest = ".e30"
        case .expired, .notYetValid, .missing, .wrongAlgorithm, .noAlgorithm, .wrongSecret, .wrongKey,
            .publicKeyAsSecret, .secretBase64Decoded, .secretHexDecoded, .milliseconds, .stringExpiry,
            .fractionalExpiry:
            break
        }
    }

    private func padSignature(of text: inout TokenText) {
        guard let signature = text.signature else { return }
        text.signature = Self.padded(signature)
        // Where no part needs padding, a surplus sign still triggers the strict reader.
        if !text.compact.utf8.contains(UInt8(ascii: "=")) { text.signature = signature + "=" }
    }

    private static func padded(_ text: String) -> String {
        text + String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
    }

    private static func freeName(in claims: JSONObject) -> String {
        var name = "tampered"
        while claims[name] != nil { name += "-too" }
        return name
    }

    private static func changeSignature(of text: inout TokenText, _ change: (inout [UInt8]) -> Void) {
        guard let signature = text.signature, var bytes = Base64URL.decodeLeniently(signature.utf8), !bytes.isEmpty
        else { return }
        change(&bytes)
        text.signature = Base64URL.encode(bytes)
    }
}
