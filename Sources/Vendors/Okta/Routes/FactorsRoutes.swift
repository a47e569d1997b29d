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
    func factor(of user: OktaUser, in state: OktaState) throws(OktaRefusal) -> OktaFactor {
        let id = parameters["factor"]
        if let factor = state.factor(id, of: user.id) { return factor }
        throw Refusal(
            .factorNotFound, ["id": .string(id)],
            because: "\(user.login) has no factor \(id)\(Nearest.known(state.factors(of: user.id).map(\.id)))")
    }

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

/// Challenges to devices: asked by a server, answered by the device with a token that it signs.
extension Okta {
    static func challenge(_ factor: OktaFactor, of user: OktaUser, _ call: OktaCall, _ state: inout State) -> Reply {
        let transaction = state.challenge(factor, at: call.moment)
        let path = "/api/v1/users/\(user.id)/factors/\(factor.id)/transactions/\(transaction.id)"
        return .json(
            [
                "factorResult": .string(OktaTransaction.Result.waiting.rawValue),
                "expiresAt": .string(transaction.expires.rfc3339),
                "_links": ["poll": ["href": .string(call.arrival.base + path)]],
            ], status: .created)
    }

    /// Lists what a device has to answer, in place of the push message that tells it (ours). Source of the values:
    /// validator page.
    static func listChallenges(_ call: inout OktaCall, _ state: inout State) throws(Refused) -> Reply {
        let user = try call.user(in: state)
        let factor = try call.factor(of: user, in: state)
        let host = OktaHost(of: call.arrival.base).authority
        let challenges = state.pending(factor, at: call.moment).map { transaction -> JSON in
            [
                "transactionId": .string(transaction.id), "factorId": .string(factor.id), "userId": .string(user.id),
                "host": .string(host), "createdAt": JSON(transaction.created.wholeSeconds),
                "expiresAt": JSON(transaction.expires.wholeSeconds),
            ]
        }
        return .json(["challenges": .array(challenges)])
    }

    static func pollChallenge(_ call: inout OktaCall, _ state: inout State) throws(Refused) -> Reply {
        let factor = try call.factor(of: try call.user(in: state), in: state)
        let id = call.parameters["transaction"]
        guard let transaction = state.transaction(id, of: factor) else {
            throw Refusal(
                .transactionNotFound, ["id": .string(id)],
                because: "\(factor.id) has no transaction \(id); expected the id of one that was begun")
        }
        let result = transaction.result(at: call.moment)
        var answer: JSONObject = ["factorResult": .string(result.rawValue)]
        if result == .waiting { answer.append("expiresAt", .string(transaction.expires.rfc3339)) }
        return .json(.object(answer))
    }

    /// Takes the answer of a device whose token passed every rule; only now is its `jti` used up.
    static func answerChallenge(_ call: inout OktaCall, _ state: inout State) throws(Refused) -> Reply {
        let answer = try call.json(isOptional: true) { $0.choice("result", of: OktaTransaction.Answer.self) }
        let factor = try call.factor(of: try call.user(in: state), in: state)
        let id = call.parameters["transaction"]
        guard let transaction = state.transaction(id, of: factor) else {
            throw Refusal(.transactionNotFound, ["id": .string(id)])
        }
        if let id = call.credentials.claims?["jti"]?.string {
            _ = state.use(.ssws, id, of: factor.id, until: Moment.representable.upperBound, at: call.moment)
        }
        state.answer(transaction, answer ?? .approve)
        let result: OktaTransaction.Result = answer == .deny ? .rejected : .success
        return .json(["factorResult": .string(result.rawValue)])
    }
}

/// The host of a base, as devices know it.
struct OktaHost {
    /// With the port, if the base has one.
    let authority: String
    /// Without the port.
    let name: String

    init(of base: String) {
        let start = base.firstRange(of: "://")?.upperBound ?? base.startIndex
        let authority = base[start...].prefix { $0 != "/" }
        // A colon inside brackets belongs to an IPv6 address.
        let behind = authority.lastIndex(of: "]") ?? authority.startIndex
        self.authority = String(authority)
        name = String(authority[..<(authority[behind...].lastIndex(of: ":") ?? authority.endIndex)])
    }
}
