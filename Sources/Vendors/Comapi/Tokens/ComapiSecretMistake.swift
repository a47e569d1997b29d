import Tokens

/// The mistake with the shared secret that explains an invalid signature.
///
/// Source: that the key is the text's UTF-8 bytes is documented, JWT page; the names are ours.
struct ComapiSecretMistake: Sendable {
    let failure: ComapiFailure
    let description: String

    static let failures: [ComapiFailure] = [
        .secretHexDecoded, .secretBase64Decoded, .secretBase64Text, .secretLatin1, .secretTrimmed,
        .secretOfAnotherSpace,
    ]

    /// The first mistake that explains the signature; `nil` if none does.
    static func diagnosis(
        of token: CompactToken, of space: ComapiSpace, among spaces: [ComapiSpace]
    ) -> SignatureDiagnosis? {
        let others = spaces.filter { $0.id != space.id }.map {
            SignatureDiagnosis.OtherSecret(name: $0.id.text, secret: $0.sharedSecret)
        }
        return SignatureDiagnosis.explain(token, algorithm: .hs256, secret: space.sharedSecret, others: others)
    }

    init(_ diagnosis: SignatureDiagnosis) {
        (failure, description) =
            switch diagnosis {
            case .secretHexDecoded:
                (
                    .secretHexDecoded,
                    "The signature matches when the shared secret is read as hexadecimal. The key is the text itself in "
                        + "UTF-8; with jsrsasign pass `{utf8: secret}`."
                )
            case .secretBase64Decoded:
                (
                    .secretBase64Decoded,
                    "The signature matches when the shared secret is base64-decoded first. The key is the text itself in "
                        + "UTF-8."
                )
            case .secretBase64Text(let hasLineBreak):
                (
                    .secretBase64Text,
                    "The signature matches when the key is the base64 text of the shared secret"
                        + (hasLineBreak ? ", with a line break" : "")
                        + ". Encode only for a library that decodes again."
                )
            case .secretLatin1:
                (
                    .secretLatin1,
                    "The signature matches when the shared secret is taken as Latin-1. Use its UTF-8 bytes."
                )
            case .secretTrimmed:
                (.secretTrimmed, "The signature matches when white space at the ends of the shared secret is removed.")
            case .secretExtended:
                (.secretTrimmed, "The signature matches when white space is added at the ends of the shared secret.")
            case .secretOfAnother(let id):
                (.secretOfAnotherSpace, "The signature matches the shared secret of API space \(id).")
            }
    }
}
