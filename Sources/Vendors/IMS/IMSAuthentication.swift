import Emulation
import HTTPTypes
import JSON
import Tokens

extension HTTPField.Name {
    /// The operator's key; stands for the people who onboard and enroll (ours).
    static let operatorKey = Self("x-ims-operator-key") ?? .authorization
    /// The device, to which a token id may be bound (ours).
    static let deviceID = Self("x-ims-device-id") ?? .authorization
}

/// What a request presented.
struct IMSCredentials: Sendable {
    /// The token, when there is one.
    var token: IMSToken?
    /// The issuer that the token names.
    var issuer: IMSIssuer?
    /// The keys without which the token cannot be judged.
    var order: KeyOrder?
    /// Whether a key of the issuer made the token's signature.
    var isGenuine = false
}

extension IMS {
    func standing(in state: IMSState) -> IMSIssuers { state.issuers }

    func claims(of credentials: IMSCredentials) -> JSONObject? { credentials.token?.compact.claims }

    func awaitedKeys(of credentials: IMSCredentials) -> KeyOrder? { credentials.order }

    func authenticate(_ arrival: IMSArrival, _ findings: inout Findings<IMSFailure>) -> IMSCredentials {
        switch arrival.route.access {
        case .open: return IMSCredentials()
        case .operator:
            judgeOperatorKey(arrival, &findings)
            return IMSCredentials()
        case .token, .user:
            if let report = arrival.keyFetch { findings.note(report.finding) }
            guard let token = presentedToken(arrival, &findings) else { return IMSCredentials() }
            let judge = IMSTokenJudge(
                issuers: arrival.standing, switches: arrival.switches, moment: arrival.moment,
                policy: keyFetchPolicy(arrival.switches), namedHosts: accounts.namedHosts,
                asking: arrival.keyFetch == nil ? .allowed : .done)
            let outcome = judge.judge(token, &findings)
            return IMSCredentials(
                token: token, issuer: outcome.issuer, order: outcome.order, isGenuine: outcome.isGenuine)
        }
    }

    func keyFetchPolicy(_ switches: IMSSwitches) -> KeyFetchPolicy {
        KeyFetchPolicy(
            coolDown: .seconds(switches.coolDownSeconds), standardLifetime: .seconds(switches.standardLifetimeSeconds))
    }

    /// Row 1: the token in `Authorization`.
    private func presentedToken(_ arrival: IMSArrival, _ findings: inout Findings<IMSFailure>) -> IMSToken? {
        let token = BearerToken(arrival.request.fields)
        findings.add(token.presence("token-present", source: "ours"), orFail: .tokenMissing)
        if let oddity = token.oddity() { findings.add(oddity, orFail: .tokenMalformed) }
        return token.bytes.map { recentTokens.reading(of: $0, IMSToken.init(bytes:)) }
    }

    private func judgeOperatorKey(_ arrival: IMSArrival, _ findings: inout Findings<IMSFailure>) {
        let sent = arrival.request.fields[.operatorKey]
        let isRight = sent.map { $0.hasSameBytes(as: accounts.operatorKey) } ?? false
        let finding = Finding(
            "operator-key", isRight ? .passed : .failed, expected: .text("x-ims-operator-key of the accounts"),
            // What was sent may be the key of another world.
            found: sent == nil ? .absent : isRight ? nil : .text("another value"), source: "ours; switch operator-auth")
        if arrival.switches.operatorAuth == .open {
            findings.note(finding.noted)
        } else {
            findings.add(finding, orFail: sent == nil ? .operatorKeyMissing : .operatorKeyWrong)
        }
    }
}
