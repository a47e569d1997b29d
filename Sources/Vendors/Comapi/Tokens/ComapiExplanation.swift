import Emulation
import JSON
import Tokens

extension Comapi {
    /// Judges a token that comes without its request: a session's token by its claim `apiSpaceId`, any other as the app's.
    ///
    /// - Parameter context: what is known of the request: `space` of the path; `authenticationId` or `nonce` of the challenge.
    static let requestFacts = [
        RequestFact("space", "the id of the API space in the path"),
        RequestFact("authenticationId", "the challenge that is answered"),
        RequestFact("nonce", "the nonce of the challenge"),
    ]

    func explain(
        _ text: String, knowing context: JSONObject, in setting: TokenSetting<Comapi>
    ) -> TokenVerdict<ComapiFailure> {
        let token = ComapiSessionToken(text)
        let named = context["space"]?.string.flatMap(accounts.space)
        return token.spaceID == nil
            ? explainApp(token.compact, named, context, setting) : explainSession(token, named, setting)
    }

    private func explainSession(
        _ token: ComapiSessionToken, _ named: ComapiSpace?, _ setting: TokenSetting<Comapi>
    ) -> TokenVerdict<ComapiFailure> {
        var findings = Findings<ComapiFailure>()
        let own = token.spaceID.flatMap { accounts.space($0.text) }
        guard let space = named ?? own else {
            findings.add(
                Finding(
                    "space", .failed, expected: .text("the id of a configured API space"),
                    found: token.spaceID.map { .text($0.text) }, source: "ours"),
                orFail: .sessionOtherSpace)
            return TokenVerdict(kind: "session", account: nil, findings: findings)
        }
        judge(token, of: space, in: setting.sandbox, at: setting.moment, &findings)
        if findings.failure == nil {
            _ = ComapiSessionStanding(
                token: token, space: space, switches: setting.switches, sandbox: setting.sandbox,
                moment: setting.moment
            ).judge(setting.state, &findings)
        }
        let signer = own.flatMap { own in
            let key = sessionKeys.key(of: own, in: setting.sandbox).verificationKey
            return token.compact.signature(by: key, algorithm: .hs256).outcome == .passed ? own : nil
        }
        return TokenVerdict(kind: "session", account: signer.map(Self.account), findings: findings)
    }

    private func explainApp(
        _ token: CompactToken, _ named: ComapiSpace?, _ context: JSONObject, _ setting: TokenSetting<Comapi>
    ) -> TokenVerdict<ComapiFailure> {
        let signer = accounts.spaces.first { space in
            token.signature(by: space.sharedKey.verificationKey, algorithm: .hs256).outcome == .passed
        }
        let space = named ?? signer ?? likelySpace(of: token)
        let judged = ComapiAppToken(
            token.text, of: space, among: accounts.spaces, setting.switches, at: setting.moment)
        var findings = Findings<ComapiFailure>()
        for finding in judged.signed.all { findings.add(finding, orFail: judged.signed.failure ?? .malformedToken) }
        judgeNonce(token, context, setting, &findings)
        for finding in judged.claimed.all { findings.add(finding, orFail: judged.claimed.failure ?? .malformedTime) }
        return TokenVerdict(
            kind: token.claims == nil ? nil : "app", account: signer.map(Self.account), findings: findings)
    }

    /// The space for whose secret a mistake explains the signature, else the one whose settings the claims name.
    private func likelySpace(of token: CompactToken) -> ComapiSpace {
        let mistaken = accounts.spaces.first { space in
            ComapiSecretMistake.find(in: token, of: space, among: []) != nil
        }
        let named = accounts.spaces.first { space in
            token.claims?["iss"]?.string == space.issuer && token.claims?["aud"]?.string == space.audience
        }
        return mistaken ?? named ?? accounts.spaces[0]
    }

    private func judgeNonce(
        _ token: CompactToken, _ context: JSONObject, _ setting: TokenSetting<Comapi>,
        _ findings: inout Findings<ComapiFailure>
    ) {
        findings.add(token.claim("nonce", is: .string, source: "JWT page"), orFail: .missingNonce)
        let challenge = context["authenticationId"]?.string.flatMap { setting.state.challenges[$0] }
        let expected = challenge?.nonce ?? context["nonce"]?.string
        let found = token.claims?["nonce"]?.string
        let isSame = expected.flatMap { expected in found.map { $0.hasSameBytes(as: expected) } }
        findings.add(
            Finding(
                "nonce", isSame.map { $0 ? .passed : .failed } ?? .notJudged, expected: expected.map(Fact.text),
                found: found.map(Fact.text), source: "JWT page"),
            orFail: .nonceMismatch)
    }

    private static func account(_ space: ComapiSpace) -> String { "API space \(space.id.text)" }
}
