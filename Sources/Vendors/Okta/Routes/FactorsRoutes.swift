import Emulation
import JSON
import Tokens
import Wire

/// The factors of users.
extension Okta {
    static func listFactors(_ call: inout OktaCall, _ state: inout State) throws(Refused) -> Reply {
        let user = try call.user(in: state)
        return .json(.array(state.factors(of: user.id).map { $0.json(of: user) }))
    }

    /// Enrolls a factor: a device is active at once (ours), the others when they have shown a code.
    static func enrollFactor(_ call: inout OktaCall, _ state: inout State) throws(Refused) -> Reply {
        let user = try call.user(in: state)
        let (vendor, identifiers, moment) = (call.vendor, call.identifiers, call.moment)
        let factor = try call.json { body in
            vendor.factor(&body, of: user, identifiers, at: moment)
        }
        state.add(factor)
        if factor.phone != nil { state.sendCode(to: factor, identifiers) }
        return .json(factor.json(of: user))
    }

    private func factor(
        _ body: inout FieldReader, of user: OktaUser, _ identifiers: IdentifierSource, at moment: Moment
    ) -> OktaFactor {
        var factor = OktaFactor()
        factor.kind = body.choice("factorType", isRequired: true) ?? .totp
        if let provider = body.optionalText("provider", isRequired: true), !provider.hasSameBytes(as: "OKTA") {
            body.refuse("provider", "is another one; expected OKTA")
        }
        factor.id = factor.kind.newID(identifiers)
        (factor.userID, factor.created) = (user.id, moment)
        switch factor.kind {
        case .push:
            factor.publicKey = body.value(
                "publicKey", isRequired: true, expecting: OktaFactor.deviceKeyForm, OktaFactor.deviceKey)
        case .totp: factor.secret = OktaTOTP.newSecret(identifiers)
        case .sms, .call: factor.phone = body.nested("profile", isRequired: true) { $0.text("phoneNumber") }
        }
        factor.status = factor.kind == .push ? .active : .pendingActivation
        return factor
    }

    /// Activates a factor by the first code.
    static func activateFactor(_ call: inout OktaCall, _ state: inout State) throws(Refused) -> Reply {
        let user = try call.user(in: state)
        let factor = try call.factor(of: user, in: state)
        let code = try call.json { $0.text("passCode") }
        try Refused.require(
            factor.status == .pendingActivation, .userStatus,
            "\(factor.id) is \(factor.status.rawValue); expected PENDING_ACTIVATION")
        try call.use(code, of: factor, &state)
        state.factors.change(factor.key) { $0.status = .active }
        return .json((state.factors[factor.key] ?? factor).json(of: user))
    }

    /// Verifies a factor: by a code, by one that is sent first, or by a challenge to a device.
    static func verifyFactor(_ call: inout OktaCall, _ state: inout State) throws(Refused) -> Reply {
        let user = try call.user(in: state)
        let factor = try call.factor(of: user, in: state)
        let code = try call.json(isOptional: true) { $0.optionalText("passCode") }
        try Refused.require(
            factor.status == .active, .userStatus, "\(factor.id) is \(factor.status.rawValue); expected ACTIVE")
        switch factor.kind {
        case .push: return challenge(factor, of: user, call, &state)
        case .sms where code == nil, .call where code == nil:
            state.sendCode(to: factor, call.identifiers)
            return .json(["factorResult": "CHALLENGE"])
        case .totp, .sms, .call:
            guard let code else { throw Okta.missing("passCode", expected: "a string") }
            try call.use(code, of: factor, &state)
            return .json(["factorResult": "SUCCESS"])
        }
    }
}

extension OktaCall {
    /// The factor that the path names, which must be the user's.
    ///
    /// - Throws: ``OktaFailure/factorNotFound``
    func factor(of user: OktaUser, in state: OktaState) throws(OktaRefusal) -> OktaFactor {
        let id = parameters["factor"]
        if let factor = state.factor(id, of: user.id) { return factor }
        throw Refusal(
            .factorNotFound, ["id": .string(id)],
            because: "\(user.login) has no factor \(id)\(Nearest.known(state.factors(of: user.id).map(\.id)))")
    }

    /// Uses up a one-time code.
    ///
    /// - Throws: ``OktaFailure/factorCodeWrong`` or ``OktaFailure/factorCodeUsed``.
    fileprivate func use(_ code: String, of factor: OktaFactor, _ state: inout OktaState) throws(OktaRefusal) {
        switch state.use(code: code, of: factor, at: moment) {
        case .right: return
        case .wrong:
            throw Refusal(
                .factorCodeWrong,
                because: "found another code than those of \(factor.id); expected that of now, before or after")
        case .used:
            throw Refusal(
                .factorCodeUsed,
                because: "the code of \(factor.id), or a later one, was used before; expected the next one")
        }
    }
}

extension OktaFactor {
    static let deviceKeyForm = "a public RSA or P-256 key as a JWK"

    /// The JWK, if a device may sign its answers with such a key. The algorithms: validator page; devices.
    static func deviceKey(_ jwk: JSON) -> JSON? {
        guard let key = try? VerificationKey.jwk(jwk),
            key.algorithms.contains(.rs256) || key.algorithms.contains(.es256)
        else { return nil }
        return jwk
    }

    /// The factor as the management API shows it. Source: postman; a device's without profile ours.
    func json(of user: OktaUser) -> JSON {
        var shown: JSONObject = [
            "id": .string(id), "factorType": .string(kind.rawValue), "provider": "OKTA",
            "status": .string(status.rawValue),
        ]
        switch kind {
        case .push: break
        case .totp: shown.append("profile", ["credentialId": .string(user.login)])
        case .sms, .call: shown.append("profile", ["phoneNumber": JSON(phone)])
        }
        if kind == .totp, status == .pendingActivation {
            let activation: JSON = [
                "timeStep": JSON(OktaTOTP.stepSeconds), "sharedSecret": JSON(secret), "encoding": "base32",
                "keyLength": JSON(OktaTOTP.digitCount),
            ]
            shown.append("_embedded", ["activation": activation])
        }
        return .object(shown)
    }
}
