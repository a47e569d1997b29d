import Emulation
import JSON
import Tokens

extension Comapi {
    static let requestFacts: [(name: String, about: String)] = [
        ("space", "the id of the API space in the path"), ("authenticationId", "the challenge that is answered"),
        ("nonce", "the nonce of the challenge"),
    ]

    /// Judges a token without its request: a session's token by its claim `apiSpaceId`, any other as the app's.
    func explain(
        _ text: String, knowing context: JSONObject, in setting: TokenSetting<Comapi>,
        _ findings: inout Findings<ComapiFailure>
    ) -> (kind: String?, account: String?) {
        let token = ComapiSessionToken(text)
        let named = context["space"]?.string.flatMap(accounts.space)
        return token.spaceID == nil
            ? explainApp(token.compact, named, context, setting, &findings)
            : explainSession(token, named, setting, &findings)
    }

    private func explainSession(
        _ token: ComapiSessionToken, _ named: ComapiSpace?, _ setting: TokenSetting<Comapi>,
        _ findings: inout Findings<ComapiFailure>
    ) -> (kind: String?, account: String?) {
        var facts = ComapiSessionFacts(self, setting.switches, in: setting.sandbox, at: setting.moment)
        let own = token.spaceID.flatMap { accounts.space($0.text) }
        guard let space = named ?? own else {
            facts.spaceID = token.spaceID?.text
            facts.isAlone = true
            findings.judge(facts, by: Self.callRules)
            return ("session", nil)
        }
        facts.take(token, of: space)
        findings.judge(facts, by: Self.callRules)
        if findings.failure == nil {
            facts.findSession(in: setting.state)
            findings.judge(facts, by: Self.sessionRules)
        }
        let signer = own.flatMap { own in
            let key = sessionKeys.key(of: own, in: setting.sandbox).verificationKey
            return token.compact.signature(by: key, algorithm: .hs256).outcome == .passed ? own : nil
        }
        return ("session", signer?.secret.owner)
    }

    private func explainApp(
        _ token: CompactToken, _ named: ComapiSpace?, _ context: JSONObject, _ setting: TokenSetting<Comapi>,
        _ findings: inout Findings<ComapiFailure>
    ) -> (kind: String?, account: String?) {
        let signer = accounts.spaces.first { token.isSigned(by: $0.secret) }
        let space = named ?? signer ?? likelySpace(of: token)
        var facts = ComapiAppFacts(
            ComapiAppToken(token.text, of: space), of: space, among: accounts.spaces, setting.switches,
            at: setting.moment)
        let challenge = context["authenticationId"]?.string.flatMap { setting.state.challenges[$0] }
        facts.expectedNonce = challenge?.nonce ?? context["nonce"]?.string
        findings.judge(facts, by: Self.appRules)
        return (token.claims == nil ? nil : "app", signer?.secret.owner)
    }

    /// The space whose secret, used wrongly, explains the signature; otherwise the one whose settings match the claims.
    private func likelySpace(of token: CompactToken) -> ComapiSpace {
        let mistaken = accounts.spaces.first { token.mistake(with: $0.secret) { [] } != nil }
        let named = accounts.spaces.first { space in
            token.claims?["iss"]?.string == space.issuer && token.claims?["aud"]?.string == space.audience
        }
        return mistaken ?? named ?? accounts.spaces[0]
    }
}

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

    init(_ diagnosis: SignatureDiagnosis) {
        failure =
            switch diagnosis {
            case .secretHexDecoded: .secretHexDecoded
            case .secretBase64Decoded: .secretBase64Decoded
            case .secretBase64Text: .secretBase64Text
            case .secretLatin1: .secretLatin1
            case .secretTrimmed, .secretExtended, .secretUnpadded: .secretTrimmed
            case .secretOfAnother: .secretOfAnotherSpace
            }
        let advice = diagnosis == .secretHexDecoded ? " With jsrsasign pass `{utf8: secret}`." : ""
        description = diagnosis.description.replacing("the secret", with: "the shared secret") + advice
    }
}
