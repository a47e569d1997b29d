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

/// What authentication knows of the state.
struct IMSStanding: Sendable {
    let issuers: IMSIssuers
    /// The keys of dev issuers that something happened to; they tell who signed instead.
    let devKeys: [String: IssuerKeys]
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
    func standing(in state: IMSState) -> IMSStanding { IMSStanding(issuers: state.issuers, devKeys: state.devKeys) }

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
            if !token.compact.isWellFormed { judgeForeignKey(token, &findings) }
            let judge = IMSTokenJudge(
                self, arrival.standing, arrival.switches, at: arrival.moment,
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

    /// An API key in the place of a token, which is malformed whatever it is.
    private func judgeForeignKey(_ token: IMSToken, _ findings: inout Findings<IMSFailure>) {
        guard token.compact.bytes.elementsEqual(accounts.operatorKey.utf8) else { return }
        findings.add(
            Finding(
                "token-is-jwt", .failed, expected: .text("a JWT of a registered issuer"),
                found: .text("the operator's key"), note: "The operator's key belongs in x-ims-operator-key.",
                source: "ours"),
            orFail: .tokenMalformed)
    }

    private func judgeOperatorKey(_ arrival: IMSArrival, _ findings: inout Findings<IMSFailure>) {
        let sent = arrival.request.fields[.operatorKey]
        let isRight = sent.map { $0.hasSameBytes(as: accounts.operatorKey) } ?? false
        let finding = Finding(
            "operator-key", isRight ? .passed : .failed, expected: .text("x-ims-operator-key of the accounts"),
            // What was sent may be the key of another world.
            found: sent == nil ? .nothing("no x-ims-operator-key header") : isRight ? nil : .text("another value"),
            note: isRight ? nil : operatorMistake(sent, arrival), source: "ours; switch operator-auth")
        if arrival.switches.operatorAuth == .open {
            findings.note(finding.noted)
        } else {
            findings.add(finding, orFail: sent == nil ? .operatorKeyMissing : .operatorKeyWrong)
        }
    }

    /// What stands in the place of the operator's key, or where the key stands; neither is shown.
    private func operatorMistake(_ sent: String?, _ arrival: IMSArrival) -> String? {
        guard let sent else {
            guard let value = arrival.request.fields.bytes(of: .authorization) else { return nil }
            return String(decoding: value, as: UTF8.self).hasSuffix(accounts.operatorKey)
                ? "The operator's key stands in Authorization; it belongs in x-ims-operator-key."
                : "There is an Authorization header, which operator routes do not read."
        }
        if sent.isEmpty { return "x-ims-operator-key is empty." }
        if CompactToken(sent).isWellFormed { return "x-ims-operator-key holds a JWT; tokens belong in Authorization." }
        if sent.lowercased() == accounts.operatorKey.lowercased() { return "Only capitals differ." }
        if sent.utf8.count != accounts.operatorKey.utf8.count {
            return "It has \(sent.utf8.count) characters, the right one \(accounts.operatorKey.utf8.count)."
        }
        return nil
    }
}
