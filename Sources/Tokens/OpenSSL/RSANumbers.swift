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
        var outer = DERReader(bytes[...])
        guard var info = outer.sequence(), outer.isAtEnd, info.content(0x30)?.elementsEqual(algorithm) == true,
            var bits = info.content(0x03), info.isAtEnd, bits.popFirst() == 0
        else { return nil }
        return publicKey(bits)
    }

    /// Modulus and exponent of an RSAPublicKey (RFC 8017 appendix A.1.1).
    static func publicKey(_ bytes: ArraySlice<UInt8>) -> (modulus: [UInt8], exponent: [UInt8])? {
        var outer = DERReader(bytes)
        guard var key = outer.sequence(), outer.isAtEnd, let modulus = key.positiveNumber(),
            let exponent = key.positiveNumber(), key.isAtEnd
        else { return nil }
        return (modulus, exponent)
    }

    /// The numbers n, e, d, p, q, dp, dq and qi of a PrivateKeyInfo (RFC 5208 section 5) or RSAPrivateKey.
    static func privateKey(_ bytes: [UInt8]) -> [[UInt8]]? {
        var outer = DERReader(bytes[...])
        guard var info = outer.sequence(), outer.isAtEnd, info.content(0x02)?.elementsEqual([0]) == true else {
            return nil
        }
        var wrapped = info
        guard wrapped.content(0x30)?.elementsEqual(algorithm) == true else { return numbers(&info) }
        guard let content = wrapped.content(0x04), wrapped.isAtEnd else { return nil }
        var inner = DERReader(content)
        guard var key = inner.sequence(), inner.isAtEnd, key.content(0x02)?.elementsEqual([0]) == true else {
            return nil
        }
        return numbers(&key)
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
