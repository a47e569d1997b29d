import Emulation
import JSON
import Tokens

/// Rules that need the state, and rules for operators.
///
/// Source: that users must be created, activated and not deactivated is documented (site), the tenants are ours.
extension IMS {
    static let userRules = RuleList([genuine, tokenIDUnused, userKnown, userActive])

    /// Refuses every token without a genuine signature, whatever earlier rules found (ours): its issuer may change
    /// while its keys are being fetched.
    private static let genuine = IMSRule(
        "signature-genuine", expects: .text("a signature by a key of the issuer"), source: "ours", .ours,
        orFail: [.keysUnavailable],
        by: { Refusal(.keysUnavailable, ["retry_after": .string(String($0.switches.coolDownSeconds))]) }
    ) { facts, finding in
        if facts.isGenuine || facts.isRefused { return nil }
        finding?.found = .absent
        return .failed
    }

    private static let tokenIDUnused = IMSRule(
        "token-id-unused", expects: .text("a jti of its own"),
        source: "security page, JWT Claims: jti, replay protection; the modes ours", orFail: .tokenReplayed
    ) { facts, finding in
        guard let issuer = facts.issuer, let use = facts.tokenUse else { return nil }
        let isSingle = issuer.record.replay == .singleUse
        if !isSingle { finding?.expected = .text("the device of the first use") }
        finding?.found = facts.token?.tokenID.map(Fact.text)
        switch use {
        case .unknown:
            finding?.expected = nil
            finding?.found = nil
            finding?.source = nil
            finding?.note = "Only a request tells whether the jti was used."
            return .notJudged
        case .first: return .passed
        case .repeated(let first, let now):
            if !isSingle, first.hasSameBytes(as: now) { return .passed }
            finding?.note =
                isSingle
                ? "replay of issuer \(issuer.record.name) is single-use, and this jti was used before."
                : "x-ims-device-id was \(named(first)) at the first use, and is \(named(now)) now."
            return .failed
        }
    }

    private static func named(_ device: String) -> String { device.isEmpty ? "none" : "“\(device)”" }

    private static let userKnown = IMSRule(
        "user-known", expects: .text("the enterprise id of a user of the issuer's tenant"),
        source: "security page, JWT Claims: sub; switch unknown-user", orFail: .userUnknown
    ) { facts, finding in
        guard let subject = facts.subject else { return nil }
        if let user = subject.user {
            finding?.expected = nil
            finding?.found = .text(IMSUser.id(user.number))
            finding?.source = "security page, JWT Claims: sub"
            return .passed
        }
        finding?.expected = .text("the enterprise id of a user of tenant \(subject.tenant)")
        finding?.found = .text(subject.name)
        finding?.note = subject.isAdopted ? "Switch unknown-user enrolls and activates the user." : subject.namesake
        return subject.isAdopted ? .noted : .failed
    }

    private static let userActive = IMSRule(
        "user-active", expects: .text(IMSUser.State.active.rawValue),
        source: "site: users are activated before use, and can be deactivated",
        orFail: [.userNotActive, .userDeactivated],
        by: { Refusal($0.subject?.user?.state == .deactivated ? .userDeactivated : .userNotActive) }
    ) { facts, finding in
        guard let subject = facts.subject, let user = subject.user else { return nil }
        let id = finding == nil ? "" : IMSUser.id(user.number)
        finding?.found = .text(user.state.rawValue)
        switch user.state {
        case .active: return .passed
        case .enrolled:
            finding?.note = "\(id) (\(subject.name)) has not activated the app: POST /ims/v1/activation does."
        case .deactivated:
            finding?.note = "\(id) (\(subject.name)) was deactivated: POST /ims/v1/users/\(id)/activate undoes it."
        }
        return .failed
    }
}

// MARK: - Operators

extension IMS {
    static let operatorRules = RuleList([
        IMSRule(
            "operator-key", expects: .text("x-ims-operator-key of the accounts"), source: "ours; switch operator-auth",
            .ours, orFail: [.operatorKeyMissing, .operatorKeyWrong],
            by: { Refusal($0.operator?.sent == nil ? .operatorKeyMissing : .operatorKeyWrong) }
        ) { facts, finding in
            guard let presented = facts.operator else { return nil }
            if presented.sent?.hasSameBytes(as: facts.operatorKey) == true { return .passed }
            // The value may be the key of another environment.
            finding?.found = presented.sent == nil ? .nothing("no x-ims-operator-key header") : .text("another value")
            finding?.note = presented.mistake(instead: facts.operatorKey)
            return facts.switches.operatorAuth == .open ? .noted : .failed
        }
    ])
}

extension IMSFacts.Operator {
    /// What was sent in place of the operator's key, or where the key was sent instead; shows neither.
    fileprivate func mistake(instead key: String) -> String? {
        guard let sent else {
            guard let authorization else { return nil }
            return String(decoding: authorization, as: UTF8.self).hasSuffix(key)
                ? "The operator's key stands in Authorization; it belongs in x-ims-operator-key."
                : "There is an Authorization header, which operator routes do not read."
        }
        if sent.isEmpty { return "x-ims-operator-key is empty." }
        if CompactToken(sent).isWellFormed { return "x-ims-operator-key holds a JWT; tokens belong in Authorization." }
        if sent.lowercased() == key.lowercased() { return "Only capitals differ." }
        if sent.utf8.count != key.utf8.count {
            return "It has \(sent.utf8.count) characters, the right one \(key.utf8.count)."
        }
        return nil
    }
}
