/// ECDSA signatures: r and s concatenated in a JWS (RFC 7518 section 3.4), a DER sequence in OpenSSL.
extension KeyKind {
    /// The signature in OpenSSL's form; `nil` if its length is wrong, or r or s is zero.
    func openSSLForm(of signature: [UInt8]) -> [UInt8]? {
        guard case .ec(let curve) = self else { return signature }
        guard signature.count == 2 * curve.byteCount else { return nil }
        let halves = [signature.prefix(curve.byteCount), signature.suffix(curve.byteCount)]
        // Libraries that accepted r = s = 0 accepted every token (CVE-2022-21449); neither OpenSSL nor we do.
        guard halves.allSatisfy({ half in half.contains { $0 != 0 } }) else { return nil }
        let content = halves.flatMap { Self.derInteger($0) }
        return [0x30] + Self.derLength(content.count) + content
    }

    /// The signature in JWS form; `nil` if OpenSSL's is not the expected sequence.
    func joseForm(of signature: [UInt8]) -> [UInt8]? {
        guard case .ec(let curve) = self else { return signature }
        var outer = DERReader(signature[...])
        guard var content = outer.sequence(), outer.isAtEnd, let r = content.positiveNumber(),
            let s = content.positiveNumber(), content.isAtEnd
        else { return nil }
        guard [r, s].allSatisfy({ $0.count <= curve.byteCount }) else { return nil }
        return [r, s].flatMap { [UInt8](repeating: 0, count: curve.byteCount - $0.count) + $0 }
    }

    private static func derInteger(_ magnitude: ArraySlice<UInt8>) -> [UInt8] {
        var digits = Array(magnitude.drop { $0 == 0 })
        if let first = digits.first, first >= 0x80 { digits.insert(0, at: 0) }
        return [0x02] + derLength(digits.count) + digits
    }

    /// Lengths up to 255, enough for P-521 signatures.
    private static func derLength(_ count: Int) -> [UInt8] {
        count < 0x80 ? [UInt8(count)] : [0x81, UInt8(count)]
    }
}
