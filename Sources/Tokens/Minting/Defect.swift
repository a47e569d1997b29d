internal import JSON

/// One way in which a minted token is wrong; everything else is right.
public enum Defect: Sendable, Hashable {
    /// `exp` is an hour in the past, beyond any usual leeway; the other times move along.
    case expired
    /// `nbf` is an hour in the future, `exp` after it.
    case notYetValid
    /// A claim, or else a header member, is missing.
    case missing(String)
    /// The header names another algorithm, which also makes the signature if the key supports it.
    case wrongAlgorithm
    /// `alg` is `none`, and the signature is empty.
    case noAlgorithm
    /// Signed with another HMAC secret.
    case wrongSecret
    case wrongKey
    /// Signed by HMAC with the public key's PEM text as the secret; `alg` agrees.
    case publicKeyAsSecret
    case secretBase64Decoded
    /// Signed with the secret read as hexadecimal.
    case secretHexDecoded
    /// A claim is added after signing.
    case tamperedPayload
    /// The first bit of the signature is inverted.
    case badSignature
    /// The last byte of the signature is missing.
    case truncatedSignature
    /// The parts are padded with `=`; the signature covers the padding.
    case paddedBase64
    /// The signature and its dot are missing.
    case twoParts
    /// A fourth part follows.
    case fourParts
    /// `exp`, `nbf` and `iat` are in milliseconds.
    case milliseconds
    /// `exp` is a string.
    case stringExpiry
    /// `exp` has a fraction: it ends 0.75 s earlier.
    case fractionalExpiry

    /// The name in kebab-case; `missing-NAME` for the parameterized one.
    public var name: String {
        if case .missing(let member) = self { return Self.missingPrefix + member }
        return Self.named.first { $0.defect == self }?.name ?? ""
    }

    /// The defect with that name.
    ///
    /// - Throws: ``MintError/unknownDefect(_:)``
    package init(named name: String) throws(MintError) {
        if let match = Self.named.first(where: { $0.name.hasSameBytes(as: name) }) {
            self = match.defect
        } else if name.hasPrefix(Self.missingPrefix), name.utf8.count > Self.missingPrefix.utf8.count {
            self = .missing(String(name.dropFirst(Self.missingPrefix.count)))
        } else {
            throw .unknownDefect(name)
        }
    }

    /// All names; `missing-CLAIM` stands for every claim and header member.
    package static var names: [String] {
        let names = named.map(\.name)
        return Array(names[..<2]) + [missingPrefix + "CLAIM"] + Array(names[2...])
    }

    private static let missingPrefix = "missing-"

    private static let named: [(name: String, defect: Defect)] = [
        ("expired", .expired), ("not-yet-valid", .notYetValid), ("wrong-alg", .wrongAlgorithm),
        ("alg-none", .noAlgorithm), ("wrong-secret", .wrongSecret), ("wrong-key", .wrongKey),
        ("public-key-as-secret", .publicKeyAsSecret), ("secret-base64-decoded", .secretBase64Decoded),
        ("secret-hex-decoded", .secretHexDecoded), ("tampered-payload", .tamperedPayload),
        ("bad-signature", .badSignature), ("truncated-signature", .truncatedSignature),
        ("padded-base64", .paddedBase64), ("two-parts", .twoParts), ("four-parts", .fourParts),
        ("milliseconds", .milliseconds), ("string-exp", .stringExpiry), ("fractional-exp", .fractionalExpiry),
    ]
}

extension Defect: CustomStringConvertible {
    public var description: String { name }
}
