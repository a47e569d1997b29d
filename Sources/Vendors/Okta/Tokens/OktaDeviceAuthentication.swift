import Emulation

/// Authenticates devices by the tokens that they sign.
extension Okta {
    func authenticateDevice(
        _ arrival: OktaArrival, _ credentials: inout OktaCredentials, _ findings: inout Findings<OktaFailure>
    ) {
        let facts = OktaDeviceFacts(
            OktaSSWS(arrival.request.fields), accounts, arrival.switches, at: arrival.moment)
        credentials.device = facts
        credentials.compact = facts.compact
        findings.judge(facts, by: Self.deviceFormRules)
    }

    func authorizeDevice(_ call: inout OktaCall, _ state: inout OktaState) {
        guard var facts = call.credentials.device else { return }
        facts.find(call, in: state)
        call.findings.judge(facts, by: Self.deviceRules)
    }
}
