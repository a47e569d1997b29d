import Emulation
import HTTPTypes
import JSON
import Tokens

extension HTTPField.Name {
    /// The operator's key; it stands for the people who onboard and enroll (ours).
    static let operatorKey = Self("x-ims-operator-key") ?? .authorization
    /// The device to which a token id may be bound (ours).
    static let deviceID = Self("x-ims-device-id") ?? .authorization
}

/// The part of the state that authentication sees.
struct IMSAuthenticationContext: Sendable {
    let issuers: IMSIssuerStore
    /// The changed keys of dev issuers, used to tell who signed instead.
    let devKeys: [String: IssuerKeys]
}

extension IMS {
    func authenticationContext(in state: State) -> IMSAuthenticationContext {
        IMSAuthenticationContext(issuers: state.issuers, devKeys: state.devKeys)
    }

    func token(of credentials: IMSFacts) -> CompactToken? { credentials.token?.compact }

    func awaitedKeys(of credentials: IMSFacts) -> KeyRequirement? { credentials.order }

    func authenticate(_ arrival: IMSArrival, _ findings: inout Findings<IMSFailure>) -> IMSFacts {
        let fields = arrival.request.fields
        switch arrival.route.access {
        case .open: return IMSFacts(IMSFacts.Presented(self, arrival.switches, at: arrival.moment))
        case .operator:
            var presented = IMSFacts.Presented(self, arrival.switches, at: arrival.moment)
            presented.operator = IMSFacts.Operator(
                sent: fields[.operatorKey], authorization: fields.bytes(of: .authorization))
            let facts = IMSFacts(presented)
            findings.judge(facts, by: Self.operatorRules)
            return facts
        case .token, .user:
            if let report = arrival.keyFetch { findings.note(report.finding) }
            let bearer = BearerToken(fields)
            let judge = IMSTokenJudge(
                self, arrival.authenticationContext, arrival.switches, at: arrival.moment,
                asking: arrival.keyFetch == nil ? .allowed : .done, in: arrival.sandbox)
            return judge.judge(
                bearer.bytes.map { recentTokens.reading(of: $0, IMSToken.init(bytes:)) }, in: bearer, &findings)
        }
    }

    func keyFetchPolicy(_ switches: IMSSwitches) -> KeyFetchPolicy {
        KeyFetchPolicy(
            coolDown: .seconds(switches.coolDownSeconds), standardLifetime: .seconds(switches.standardLifetimeSeconds))
    }
}
