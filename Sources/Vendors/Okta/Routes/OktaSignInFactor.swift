import Emulation
import JSON

/// The second factor on the sign-in page.
extension Okta {
    /// - Returns: what the client is told when the user gives up.
    static func takeFactor(
        _ signIn: inout OktaSignIn, _ policy: OktaSignInPolicy, _ call: OktaCall, _ state: inout State
    ) throws(Refused) -> Refused? {
        guard let authentication = signIn.authentication else { return nil }
        let parameters = call.credentials.parameters
        let action = parameters["action"] ?? "verify"
        if action == "cancel" {
            return Refusal(
                .accessDenied, because: "the user gave up at the second factor; expected one that is verified")
        }
        let factors = policy.factors(of: authentication, in: state)
        let id = parameters["factor"] ?? signIn.factorID
        let factor = try Refused.require(
            factors.first(where: { id?.hasSameBytes(as: $0.id) ?? true }), .factorCodeWrong,
            "found the factor \(id ?? ""); expected \(factors.map(\.id).joined(separator: " or "))")
        if signIn.factorID != factor.id { (signIn.factorID, signIn.challenge) = (factor.id, nil) }
        let isUnsentPush = factor.kind == .push && signIn.challengeResult(in: state, at: call.moment) == nil
        if action == "send" || isUnsentPush {
            send(factor, &signIn, call, &state)
        } else if factor.kind == .push {
            signIn = signIn.approved(in: state, at: call.moment) ?? signIn
        } else {
            try verify(parameters["passcode"] ?? "", of: factor, call, &state)
            signIn.authentication = authentication.adding(factor.kind.method)
        }
        return nil
    }

    /// Has the device or phone of a factor show something.
    private static func send(
        _ factor: OktaFactor, _ signIn: inout OktaSignIn, _ call: OktaCall, _ state: inout State
    ) {
        switch factor.kind {
        case .push: signIn.challenge = state.challenge(factor, at: call.moment).number
        case .sms, .call: state.sendCode(to: factor, call.identifiers)
        case .totp: break
        }
    }

    private static func verify(
        _ code: String, of factor: OktaFactor, _ call: OktaCall, _ state: inout State
    ) throws(Refused) {
        switch state.use(code: code, of: factor, at: call.moment) {
        case .right: return
        case .wrong:
            throw Refusal(
                .factorCodeWrong,
                because: "the passcode is not that of \(factor.id); expected the code of now, before or after")
        case .used:
            throw Refusal(
                .factorCodeUsed,
                because: "the passcode of \(factor.id), or a later one, was used before; expected the next one")
        }
    }
}

extension OktaSignIn {
    /// What became of the challenge to the user's device; `nil` without one.
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
