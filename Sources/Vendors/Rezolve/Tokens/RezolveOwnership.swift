import Emulation
import JSON
import Tokens

/// Rows 9 and 10 of Rezolve's checks: whose token it is, whose path, and which device.
///
/// Source: "token belongs to another user" and the device check are documented (seed); that an unknown customer counts
/// as another user, and the order, are ours.
struct RezolveOwnership {
    /// A part of the request; a token can also be judged without one.
    enum Presented {
        case unknown
        case absent
        case value(String)
    }

    let token: RezolveToken
    /// The partner that the api key names, or whose key fits.
    let partner: RezolvePartner?
    let switches: RezolveSwitches
    let state: RezolveState
    var pathPartner = Presented.unknown
    var pathEntity = Presented.unknown
    var device = Presented.unknown

    /// Judges everything, in the vendor's order.
    func judge(_ findings: inout Findings<RezolveFailure>) {
        let customer = customer
        judgeRevocation(of: customer, &findings)
        compare("path-partner", expected: partner?.id, pathPartner, &findings)
        judgeReuse(&findings)
        judgeOwner(customer, &findings)
        if token.kind == .login { judgeDevice(&findings) }
    }

    /// Whom the token names: by entity id, or for a registration JWT by the partner's own id.
    private var customer: RezolveCustomer? {
        switch token.kind {
        case .login: state.customers[token.entityID]
        case .registration:
            partner.flatMap { state.customer(partner: $0.id, partnerEntityID: token.partnerEntityID) }
        }
    }

    /// A logged-out session's token counts as expired when switch `logout-revokes-core` says so (ours).
    private func judgeRevocation(of customer: RezolveCustomer?, _ findings: inout Findings<RezolveFailure>) {
        guard switches.logoutRevokesCore == .yes, let user = customer.flatMap({ state.users.user(entity: $0.entityID) })
        else { return }
        findings.add(
            Finding(
                "session-open", user.isLoggedOut(on: token.deviceID) ? .failed : .passed,
                expected: .text("a session that was not logged out"),
                found: .text("user \(user.id) on device \(token.deviceID)"),
                source: "ours; switch logout-revokes-core"),
            orFail: .tokenExpired)
    }

    private func judgeReuse(_ findings: inout Findings<RezolveFailure>) {
        guard token.kind == .registration else { return }
        let isAccepted = switches.registrationTokenReuse == .accept
        findings.add(
            Finding(
                "registration-token-reuse", isAccepted ? .passed : .failed,
                expected: .text(isAccepted ? "any JWT of the customer" : "a login JWT"),
                found: .text("a registration JWT"),
                source: "JWT page, Create the Session; switch registration-token-reuse"),
            orFail: .maskedOtherUser)
    }

    private func judgeOwner(_ customer: RezolveCustomer?, _ findings: inout Findings<RezolveFailure>) {
        guard let customer else {
            findings.add(unknownCustomer, orFail: .maskedOtherUser)
            return
        }
        compare("customer-partner", expected: partner?.id, .value(customer.partnerID), &findings)
        compare("path-entity", expected: customer.entityID, pathEntity, &findings)
        if switches.partnerEntityID == .mustMatch {
            compare(
                "partner-entity-id", expected: customer.partnerEntityID, .value(token.partnerEntityID), &findings,
                note: token.partnerEntityID == partner?.id
                    ? "That is the partner's own id, as the sample apps send it; switch partner-entity-id = any takes it."
                    : "Switch partner-entity-id = any takes another.",
                source: "JWT page, Login JWT: your_partner_entity_id; switch partner-entity-id")
        }
    }

    /// An unknown customer is refused, or adopted when the switch says so and the path names the same one.
    private var unknownCustomer: Finding {
        var isAdopted = false
        if case .value(let entity) = pathEntity, switches.unknownEntity == .adopt, token.kind == .login {
            isAdopted = token.entityID.hasSameBytes(as: entity)
        }
        return Finding(
            "customer-known", token.compact.claims == nil ? .notJudged : isAdopted ? .noted : .failed,
            expected: .text(
                token.kind == .login
                    ? "rezolve_entity_id of a registered customer"
                    : "partner_entity_id of a registered customer of partner \(partner?.id ?? "of the api key")"),
            found: .text(token.kind == .login ? token.entityID : token.partnerEntityID),
            note: isAdopted ? "Switch unknown-entity creates the customer." : state.absence(of: token),
            source: "ours; switch unknown-entity")
    }

    /// Row 10: the device header says the same as the token.
    func judgeDevice(_ findings: inout Findings<RezolveFailure>) {
        switch switches.deviceCheck {
        case .off: return
        case .ifPresent:
            if case .absent = device { return }
            if token.deviceID.isEmpty { return }
        case .enforce: break
        }
        compare(
            "device", expected: token.deviceID, device, &findings, orFail: .maskedDeviceMismatch,
            note: "The header x-rezolve-device-id must say the same as the claim device_id.",
            source: "JWT page, Terminology: deviceId; switch device-check")
    }

    private func compare(
        _ check: String, expected: String?, _ presented: Presented, _ findings: inout Findings<RezolveFailure>,
        orFail failure: RezolveFailure = .maskedOtherUser, note: String? = nil,
        source: String = "JWT page, 403: token belongs to another user"
    ) {
        let (isSame, found): (Bool?, Fact?) =
            switch presented {
            case .unknown: (nil, nil)
            case .absent: (false, .absent)
            case .value(let value): (expected.map { $0.hasSameBytes(as: value) }, .text(value))
            }
        findings.add(
            Finding(
                check, isSame.map { $0 ? .passed : .failed } ?? .notJudged, expected: expected.map(Fact.text),
                found: found, note: isSame == false ? note : nil, source: source),
            orFail: failure)
    }
}
