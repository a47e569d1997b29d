import Emulation
import JSON

/// What can happen with users' factors: on a phone, or at a help desk (all ours).
extension Okta {
    private static let whichFactor = ActionMember(
        "factor", "id or type of the factor; the user's first one that can have a code")

    static let factorActions: [VendorAction<Okta>] = [
        VendorAction(
            "enroll-factor", about: "Gives a user an active factor.",
            members: [
                whoseUser, ActionMember("type", kindNames, isRequired: true),
                ActionMember("secret", "of one-time codes, in base32; a new one"),
                ActionMember("phone", "of sms and call; +15550199"),
                ActionMember("public_key", "of push, as a JWK; none, so that only answer-push answers"),
                ActionMember("number_challenge", "of push: the number to choose on the device"),
            ], body: addFactor),
        VendorAction(
            "remove-factor", about: "Takes a factor from its user.",
            members: [ActionMember("factor", "id of the factor", isRequired: true)]
        ) { (call, state) throws(ActionRefusal) in
            let id = try call.required("factor")
            guard let factor = state.factors[id] else {
                throw ActionRefusal("no factor has the id \(id)\(Nearest.hint(to: id, among: known(state)))")
            }
            state.remove(factor)
            return shown(factor)
        },
        VendorAction(
            "answer-push", about: "Answers the newest challenge of a user's devices, as the user would there.",
            members: [whoseUser, ActionMember("result", "APPROVE or DENY; APPROVE")]
        ) { (call, state) throws(ActionRefusal) in
            let user = try user(call, state)
            let answer = try call.read { $0.choice("result", of: OktaTransaction.Answer.self) } ?? .approve
            let pending = state.factors(of: user.id).flatMap { state.pending($0, at: call.moment) }
            guard let newest = pending.max(by: { $0.number < $1.number }) else {
                throw ActionRefusal("no challenge to a device of \(user.login) waits for an answer")
            }
            state.answer(newest, answer)
            return [
                "transaction": .string(newest.id), "factor": .string(newest.factorID),
                "result": .string(answer.rawValue),
            ]
        },
        VendorAction(
            "factor-code", about: "Tells the code that a user's app shows now, or that a phone got last.",
            members: [whoseUser, whichFactor], reading: tellCode),
    ]

    private static let kindNames = OktaFactor.Kind.allCases.map(\.rawValue).joined(separator: ", ")

    private static func known(_ state: OktaState) -> [String] { state.factors.all.prefix(20).map(\.id) }

    private static func shown(_ factor: OktaFactor) -> JSON {
        ["factor": .string(factor.id), "type": .string(factor.kind.rawValue), "user": .string(factor.userID)]
    }

    @Sendable private static func addFactor(
        _ call: ActionCall<Okta>, _ state: inout OktaState
    ) throws(ActionRefusal) -> JSON {
        let user = try user(call, state)
        let identifiers = call.identifiers
        var factor = try call.read { members in
            var factor = OktaFactor()
            factor.kind = members.choice("type", isRequired: true) ?? .totp
            factor.secret = members.optionalText("secret", atMost: 255)
            if let secret = factor.secret, OktaTOTP(secret: secret) == nil {
                members.refuse("secret", "is not text in base32; expected A to Z and 2 to 7")
            }
            factor.phone = members.optionalText("phone", atMost: 255)
            factor.publicKey = members.value(
                "public_key", expecting: OktaFactor.deviceKeyForm, OktaFactor.deviceKey)
            factor.numberChallenge = members.optionalText("number_challenge", atMost: 255)
            return factor
        }
        factor.id = factor.kind.newID(identifiers)
        (factor.userID, factor.created) = (user.id, call.moment)
        switch factor.kind {
        case .totp: factor.secret = factor.secret ?? OktaTOTP.newSecret(identifiers)
        case .sms, .call: factor.phone = factor.phone ?? "+15550199"
        case .push: break
        }
        state.add(factor)
        return shown(factor)
    }

    @Sendable private static func tellCode(
        _ call: ActionCall<Okta>, _ state: OktaState
    ) throws(ActionRefusal) -> JSON {
        let user = try user(call, state)
        let name = try call.text("factor")
        let factors = state.factors(of: user.id).filter { factor in
            name.map { factor.id.hasSameBytes(as: $0) || factor.kind.rawValue.hasSameBytes(as: $0) } ?? true
        }
        for factor in factors {
            let code = factor.sentCode ?? factor.secret.flatMap(OktaTOTP.init)?.code(at: OktaTOTP.step(at: call.moment))
            guard let code else { continue }
            return [
                "factor": .string(factor.id), "type": .string(factor.kind.rawValue), "code": .string(code),
            ]
        }
        throw ActionRefusal(
            "\(user.login) has no factor\(name.map { " \($0)" } ?? "") with a code; sms and call have one when it was sent"
        )
    }
}
