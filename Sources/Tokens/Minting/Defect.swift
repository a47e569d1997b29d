internal import JSON

/// One way in which a minted token is wrong; everything else about it is right.
public enum Defect: Sendable, Hashable {
    /// `exp` lies an hour in the past, so that no usual leeway saves it; the other times move along.
    case expired
    /// `nbf` lies an hour in the future, `exp` behind it.
    case notYetValid
    /// A claim, or else a member of the header, is left out.
    case missing(String)
    /// The header names another algorithm; where the key can do it, the signature is made with that one.
    case wrongAlgorithm
    /// The header says `none`, and the signature is empty.
    case noAlgorithm
    /// Signed with another HMAC secret.
    case wrongSecret
    /// Signed with another key of the same kind.
    case wrongKey
    /// Signed by HMAC with the public key's PEM text as secret, the header agreeing.
    case publicKeyAsSecret
    /// Signed with what the secret yields when it is base64-decoded.
    case secretBase64Decoded
    /// Signed with what the secret yields when it is read as hexadecimal.
    case secretHexDecoded
    /// A claim is added after signing.
    case tamperedPayload
    /// The first bit of the signature is flipped.
    case badSignature
    /// The last byte of the signature is cut off.
    case truncatedSignature
    /// The parts carry `=` as base64 has it; the signature covers it.
    case paddedBase64
    /// The signature is left out together with its dot.
    case twoParts
    /// A fourth part follows.
    case fourParts
    /// `exp`, `nbf` and `iat` count milliseconds.
    case milliseconds
    /// `exp` is a string.
    case stringExpiry
    /// `exp` has a fraction; it ends 0.75 s earlier.
    case fractionalExpiry

    /// The name, in kebab-case; `missing-NAME` for the one that has a parameter.
    public var name: String {
        if case .missing(let member) = self { return Self.missingPrefix + member }
        return Self.named.first { $0.defect == self }?.name ?? ""
    }

    /// The defect of that name.
    ///
    /// - Throws: ``MintError/unknownDefect(_:)``
    public init(named name: String) throws(MintError) {
        if let match = Self.named.first(where: { $0.name.hasSameBytes(as: name) }) {
            self = match.defect
        } else if name.hasPrefix(Self.missingPrefix), name.utf8.count > Self.missingPrefix.utf8.count {
            self = .missing(String(name.dropFirst(Self.missingPrefix.count)))
        } else {
            throw .unknownDefect(name)
        }
    }

    /// All names, `missing-CLAIM` standing for every claim and member of the header.
    public static var names: [String] {
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
    /// The name.
    public var description: String { name }
}
