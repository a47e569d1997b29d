import Emulation
import JSON
import Tokens

/// Rows 9 and 10: what only the state can tell, who the customer is and whose path it is.
///
/// Source: "token belongs to another user" and the device check are documented (seed); that an unknown customer counts
/// as another user, and the order, are ours.
extension Rezolve {
    func authorize(_ call: inout RezolveCall, _ state: RezolveState) {
        switch call.route.access {
        case .customer: authorizeCustomer(&call, state)
        case .guestLogin: authorizeGuestLogin(&call)
        case .session(let acceptsExpired): authorizeSession(&call, state, acceptsExpired: acceptsExpired)
        case .registration, .guestRegistration, .signIn: break
        }
    }

    private func authorizeCustomer(_ call: inout RezolveCall, _ state: RezolveState) {
        guard let token = call.credentials.token else { return }
        let customer = customer(of: token, call, state)
        judgeRevocation(of: token, customer, &call, state)
        judgePath(&call)
        judgeOwner(token, customer, &call)
        if token.kind == .login { judgeDevice(token, &call) }
    }

    /// Whom the token names: by entity id, or for a registration JWT by the partner's own id.
    private func customer(of token: RezolveToken, _ call: RezolveCall, _ state: RezolveState) -> RezolveCustomer? {
        switch token.kind {
        case .login: state.customers[token.entityID]
        case .registration:
            call.credentials.partner.flatMap {
                state.customer(partner: $0.id, partnerEntityID: token.partnerEntityID)
            }
        }
    }

    /// A logged-out session's token counts as expired when switch `logout-revokes-core` says so (ours).
    private func judgeRevocation(
        of token: RezolveToken, _ customer: RezolveCustomer?, _ call: inout RezolveCall, _ state: RezolveState
    ) {
        guard call.switches.logoutRevokesCore == .yes, let user = customer.flatMap({ state.user(entity: $0.entityID) })
        else { return }
        let isLoggedOut = state.isLoggedOut(user, device: token.deviceID)
        call.findings.add(
            Finding(
                "session-open", isLoggedOut ? .failed : .passed, expected: .text("a session that was not logged out"),
                source: "ours; switch logout-revokes-core"),
            orFail: .tokenExpired)
    }

    private func judgePath(_ call: inout RezolveCall) {
        let partner = call.credentials.partner
        let inPath = call.parameters["partner"]
        let isSame = partner?.id.hasSameBytes(as: inPath)
        call.findings.add(
            Finding(
                "path-partner", isSame.map { $0 ? .passed : .failed } ?? .notJudged,
                expected: partner.map { .text($0.id) }, found: .text(inPath),
                source: "seed, 403: token belongs to another user"),
            orFail: .maskedOtherUser)
    }

    private func judgeOwner(_ token: RezolveToken, _ customer: RezolveCustomer?, _ call: inout RezolveCall) {
        if token.kind == .registration {
            let isAccepted = call.switches.registrationTokenReuse == .accept
            call.findings.add(
                Finding(
                    "registration-token-reuse", isAccepted ? .passed : .failed,
                    expected: .text(isAccepted ? "any JWT of the customer" : "a login JWT"),
                    found: .text("a registration JWT"), source: "seed, Create the Session; switch registration-token-reuse"),
                orFail: .maskedOtherUser)
        }
        guard let customer else {
            judgeUnknownOwner(token, &call)
            return
        }
        add(
            "customer-partner", expected: call.credentials.partner?.id, found: customer.partnerID, to: &call,
            source: "seed, 403: token belongs to another user")
        add(
            "path-entity", expected: customer.entityID, found: call.parameters["entity"], to: &call,
            source: "seed, 403: token belongs to another user")
        if call.switches.partnerEntityID == .mustMatch {
            add(
                "partner-entity-id", expected: customer.partnerEntityID, found: token.partnerEntityID, to: &call,
                source: "seed: your_partner_entity_id; switch partner-entity-id")
        }
    }

    /// An unknown customer is refused, or adopted when the switch says so and the path names the same one.
    private func judgeUnknownOwner(_ token: RezolveToken, _ call: inout RezolveCall) {
        let isAdopted =
            call.switches.unknownEntity == .adopt && token.kind == .login
            && token.entityID.hasSameBytes(as: call.parameters["entity"])
        let found = token.kind == .login ? token.entityID : token.partnerEntityID
        call.findings.add(
            Finding(
                "customer-known", isAdopted ? .noted : .failed, expected: .text("a registered customer"),
                found: .text(found), note: isAdopted ? "Switch unknown-entity creates the customer." : nil,
                source: "ours; switch unknown-entity"),
            orFail: .maskedOtherUser)
    }

    /// Row 10: the device header says the same as the token.
    private func judgeDevice(_ token: RezolveToken, _ call: inout RezolveCall) {
        let header = call.request.fields[.deviceID]
        switch call.switches.deviceCheck {
        case .off: return
        case .ifPresent: if header == nil || token.deviceID.isEmpty { return }
        case .enforce: break
        }
        let isSame = header.map { $0.hasSameBytes(as: token.deviceID) } ?? false
        call.findings.add(
            Finding(
                "device", isSame ? .passed : .failed, expected: .text(token.deviceID),
                found: header.map(Fact.text) ?? .absent,
                note: header == nil ? "The header x-rezolve-device-id is absent." : nil,
                source: "seed, Terminology: deviceId; switch device-check"),
            orFail: .maskedDeviceMismatch)
    }

    /// A login JWT may log in the guest it names; its entity is held against the body by the handler.
    private func authorizeGuestLogin(_ call: inout RezolveCall) {
        guard let token = call.credentials.token, token.kind == .login else { return }
        judgeDevice(token, &call)
    }

    private func add(
        _ check: String, expected: String?, found: String, to call: inout RezolveCall, source: String
    ) {
        let isSame = expected.map { $0.hasSameBytes(as: found) }
        call.findings.add(
            Finding(
                check, isSame.map { $0 ? .passed : .failed } ?? .notJudged, expected: expected.map(Fact.text),
                found: .text(found), source: source),
            orFail: .maskedOtherUser)
    }
}

// MARK: - RUA

extension Rezolve {
    /// RUA finds the partner, and with it the key, through the token's customer; so the token is judged here.
    private func authorizeSession(_ call: inout RezolveCall, _ state: RezolveState, acceptsExpired: Bool) {
        guard let token = call.credentials.token else { return }
        let customer = state.customers[token.entityID]
        call.findings.add(
            Finding(
                "customer-known", customer == nil ? .failed : .passed, expected: .text("a registered customer"),
                found: .text(token.entityID), source: "qa"),
            orFail: .ruaTokenInvalid)
        let partner = customer.flatMap { accounts.partner(id: $0.partnerID) }
        let rules = RezolveTokenRules(switches: call.switches, moment: call.moment)
        rules.judgeSignature(of: token, by: partner?.authKey, &call.findings, orFail: .ruaTokenInvalid)
        rules.judgeMembers(of: token, &call.findings, orFail: .ruaTokenInvalid)
        judgePartner(partner, &call)
        if !acceptsExpired {
            call.findings.add(
                token.compact.expiry(at: call.moment.unixSeconds, source: "qa"), orFail: .ruaTokenExpired)
        }
        judgeSession(token, customer, &call, state, isRenewal: acceptsExpired)
    }

    private func judgePartner(_ partner: RezolvePartner?, _ call: inout RezolveCall) {
        guard let sent = call.credentials.partner, let partner else { return }
        call.findings.add(
            Finding(
                "api-key-partner", sent.id == partner.id ? .passed : .failed, expected: .text(partner.id),
                found: .text(sent.id), source: "qa"),
            orFail: .ruaAPIKeyWrong)
    }

    private func judgeSession(
        _ token: RezolveToken, _ customer: RezolveCustomer?, _ call: inout RezolveCall, _ state: RezolveState,
        isRenewal: Bool
    ) {
        guard let customer else { return }
        let user = state.user(entity: customer.entityID)
        call.findings.add(
            Finding(
                "rua-user", user == nil ? .failed : .passed, expected: .text("a customer with a RUA user"),
                found: .text(customer.entityID), source: "ours"),
            orFail: .ruaTokenInvalid)
        guard let user else { return }
        // A renewal after a logout is answered with an expired token: that is how the seed logs a customer out.
        if isRenewal, call.switches.pingAfterLogout == .expiredToken { return }
        let isLoggedOut = state.isLoggedOut(user, device: token.deviceID)
        call.findings.add(
            Finding(
                "session-open", isLoggedOut ? .failed : .passed, expected: .text("a session that was not logged out"),
                source: "seed; switch ping-after-logout"),
            orFail: .ruaTokenInvalid)
    }
}
