import Emulation
import HTTPTypes
import JSON
import Wire

/// The sign-in page (all ours).
extension Okta {
    /// Shows the page of a sign-in; while a device is asked, it continues as soon as the device has answered.
    static func showSignIn(_ call: inout OktaCall, _ state: inout State) throws(Refused) -> Reply {
        guard let id = call.credentials.parameters["tx"] else {
            // Where a logout without an address of the client ends.
            return .respond(call.page(.done("Sign In", "Begin in your app; it leads here.")))
        }
        let signIn = try state.openSignIn(id, at: call.moment)
        let policy = try OktaSignInPolicy(signIn, call.vendor.accounts, state)
        // Only the browser that was shown the page may finish what it began.
        guard OktaPageSeal.isKnown(to: call.request), let approved = signIn.approved(in: state, at: call.moment) else {
            return .respond(page(of: signIn, call, state))
        }
        return try policy.proceed(approved, &call, &state)
    }

    static func submitSignIn(_ call: inout OktaCall, _ state: inout State) throws(Refused) -> Reply {
        let parameters = try call.form()
        var signIn = try state.openSignIn(parameters["tx"], at: call.moment)
        try OktaPageSeal.check(parameters, of: call)
        let policy = try OktaSignInPolicy(signIn, call.vendor.accounts, state)
        let refusal: Refused? =
            switch policy.step(of: signIn, in: state) {
            case .credentials: try takeCredentials(&signIn, call, state)
            case .secondFactor: try policy.takeFactor(&signIn, call, &state)
            case .consent: policy.takeConsent(&signIn, parameters, state)
            case .nothing: nil
            }
        guard let refusal else { return try policy.proceed(signIn, &call, &state) }
        state.finish(signIn)
        guard let code = signIn.deviceCode else { throw refusal }
        if let device = state.deviceGrants[code] { state.answer(device, device.authorization, approves: false) }
        return .respond(call.page(.deviceNotActivated))
    }

    static func style(_ call: inout OktaCall, _ state: inout State) throws(Refused) -> Reply {
        .respond(call.vendor.pages.style)
    }

    /// A page of a sign-in, sealed for the browser that asked for it.
    static func page(of signIn: OktaSignIn, _ call: OktaCall, _ state: State) -> Response {
        let view = OktaSignInView(
            vendor: call.vendor, base: call.arrival.base,
            seal: OktaPageSeal(call.request, call.identifiers, at: call.arrival.base), moment: call.moment)
        return view.response(to: call.request, of: signIn, in: state)
    }

    // MARK: - Who signs in

    /// - Returns: the answer to the client when the user refuses.
    private static func takeCredentials(
        _ signIn: inout OktaSignIn, _ call: OktaCall, _ state: State
    ) throws(Refused) -> Refused? {
        let parameters = call.credentials.parameters
        if parameters["action"] == "refuse" {
            let failures: [String: OktaFailure] = [
                "access_denied": .accessDenied, "login_required": .loginRequired, "server_error": .serverError,
                "temporarily_unavailable": .temporarilyUnavailable,
            ]
            let name = parameters["error"] ?? "access_denied"
            let failure = try Refused.require(
                failures[name], .bodyInvalid, with: ["member": "error"],
                "error is \(name); expected \(OktaPage.errors.joined(separator: " or "))")
            return Refused(failure, because: "the user chose \(name) on the sign-in page; expected a sign-in")
        }
        signIn.idClaims = try claims("id_claims", parameters)
        signIn.accessClaims = try claims("access_claims", parameters)
        signIn.authentication = try authentication(parameters, at: call.moment, state)
        return nil
    }

    private static func claims(_ name: String, _ parameters: OktaParameters) throws(Refused) -> JSON? {
        guard let text = parameters[name] else { return nil }
        func refusal(_ found: String) -> Refused {
            Refused(.loginClaimsInvalid, because: "\(name) \(found); expected a JSON object of at most 8 KiB")
        }
        guard text.utf8.count <= OktaSignIn.longestClaims else { throw refusal("has \(text.utf8.count) bytes") }
        let value: JSON
        do throws(JSONError) { value = try JSON.parse(Array(text.utf8)) } catch {
            throw refusal("is not JSON: \(error)")
        }
        guard let object = value.object else { throw refusal("is a JSON \(value.typeName)") }
        if object.repeatsName { throw refusal("has a member twice") }
        return value
    }

    /// A user by button, a guest by subject, or a user by password.
    private static func authentication(
        _ parameters: OktaParameters, at moment: Moment, _ state: State
    ) throws(Refused) -> OktaAuthentication {
        if parameters["user"] == nil, let guest = parameters["subject"] {
            try Refused.require(
                guest.utf8.count <= 255, .loginWrong, "subject has \(guest.utf8.count) bytes; expected at most 255")
            return OktaAuthentication(guest: guest, moment: moment, methods: ["pwd"])
        }
        let name = parameters["user"] ?? parameters["username"] ?? ""
        let user = try Refused.require(
            state.user(name), .loginWrong, "found no user with the login \(name); expected one, or a subject")
        if parameters["user"] == nil, user.password?.hasSameBytes(as: parameters["password"] ?? "") != true {
            throw Refused(.loginWrong, because: "the password is not that of \(user.login); expected the user's own")
        }
        try user.requireActive(orFail: .loginWrong)
        return OktaAuthentication(userID: user.id, moment: moment, methods: ["pwd"])
    }
}

extension OktaSignInPolicy {
    /// - Returns: the answer to the client when the user refuses.
    fileprivate func takeConsent(_ signIn: inout OktaSignIn, _ parameters: OktaParameters, _ state: State) -> Refused? {
        guard let authentication = signIn.authentication else { return nil }
        switch parameters["action"] {
        case "allow"?:
            let ticked = parameters.values("scope")
            let asked = scopesToConsent(authentication, in: state)
            // A browser leaves a fixed box out of the form.
            let allowed = asked.filter { $0.consent == .required || ticked.contains(exactly: $0.name) }.map(\.name)
            signIn.request.scopes.removeAll { name in asked.contains { $0.name == name } && !allowed.contains(name) }
            if signIn.request.scopes.isEmpty {
                return Refused(.accessDenied, because: "the user allowed no scope; expected one or more")
            }
            signIn.allowedScopes = allowed
            return nil
        case "deny"?: return Refused(.accessDenied, because: "the user did not consent; expected Allow Access")
        // The page is shown again.
        case .some, nil: return nil
        }
    }

    /// - Returns: the answer to the client when the user gives up.
    fileprivate func takeFactor(
        _ signIn: inout OktaSignIn, _ call: OktaCall, _ state: inout State
    ) throws(Refused) -> Refused? {
        guard let authentication = signIn.authentication else { return nil }
        let parameters = call.credentials.parameters
        let action = parameters["action"] ?? "verify"
        if action == "cancel" {
            return Refused(
                .accessDenied, because: "the user gave up at the second factor; expected one that is verified")
        }
        let factors = factors(of: authentication, in: state)
        let id = parameters["factor"] ?? signIn.factorID
        let factor = try Refused.require(
            factors.first(where: { id?.hasSameBytes(as: $0.id) ?? true }), .factorCodeWrong,
            "found the factor \(id ?? ""); expected \(factors.map(\.id).joined(separator: " or "))")
        if signIn.factorID != factor.id { (signIn.factorID, signIn.challenge) = (factor.id, nil) }
        let isUnsentPush = factor.kind == .push && signIn.challengeResult(in: state, at: call.moment) == nil
        if action == "send" || isUnsentPush {
            switch factor.kind {
            case .push: signIn.challenge = state.challenge(factor, at: call.moment).number
            case .sms, .call: state.sendCode(to: factor, call.identifiers)
            case .totp, .question: break
            }
        } else if factor.kind == .push {
            signIn = signIn.approved(in: state, at: call.moment) ?? signIn
        } else {
            try call.use(parameters["passcode"] ?? "", of: factor, &state)
            signIn.authentication = authentication.adding(factor.kind.method)
        }
        return nil
    }
}

extension OktaSignIn {
    /// The result of the challenge to the user's device; `nil` without one.
    func challengeResult(in state: OktaState, at moment: Moment) -> OktaTransaction.Result? {
        challenge.flatMap { state.transactions[$0] }?.result(at: moment)
    }

    /// The sign-in after the user has approved it on the device; `nil` until then.
    func approved(in state: OktaState, at moment: Moment) -> OktaSignIn? {
        guard let authentication, challengeResult(in: state, at: moment) == .success else { return nil }
        var signIn = self
        (signIn.authentication, signIn.challenge) = (authentication.adding(OktaFactor.Kind.push.method), nil)
        return signIn
    }
}
