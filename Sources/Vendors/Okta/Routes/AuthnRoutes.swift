import Emulation
import JSON

/// A sign-in or recovery by the authentication API that needs more steps. Source: ref (authn).
struct OktaAuthn: OktaTicketContent {
    enum Step: String, CaseIterable, RecordValue {
        case passwordExpired = "PASSWORD_EXPIRED", passwordWarn = "PASSWORD_WARN", passwordReset = "PASSWORD_RESET"
        case recoveryChallenge = "RECOVERY_CHALLENGE", recovery = "RECOVERY"
        case mfaRequired = "MFA_REQUIRED", mfaChallenge = "MFA_CHALLENGE"
        case mfaEnroll = "MFA_ENROLL", mfaEnrollActivate = "MFA_ENROLL_ACTIVATE"
    }

    var step = Step.mfaRequired
    var userID = ""
    /// What the user has shown; values of `amr`.
    var methods = ["pwd"]
    var factorID: String?
    /// The number of the challenge to the device of the factor.
    var challenge: Int?
    /// Whether a password that ends soon was changed, or that was put off.
    var isWarned = false

    mutating func code(_ coder: inout RecordCoder) {
        coder.member("step", &step)
        coder.member("user", &userID)
        coder.member("methods", &methods, or: [])
        coder.member("factor", &factorID)
        coder.member("challenge", &challenge, in: 1...Ordinal.largest)
        coder.member("warned", &isWarned, or: false)
    }

    mutating func note(_ factor: OktaFactor) { methods = Set(methods + [factor.kind.method, "mfa"]).sorted() }
}

/// The authentication API, for apps that ask for the password themselves. Source: ref (authn); authjs, tests.
extension Okta {
    typealias Transaction = OktaTicket<OktaAuthn>

    /// Begins a sign-in with login and password, or tells where one is.
    static func authenticateUser(_ call: inout OktaCall, _ state: inout State) throws(Refused) -> Reply {
        let (token, login, password) = try call.json { body in
            let token = body.optionalText("stateToken")
            return (token, token == nil ? body.text("username") : "", token == nil ? body.text("password") : "")
        }
        if let token { return try call.transaction(token, in: state).0.show(call, &state) }
        let user = try Refused.require(
            state.user(login), .authnFailed, "no user has the login or id \(login); expected one that exists")
        try user.requirePassword(password, orFail: .authnFailed)
        if user.status == .lockedOut, call.switches.authnLockout == .show {
            return .json(["status": "LOCKED_OUT", "_links": ["next": call.link("recovery/unlock", "unlock")]])
        }
        try Refused.require(
            user.isActive || user.status == .passwordExpired, .authnFailed,
            "\(user.login) is \(user.status.rawValue); expected ACTIVE or PASSWORD_EXPIRED")
        return call.begin(OktaAuthn(userID: user.id)).proceed(of: user, call, &state)
    }

    /// Verifies a factor; without a code it is sent, or the device asked.
    static func verifyAuthnFactor(_ call: inout OktaCall, _ state: inout State) throws(Refused) -> Reply {
        let token = try call.json { $0.text("stateToken") }
        var (transaction, user) = try call.transaction(token, at: [.mfaRequired, .mfaChallenge], in: state)
        let factor = try call.factor(of: user, in: state)
        let code = try call.json { $0.optionalText(factor.kind.proof) }
        if transaction.content.factorID != factor.id { transaction.content.challenge = nil }
        (transaction.content.step, transaction.content.factorID) = (.mfaChallenge, factor.id)
        switch factor.kind {
        case .push:
            let known = transaction.content.challenge.flatMap { state.transactions[$0] }
            let challenge = known ?? state.challenge(factor, at: call.moment)
            let result = challenge.result(at: call.moment)
            if result == .success { break }
            // After one that has ended, the next request begins another.
            transaction.content.challenge = result == .waiting ? challenge.number : nil
            return transaction.show(call, &state, result)
        case .sms where code == nil, .call where code == nil:
            state.sendCode(to: factor, call.identifiers)
            return transaction.show(call, &state)
        case .totp, .sms, .call, .question:
            try call.use(code, of: factor, &state)
        }
        transaction.content.note(factor)
        return transaction.proceed(of: user, call, &state)
    }

    /// Enrolls a factor for a user who needs one and has none.
    static func enrollAuthnFactor(_ call: inout OktaCall, _ state: inout State) throws(Refused) -> Reply {
        let token = try call.json { $0.text("stateToken") }
        var (transaction, user) = try call.transaction(token, at: [.mfaEnroll], in: state)
        let factor = try call.enroll(of: user, &state)
        (transaction.content.step, transaction.content.factorID) = (.mfaEnrollActivate, factor.id)
        if factor.status == .active { transaction.content.note(factor) }
        return transaction.proceed(of: user, call, &state)
    }

    /// Activates it by a code, which may be sent again.
    static func activateAuthnFactor(
        _ call: inout OktaCall, _ state: inout State, isAgain: Bool
    ) throws(Refused) -> Reply {
        let (token, code) = try call.json { ($0.text("stateToken"), isAgain ? "" : $0.text("passCode")) }
        var (transaction, user) = try call.transaction(token, at: [.mfaEnrollActivate], in: state)
        let factor = try call.factor(of: user, in: state)
        if isAgain {
            if factor.phone != nil { state.sendCode(to: factor, call.identifiers) }
            return transaction.show(call, &state)
        }
        try call.use(code, of: factor, &state)
        state.factors.change(factor.key) { $0.status = .active }
        transaction.content.note(factor)
        return transaction.proceed(of: user, call, &state)
    }

    static func skipAuthn(_ call: inout OktaCall, _ state: inout State) throws(Refused) -> Reply {
        let token = try call.json { $0.text("stateToken") }
        var (transaction, user) = try call.transaction(token, at: [.passwordWarn], in: state)
        transaction.content.isWarned = true
        return transaction.proceed(of: user, call, &state)
    }

    /// Cancels a transaction, or goes back to the choice of a factor.
    static func moveAuthn(_ call: inout OktaCall, _ state: inout State, isCancelled: Bool) throws(Refused) -> Reply {
        let token = try call.json { $0.text("stateToken") }
        let steps = isCancelled ? OktaAuthn.Step.allCases : [.mfaChallenge, .mfaEnrollActivate]
        var (transaction, _) = try call.transaction(token, at: steps, in: state)
        if isCancelled {
            state.stateTokens.remove(transaction.key)
            return .json([:])
        }
        let isEnrolling = transaction.content.step == .mfaEnrollActivate
        if isEnrolling, let factor = state.factors[transaction.content.factorID ?? ""] { state.remove(factor) }
        transaction.content.step = isEnrolling ? .mfaEnroll : .mfaRequired
        (transaction.content.factorID, transaction.content.challenge) = (nil, nil)
        return transaction.show(call, &state)
    }

    /// Sets a new password: in place of an old one, or after a recovery.
    static func setAuthnPassword(_ call: inout OktaCall, _ state: inout State, isReset: Bool) throws(Refused) -> Reply {
        let (token, old, new) = try call.json {
            ($0.text("stateToken"), isReset ? "" : $0.text("oldPassword"), $0.text("newPassword"))
        }
        let steps: [OktaAuthn.Step] = isReset ? [.passwordReset] : [.passwordExpired, .passwordWarn]
        var (transaction, user) = try call.transaction(token, at: steps, in: state)
        if !isReset { try user.requirePassword(old) }
        call.setPassword(new, of: &user)
        state.change(user)
        transaction.content.isWarned = true
        return transaction.proceed(of: user, call, &state)
    }

    // MARK: - Recoveries of passwords and of locked accounts

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
        let type: JSON = isUnlock ? "UNLOCK" : "PASSWORD"
        let emailed: JSON = [
            "status": "RECOVERY_CHALLENGE", "factorResult": "WAITING", "factorType": "EMAIL", "recoveryType": type,
        ]
        guard var user = state.user(name) else {
            try Refused.require(
                !isTrusted, .recoveryUserUnknown, "no user has the login or id \(name); expected one that exists")
            // As if there were such a user, since nobody shall learn who has an account. Source: ref (authn).
            call.findings.note(
                "recovery-user", expected: .text("the login or id of a user"), found: .text(name),
                note: "The answer is that for a user, and nothing is sent.", source: "ref (authn)")
            guard let kind else { return .json(emailed) }
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
        guard isTrusted else { return .json(emailed) }
        return .json([
            "status": "RECOVERY", "recoveryToken": JSON(user.recoveryToken), "_embedded": ["user": user.signedIn()],
            "_links": ["next": call.link("recovery/token", "recovery")], "recoveryType": type,
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
        return transaction.recover(user, asks: user.recoveryQuestion != nil, call, &state)
    }

    static func redeemRecoveryToken(_ call: inout OktaCall, _ state: inout State) throws(Refused) -> Reply {
        let token = try call.json { $0.text("recoveryToken") }
        let user = try Refused.require(
            state.users.all.first { $0.recoveryToken?.hasSameBytes(as: token) == true && !$0.isActive },
            .stateTokenInvalid, "no user has this recoveryToken; expected one that was not used")
        let transaction = call.begin(OktaAuthn(userID: user.id))
        return transaction.recover(user, asks: user.recoveryQuestion != nil, call, &state)
    }

    static func answerRecoveryQuestion(_ call: inout OktaCall, _ state: inout State) throws(Refused) -> Reply {
        let (token, answer) = try call.json { ($0.text("stateToken"), $0.text("answer")) }
        let (transaction, user) = try call.transaction(token, at: [.recovery], in: state)
        try user.requireAnswer(answer)
        return transaction.recover(user, asks: false, call, &state)
    }
}

extension Okta.Transaction {
    /// What comes after what the user has shown: a further step, or the session token.
    fileprivate func proceed(of user: OktaUser, _ call: OktaCall, _ state: inout OktaState) -> Reply {
        var transaction = self
        let hasFactor = !state.activeFactors(of: user.id).isEmpty
        let isVerified = transaction.content.methods.contains("mfa")
        if call.switches.authnMFA != .off, hasFactor, !isVerified {
            transaction.content.step = .mfaRequired
        } else if call.switches.authnMFA == .required, !isVerified {
            if transaction.content.step != .mfaEnrollActivate { transaction.content.step = .mfaEnroll }
        } else if user.status == .passwordExpired {
            transaction.content.step = .passwordExpired
        } else if call.switches.warnsOfPassword, !transaction.content.isWarned {
            transaction.content.step = .passwordWarn
        } else {
            state.stateTokens.remove(transaction.key)
            let authentication = OktaAuthentication(
                userID: user.id, moment: call.moment, methods: transaction.content.methods)
            let token = OktaTicket<OktaAuthentication>(
                call.identifiers.opaque(ofLength: 43), for: authentication, at: call.moment)
            state.sessionTokens.add(token, within: OktaState.shortBound)
            return .json([
                "expiresAt": .string(token.expires.shown), "status": "SUCCESS", "sessionToken": .string(token.id),
                "_embedded": ["user": user.signedIn()], "_links": ["cancel": call.link("cancel")],
            ])
        }
        return transaction.show(call, &state)
    }

    func show(_ call: OktaCall, _ state: inout OktaState, _ result: OktaTransaction.Result? = nil) -> Reply {
        state.stateTokens.add(self, within: OktaState.shortBound)
        let (authn, user) = (content, state.users[content.userID] ?? OktaUser())
        let factor = state.factors[authn.factorID ?? ""] ?? OktaFactor()
        var embedded: JSONObject = ["user": user.signedIn(asking: authn.step == .recovery)]
        var links: JSONObject = [:]
        switch authn.step {
        case .passwordExpired, .passwordWarn:
            links.append("next", call.link("credentials/change_password", "changePassword"))
            if authn.step == .passwordExpired { break }
            // ours: the days.
            embedded.append("policy", ["expiration": ["passwordExpireDays": 5]])
            links.append("skip", call.link("skip", "skip"))
        case .passwordReset: links.append("next", call.link("credentials/reset_password", "resetPassword"))
        case .recoveryChallenge: return challenge(user.status == .lockedOut, factor.kind, call)
        case .recovery: links.append("next", call.link("recovery/answer", "answer"))
        case .mfaRequired:
            let factors = state.activeFactors(of: user.id).map {
                $0.inAuthn(of: user, call.link("factors/\($0.id)/verify"))
            }
            embedded.append("factors", .array(factors))
        case .mfaEnroll:
            let factors = OktaFactor.Kind.allCases.map { kind -> JSON in
                var links: JSONObject = ["enroll": call.link("factors")]
                let questions = "\(call.arrival.base)/api/v1/users/\(user.id)/factors/questions"
                if kind == .question { links.append("questions", .link(questions, "GET")) }
                return [
                    "factorType": .string(kind.rawValue), "provider": "OKTA", "vendorName": "OKTA",
                    "status": "NOT_SETUP", "enrollment": "REQUIRED", "_links": .object(links),
                ]
            }
            embedded.append("factors", .array(factors))
        case .mfaEnrollActivate, .mfaChallenge:
            let isNew = authn.step == .mfaEnrollActivate
            let path = "factors/\(factor.id)/" + (isNew ? "lifecycle" : "verify")
            embedded.append("factor", factor.inAuthn(of: user, nil))
            let name = isNew ? "activate" : result == nil ? "verify" : "poll"
            links.append("next", call.link(path + (isNew ? "/activate" : ""), name))
            links.append("prev", call.link("previous"))
            if isNew, factor.phone == nil { break }
            links.append("resend", [call.link(path + "/resend", factor.kind.rawValue)])
        }
        links.append("cancel", call.link("cancel"))
        var answer = opening
        if authn.step == .recovery { answer.append("recoveryType", user.status == .lockedOut ? "UNLOCK" : "PASSWORD") }
        if let result { answer.append("factorResult", .string(result.rawValue)) }
        answer.append("_embedded", .object(embedded))
        answer.append("_links", .object(links))
        return .json(.object(answer))
    }

    /// What comes after what the user has shown: the question, the end of a lockout, or a new password.
    fileprivate func recover(_ user: OktaUser, asks: Bool, _ call: OktaCall, _ state: inout OktaState) -> Reply {
        var (transaction, user) = (self, user)
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

extension OktaCall {
    func begin(_ authn: OktaAuthn) -> Okta.Transaction {
        OktaTicket(identifiers.opaque(ofLength: 42), for: authn, at: moment)
    }

    func link(_ path: String, _ name: String? = nil) -> JSON {
        .link("\(arrival.base)/api/v1/authn/\(path)", "POST", named: name)
    }

    /// The transaction of a state token, which lasts as long again once it is kept, and its user.
    func transaction(
        _ token: String, at steps: [OktaAuthn.Step] = OktaAuthn.Step.allCases, in state: OktaState
    ) throws(Refused) -> (Okta.Transaction, OktaUser) {
        let known = state.stateTokens[token]
        guard var transaction = known, let user = state.users[transaction.content.userID],
            transaction.complaint(at: moment) == nil
        else {
            let found = known?.complaint(at: moment) ?? "found one that is unknown or finished"
            throw Refused(.stateTokenInvalid, because: "stateToken: \(found); expected that of an open transaction")
        }
        let step = transaction.content.step
        try Refused.require(
            steps.contains(step), .authnState,
            "the transaction is in \(step.rawValue); expected \(steps.map(\.rawValue).joined(separator: " or "))")
        transaction.expires = moment + Okta.Transaction.lifetime
        return (transaction, user)
    }
}

extension OktaFactor {
    /// Without most of the number of a phone, since the user has shown no more than a password.
    fileprivate func inAuthn(of user: OktaUser, _ verify: JSON?) -> JSON {
        var shown = json(of: user, "").object ?? [:]
        for name in ["status", "created", "lastUpdated", "_links"] { shown[name] = nil }
        if let phone { shown["profile"] = ["phoneNumber": .string(OktaPhone.masked(phone))] }
        if let verify { shown.append("_links", ["verify": verify]) }
        return .object(shown)
    }
}

extension OktaUser {
    /// The user as the authentication API shows it. Source: ref (authn), whose locale and time zone are its examples'.
    func signedIn(asking: Bool = false) -> JSON {
        var shown: JSONObject = [
            "id": .string(id), "passwordChanged": JSON(passwordChanged?.shown),
            "profile": [
                "login": .string(login), "firstName": .string(firstName), "lastName": .string(lastName),
                "locale": profile["locale"] ?? "en_US", "timeZone": profile["timezone"] ?? "UTC",
            ],
        ]
        if asking { shown.append("recovery_question", ["question": JSON(recoveryQuestion)]) }
        return .object(shown)
    }
}
