import Emulation
import JSON
import Tokens

/// Recoveries by the authentication API: of passwords and of locked accounts. Source: ref (authn).
extension Okta {
    /// Begins the recovery of a password or a locked account: a trusted app, which has the API token, gets the recovery
    /// token that others get by email.
    static func beginRecovery(_ call: inout OktaCall, _ state: inout State, isUnlock: Bool) throws(Refused) -> Reply {
        let isTrusted = OktaSSWS(call.request.fields).text?.hasSameBytes(as: call.vendor.accounts.apiToken) == true
        // The reference has one example in small letters.
        let (name, channel) = try call.json { ($0.text("username"), $0.optionalText("factorType")?.uppercased()) }
        let kind = [OktaFactor.Kind.sms, .call].first { $0.rawValue.uppercased() == channel }
        try Refused.require(
            isTrusted || channel == "EMAIL" || kind != nil, .recoveryForbidden,
            "found factorType \(channel ?? "absent"); expected EMAIL, SMS or CALL, or the API token of a trusted app")
        guard var user = state.user(name) else {
            try Refused.require(
                !isTrusted, .recoveryUserUnknown, "no user has the login or id \(name); expected one that exists")
            // As if there were such a user, since nobody shall learn who has an account. Source: ref (authn).
            call.findings.note(
                "recovery-user", expected: .text("the login or id of a user"), found: .text(name),
                note: "The answer is that for a user, and nothing is sent.", source: "ref (authn)")
            guard let kind else { return emailChallenge(isUnlock) }
            return call.begin(OktaAuthn(step: .recoveryChallenge)).challenge(isUnlock, kind, call)
        }
        try Refused.require(
            !isUnlock || user.status == .lockedOut, .unlockForbidden,
            "\(user.login) is \(user.status.rawValue); expected LOCKED_OUT")
        let factor = isTrusted ? nil : kind.flatMap { state.activeFactor($0, of: user.id) }
        try Refused.require(
            isTrusted || kind == nil || factor != nil, .recoveryForbidden,
            "\(user.login) has no active factor of type \(kind?.rawValue ?? ""); expected one, to whose phone the code "
                + "is sent")
        if !isUnlock { user.set(.recovery, at: call.moment) }
        if let factor {
            state.change(user)
            state.sendCode(to: factor, call.identifiers)
            let authn = OktaAuthn(step: .recoveryChallenge, userID: user.id, factorID: factor.id)
            return call.begin(authn).show(call, &state)
        }
        user.recoveryToken = call.identifiers.oktaID(ofLength: 20)
        state.change(user)
        guard isTrusted else { return emailChallenge(isUnlock) }
        return .json([
            "status": "RECOVERY", "recoveryToken": JSON(user.recoveryToken), "_embedded": ["user": user.signedIn()],
            "_links": ["next": call.link("recovery/token", "recovery")],
            "recoveryType": isUnlock ? "UNLOCK" : "PASSWORD",
        ])
    }

    private static func emailChallenge(_ isUnlock: Bool) -> Reply {
        .json([
            "status": "RECOVERY_CHALLENGE", "factorResult": "WAITING", "factorType": "EMAIL",
            "recoveryType": isUnlock ? "UNLOCK" : "PASSWORD",
        ])
    }

    static func verifyRecovery(_ call: inout OktaCall, _ state: inout State, isAgain: Bool) throws(Refused) -> Reply {
        let (token, code) = try call.json { ($0.text("stateToken"), isAgain ? "" : $0.text("passCode")) }
        let (transaction, user) = try call.transaction(token, at: [.recoveryChallenge], in: state)
        let kind = call.parameters["kind"].lowercased()
        let factor = try Refused.require(
            state.factors[transaction.content.factorID ?? ""].flatMap { $0.kind.rawValue == kind ? $0 : nil },
            .routeNotFound, "found recovery/factors/\(kind); expected the channel that the recovery began with")
        if isAgain {
            state.sendCode(to: factor, call.identifiers)
            return transaction.show(call, &state)
        }
        try call.use(code, of: factor, as: "token", &state)
        return transaction.recover(user, call, &state)
    }

    static func redeemRecoveryToken(_ call: inout OktaCall, _ state: inout State) throws(Refused) -> Reply {
        let token = try call.json { $0.text("recoveryToken") }
        let user = try Refused.require(
            state.users.all.first { $0.recoveryToken?.hasSameBytes(as: token) == true && !$0.isActive },
            .stateTokenInvalid, "no user has this recoveryToken; expected one that was not used")
        return call.begin(OktaAuthn(userID: user.id)).recover(user, call, &state)
    }

    static func answerRecoveryQuestion(_ call: inout OktaCall, _ state: inout State) throws(Refused) -> Reply {
        let (token, answer) = try call.json { ($0.text("stateToken"), $0.text("answer")) }
        let (transaction, user) = try call.transaction(token, at: [.recovery], in: state)
        try user.requireAnswer(answer)
        return transaction.recover(user, hasAnswered: true, call, &state)
    }
}

extension Okta.Transaction {
    /// What comes after what the user has shown: the question, the end of a lockout, or a new password.
    fileprivate func recover(
        _ user: OktaUser, hasAnswered: Bool = false, _ call: OktaCall, _ state: inout OktaState
    ) -> Reply {
        var (transaction, user) = (self, user)
        let asks = !hasAnswered && user.recoveryQuestion != nil
        if !asks, user.status == .lockedOut {
            user.set(.active, at: call.moment)
            state.change(user)
            state.stateTokens.remove(transaction.key)
            return .json(["status": "SUCCESS", "recoveryType": "UNLOCK"])
        }
        transaction.content.step = asks ? .recovery : .passwordReset
        return transaction.show(call, &state)
    }

    /// How every answer about it begins.
    var opening: JSONObject {
        ["stateToken": .string(id), "expiresAt": .string(expires.shown), "status": .string(content.step.rawValue)]
    }

    /// Asks for the code of a recovery, without a word on its user. Source: ref (authn), with the case of its examples.
    func challenge(_ isUnlock: Bool, _ kind: OktaFactor.Kind, _ call: OktaCall) -> Reply {
        let path = "recovery/factors/\(kind.rawValue.uppercased())"
        var answer = opening
        answer.append("factorType", .string(kind == .sms ? "SMS" : kind.rawValue))
        answer.append("recoveryType", isUnlock ? "UNLOCK" : "PASSWORD")
        let resend = call.link(path + "/resend", kind.rawValue)
        let next = call.link(path + "/verify", "verify")
        answer.append("_links", ["next": next, "cancel": call.link("cancel"), "resend": resend])
        return .json(.object(answer))
    }
}
