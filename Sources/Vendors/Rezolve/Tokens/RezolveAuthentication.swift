import Emulation
import HTTPTypes
import JSON
import Tokens

extension HTTPField.Name {
    /// The partner's api key. Source: JWT page for registration, QA tests for the rest.
    static let partnerAPIKey = Self("x-rezolve-partner-apikey") ?? .authorization
    /// The device id. Source: docs, change log.
    static let deviceID = Self("x-rezolve-device-id") ?? .authorization
}

// MARK: - What needs no state

extension Rezolve {
    func token(of credentials: RezolveFacts) -> CompactToken? { credentials.compact }

    func authenticate(_ arrival: RezolveArrival, _ findings: inout Findings<RezolveFailure>) -> RezolveFacts {
        var facts = RezolveFacts(self, arrival.switches, at: arrival.moment)
        facts.isSampleRenewal = isSampleRenewal(arrival)
        facts.take(apiKey: arrival.request.fields.bytes(of: .partnerAPIKey))
        switch arrival.route.access {
        case .registration, .customer, .guestLogin:
            if facts.isSampleRenewal { return facts }
            if case .registration = arrival.route.access { facts.isRegistration = true }
            take(token: arrival, arrival.switches.bearerScheme, &facts)
            findings.judge(facts, by: Self.tokenRules)
        case .guestRegistration:
            facts.takeOnlyPartner()
            findings.judge(facts, by: Self.guestRules)
        case .signIn:
            facts.takeOnlyPartner()
            findings.judge(facts, by: Self.signInRules)
        case .session:
            take(token: arrival, .lenient, &facts)
            findings.judge(facts, by: Self.sessionRules)
        }
        return facts
    }

    private func take(
        token arrival: RezolveArrival, _ scheme: RezolveSwitches.BearerScheme, _ facts: inout RezolveFacts
    ) {
        let bearer = BearerToken(arrival.request.fields, scheme: scheme == .required ? .once : .upToTwice)
        facts.bearer = bearer
        facts.token = bearer.bytes.map { recentTokens.reading(of: $0, RezolveToken.init(bytes:)) }
    }

    /// The JWT page's iOS sample renews its token with device data and no credential at all.
    private func isSampleRenewal(_ arrival: RezolveArrival) -> Bool {
        guard case .registration(alsoRenews: true) = arrival.route.access else { return false }
        return arrival.switches.iosSampleRenewal && arrival.request.fields.count(of: .partnerAPIKey) == 0
            && arrival.request.fields.count(of: .authorization) == 0
    }
}
