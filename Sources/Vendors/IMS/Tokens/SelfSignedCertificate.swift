import Tokens

/// A certificate that holds a public key, signed by its own private key, valid from 2020 to 2040 (ours).
///
/// Encoded by hand as a few bytes of DER (RFC 5280 section 4.1), since it only carries a key; equal keys give equal
/// certificates.
struct SelfSignedCertificate {
    private let bytes: [UInt8]

    /// A certificate of an RSA key; `nil` for other keys.
    init?(of key: SigningKey, name: String) {
        guard let publicKey = key.verificationKey.publicDER else { return nil }
        let algorithm = DER.sequence([DER.object([0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x0B]), DER.null])
        let subject = DER.sequence([
            DER.set(DER.sequence([DER.object([0x55, 0x04, 0x03]), DER.text("understudy test key " + name)]))
        ])
        let validity = DER.sequence([DER.time("200101000000Z"), DER.time("400101000000Z")])
        // A serial number is positive and at most 20 bytes long.
        let content = DER.sequence([
            DER.version3, DER.integer([0x01]), algorithm, subject, validity, subject, publicKey,
        ])
        // A key that cannot sign RS256 cannot have such a certificate.
        guard let signature = try? key.sign(content, algorithm: .rs256) else { return nil }
        bytes = DER.sequence([content, algorithm, DER.bits(signature)])
    }

    /// The certificate in PEM, followed by a line break.
    var pem: String {
        var digits = Base64URL.encode(bytes).map { $0 == "-" ? "+" : $0 == "_" ? "/" : $0 }[...]
        while !digits.count.isMultiple(of: 4) { digits.append("=") }
        var text = "-----BEGIN CERTIFICATE-----\n"
        while !digits.isEmpty {
            text += String(digits.prefix(64)) + "\n"
            digits = digits.dropFirst(64)
        }
        return text + "-----END CERTIFICATE-----\n"
    }
}

/// The DER values (X.690) that make up a certificate.
private enum DER {
    static let null: [UInt8] = [0x05, 0x00]
    /// The explicit tag around the version number.
    static let version3: [UInt8] = [0xA0, 0x03, 0x02, 0x01, 0x02]

    static func sequence(_ elements: [[UInt8]]) -> [UInt8] { value(0x30, elements.flatMap { $0 }) }
    static func set(_ element: [UInt8]) -> [UInt8] { value(0x31, element) }
    static func object(_ identifier: [UInt8]) -> [UInt8] { value(0x06, identifier) }
    static func integer(_ bytes: [UInt8]) -> [UInt8] { value(0x02, bytes) }
    static func text(_ text: String) -> [UInt8] { value(0x0C, Array(text.utf8)) }
    static func time(_ text: String) -> [UInt8] { value(0x17, Array(text.utf8)) }
    static func bits(_ bytes: [UInt8]) -> [UInt8] { value(0x03, [0x00] + bytes) }

    private static func value(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        guard content.count >= 128 else { return [tag, UInt8(content.count)] + content }
        var length: [UInt8] = []
        var rest = content.count
        while rest > 0 {
            length.insert(UInt8(truncatingIfNeeded: rest), at: 0)
            rest >>= 8
        }
        return [tag, 0x80 | UInt8(length.count)] + length + content
    }
}
