import Emulation
import JSON
import Tokens

/// What only the state can tell: who the customer is, and for RUA the key and the session too.
extension Rezolve {
    func authorize(_ call: inout RezolveCall, _ state: inout RezolveState) {
        switch call.route.access {
        case .customer:
            let partner = RezolveOwnership.Presented.value(call.parameters["partner"])
            ownership(call, state, partner, .value(call.parameters["entity"]))?.judge(&call.findings)
        case .guestLogin:
            // A registration JWT may be anybody's of the partner; which guest is meant, only the body says.
            guard call.credentials.token?.kind == .login else { return }
            let body = try? JSON.parse(call.request.body)
            let entity = body?["entityId"]?.string.map(RezolveOwnership.Presented.value) ?? .unknown
            ownership(call, state, .unknown, entity)?.judge(&call.findings)
        case .session(let acceptsExpired): authorizeSession(&call, state, acceptsExpired: acceptsExpired)
        case .registration, .guestRegistration, .signIn: break
        }
    }

    private func ownership(
        _ call: RezolveCall, _ state: RezolveState, _ pathPartner: RezolveOwnership.Presented,
        _ pathEntity: RezolveOwnership.Presented
    ) -> RezolveOwnership? {
        guard let token = call.credentials.token else { return nil }
        return RezolveOwnership(
            token: token, partner: call.credentials.partner, switches: call.switches, state: state,
            pathPartner: pathPartner, pathEntity: pathEntity,
            device: call.request.fields[.deviceID].map { .value($0) } ?? .absent)
    }

    /// RUA finds the partner, and with it the key, through the token's customer; so the token is judged here.
    private func authorizeSession(_ call: inout RezolveCall, _ state: RezolveState, acceptsExpired: Bool) {
        guard let token = call.credentials.token else { return }
        let customer = state.customers[token.entityID]
        call.findings.add(
            Finding(
                "customer-known", token.compact.claims == nil ? .notJudged : customer == nil ? .failed : .passed,
                expected: .text("rezolve_entity_id of a registered customer"), found: .text(token.entityID),
                note: customer == nil ? state.absence(of: token) : nil, source: "QA tests"),
            orFail: .ruaTokenInvalid)
        let partner = customer.flatMap { accounts.partner(id: $0.partnerID) }
        // A key that is sent must match before the token is looked at any closer.
        judgeKeyOwner(partner, &call)
        let rules = RezolveTokenRules(switches: call.switches, moment: call.moment)
        rules.judgeSignature(of: token, by: partner, of: accounts, &call.findings, orFail: .ruaTokenInvalid)
        rules.judgeMembers(of: token, &call.findings, orFail: .ruaTokenInvalid)
        if !acceptsExpired {
            call.findings.add(
                token.compact.expiry(at: call.moment.unixSeconds, source: "QA tests"), orFail: .ruaTokenExpired)
        }
        rules.judgeBeginning(of: token, &call.findings, orFail: .ruaTokenInvalid)
        rules.noteMilliseconds(in: token, &call.findings)
        if let customer { judgeSession(token, customer, &call, state, isRenewal: acceptsExpired) }
    }

    private func judgeKeyOwner(_ partner: RezolvePartner?, _ call: inout RezolveCall) {
        guard let sent = call.credentials.partner, let partner else { return }
        let isSame = sent.id == partner.id
        call.findings.add(
            Finding(
                "api-key-partner", isSame ? .passed : .failed,
                expected: .text(isSame ? partner.id : "the api key of partner \(partner.id), or none"),
                found: .text(isSame ? sent.id : "the api key of partner \(sent.id)"),
                note: isSame
                    ? nil
                    : "The token's customer \(call.credentials.token?.entityID ?? "") is of partner \(partner.id).",
                source: "QA tests"),
            orFail: .ruaAPIKeyWrong)
    }

    private func judgeSession(
        _ token: RezolveToken, _ customer: RezolveCustomer, _ call: inout RezolveCall, _ state: RezolveState,
        isRenewal: Bool
    ) {
        let user = state.users.user(entity: customer.entityID)
        // Whoever was registered by core has no user here, and yet the seed's flow renews by a ping.
        call.findings.add(
            Finding(
                "rua-user", user == nil && !isRenewal ? .failed : .passed,
                expected: .text(isRenewal ? "a customer" : "a customer with a user at RUA"),
                found: .text(user == nil ? customer.entityID + ", who has none" : customer.entityID),
                source: isRenewal ? "JWT page: register, later CREDENTIALS + \"ping\"" : "ours"),
            orFail: .ruaTokenInvalid)
        guard let user else { return }
        // A renewal after a logout is answered with an expired token: that is how the seed logs a customer out.
        if isRenewal, call.switches.pingAfterLogout == .expiredToken { return }
        call.findings.add(
            Finding(
                "session-open", user.isLoggedOut(on: token.deviceID) ? .failed : .passed,
                expected: .text("a session that was not logged out"),
                found: .text("user \(user.id) on device \(token.deviceID)"),
                source: "JWT page; switch ping-after-logout"),
            orFail: .ruaTokenInvalid)
    }
}
