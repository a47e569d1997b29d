import Emulation
import JSON
import Tokens

/// Whose token it is, whose path, and which device.
///
/// Source: "token belongs to another user" and the device check are documented (JWT page); treating an unknown customer
/// as another user, and the order, are ours.
extension Rezolve {
    static let ownershipRules = RuleList([
        RezolveRule(
            "session-open", id: "session-revoked", expects: .text("a session that was not logged out"),
            source: "ours; switch logout-revokes-core", .ours, orFail: .tokenExpired
        ) { facts, finding in facts.switches.logoutRevokesCore == .yes ? facts.judgeSession(&finding) : nil },
        RezolveRule(
            "path-partner", expects: .text("the partner of the api key"), source: otherUser, orFail: .maskedOtherUser
        ) { facts, finding in facts.pathPartner.compare(with: facts.partner?.id, &finding) },
        RezolveRule(
            "registration-token-reuse", expects: .text("a login JWT"),
            source: "JWT page, Create the Session; switch registration-token-reuse", orFail: .maskedOtherUser
        ) { facts, finding in
            guard facts.token?.kind == .registration else { return nil }
            finding?.found = .text("a registration JWT")
            if facts.switches.registrationTokenReuse == .refuse { return .failed }
            finding?.expected = .text("any JWT of the customer")
            return .passed
        },
        customerKnown,
        RezolveRule(
            "customer-partner", expects: .text("a customer of the partner"), source: otherUser,
            orFail: .maskedOtherUser
        ) { facts, finding in
            facts.owner.flatMap {
                RezolveFacts.Presented.value($0.partnerID).compare(with: facts.partner?.id, &finding)
            }
        },
        RezolveRule(
            "path-entity", expects: .text("the customer of the token"), source: otherUser, orFail: .maskedOtherUser
        ) { facts, finding in facts.owner.flatMap { facts.pathEntity.compare(with: $0.entityID, &finding) } },
        partnerEntityID,
        RezolveRule(
            "device", expects: .text("the claim device_id"),
            source: "JWT page, Terminology: deviceId; switch device-check", orFail: .maskedDeviceMismatch
        ) { facts, finding in facts.judgeDevice(&finding) },
    ])

    private static let otherUser = "JWT page, 403: token belongs to another user"

    /// Refuses an unknown customer, or adopts it when the switch says so and the path names the same one.
    private static let customerKnown = RezolveRule(
        "customer-known", expects: .text("a registered customer"), source: "ours; switch unknown-entity", .ours,
        orFail: .maskedOtherUser
    ) { facts, finding in
        guard let token = facts.token, facts.owner == nil else { return nil }
        var isAdopted = false
        if case .value(let entity) = facts.pathEntity, facts.switches.unknownEntity == .adopt, token.kind == .login {
            isAdopted = token.entityID.hasSameBytes(as: entity)
        }
        let isLogin = token.kind == .login
        finding?.expected = .text(
            isLogin
                ? "rezolve_entity_id of a registered customer"
                : "partner_entity_id of a registered customer of partner \(facts.partner?.id ?? "of the api key")")
        finding?.found = .text(isLogin ? token.entityID : token.partnerEntityID)
        finding?.note = isAdopted ? "Switch unknown-entity creates the customer." : facts.absence
        return token.compact.claims == nil ? .notJudged : isAdopted ? .noted : .failed
    }

    private static let partnerEntityID = RezolveRule(
        "partner-entity-id", expects: .text("the partner's id of the customer"),
        source: "JWT page, Login JWT: your_partner_entity_id; switch partner-entity-id", orFail: .maskedOtherUser
    ) { facts, finding in
        guard let token = facts.token, let owner = facts.owner, facts.switches.partnerEntityID == .mustMatch else {
            return nil
        }
        let outcome = RezolveFacts.Presented.value(token.partnerEntityID).compare(with: owner.partnerEntityID, &finding)
        if outcome == .failed {
            finding?.note =
                token.partnerEntityID == facts.partner?.id
                ? "That is the partner's own id, as the sample apps send it; switch partner-entity-id = any takes it."
                : "Switch partner-entity-id = any takes another."
        }
        return outcome
    }
}

extension RezolveFacts {
    /// The device header equals the token's device.
    fileprivate func judgeDevice(_ finding: inout Finding?) -> Finding.Outcome? {
        guard let token, token.kind == .login else { return nil }
        switch switches.deviceCheck {
        case .off: return nil
        case .ifPresent:
            if case .absent = device { return nil }
            if token.deviceID.isEmpty { return nil }
        case .enforce: break
        }
        let outcome = device.compare(with: token.deviceID, &finding)
        if outcome == .failed {
            finding?.note = "The header x-rezolve-device-id must say the same as the claim device_id."
        }
        return outcome
    }
}

extension RezolveFacts.Presented {
    /// Whether this part of the request has the expected value, byte for byte.
    fileprivate func compare(with expected: String?, _ finding: inout Finding?) -> Finding.Outcome {
        finding?.expected = expected.map(Fact.text)
        switch self {
        case .unknown: return .notJudged
        case .absent:
            finding?.found = .absent
            return .failed
        case .value(let value):
            finding?.found = .text(value)
            return expected.map { $0.hasSameBytes(as: value) ? .passed : .failed } ?? .notJudged
        }
    }
}
