import Emulation
import JSON

/// The grants of direct authentication, each for one factor. Source: guide:configure-direct-auth-grants, api.
extension Okta {
    /// The grant `otp`: a one-time password first.
    static func redeemOneTimePassword(
        _ call: inout OktaCall, _ state: inout State, _ request: OktaTokenRequest
    ) throws(Refused) -> Reply {
        let scopes = try request.server.scopes(of: request.parameters.words("scope"))
        let user = try user(hinted: request.parameters, in: state)
        let factor = try factor(.totp, of: user.id, in: state)
        try use(request.parameters["otp"], of: factor, in: &state, at: call.moment)
        let authorization = firstFactor("otp", of: user.id, scopes, call, request)
        return try passFirstFactor(authorization, &call, &state, request)
    }

    /// The grant `oob`: an answer out of band first.
    static func redeemOutOfBandCode(
        _ call: inout OktaCall, _ state: inout State, _ request: OktaTokenRequest
    ) throws(Refused) -> Reply {
        let scopes = try request.server.scopes(of: request.parameters.words("scope"))
        let challenge = try oobChallenge(request, in: state, at: call.moment)
        try Refused.require(
            challenge.content.mfaToken == nil, .directNotAssociated,
            "found the oob_code of a second factor; expected one of a first factor")
        try requireActive(challenge.content.authorization, in: state, orFail: .directUserUnknown)
        try requireAnswer(to: challenge.content, request, in: &state, at: call.moment)
        let userID = challenge.content.authorization.userID ?? ""
        let authorization = firstFactor(challenge.content.channel.method, of: userID, scopes, call, request)
        return try passFirstFactor(authorization, &call, &state, request) { state in
            state.oobChallenges.change(challenge.key) { $0.isUsed = true }
        }
    }

    /// The grant `mfa-otp`: a one-time password after another factor.
    static func redeemSecondOneTimePassword(
        _ call: inout OktaCall, _ state: inout State, _ request: OktaTokenRequest
    ) throws(Refused) -> Reply {
        let text = try request.parameters.required("mfa_token")
        let token = try mfaToken(text, request, in: state, at: call.moment)
        try requireSameScopes(token.content, request)
        let factor = try secondFactor(.totp, after: token.content, in: state)
        try use(request.parameters["otp"], of: factor, in: &state, at: call.moment)
        return try passSecondFactor("otp", of: token, &call, &state, request)
    }

    /// The grant `mfa-oob`: an answer out of band after another factor.
    static func redeemSecondOutOfBandCode(
        _ call: inout OktaCall, _ state: inout State, _ request: OktaTokenRequest
    ) throws(Refused) -> Reply {
        let challenge = try oobChallenge(request, in: state, at: call.moment)
        let token = try mfaToken(of: challenge.content, request, in: state, at: call.moment)
        try requireSameScopes(token.content, request)
        try requireAnswer(to: challenge.content, request, in: &state, at: call.moment)
        return try passSecondFactor(challenge.content.channel.method, of: token, &call, &state, request) { state in
            state.oobChallenges.change(challenge.key) { $0.isUsed = true }
        }
    }

    /// The sign-in whose second factor a challenge is. The request need not name it (guide leaves it out), but if it
    /// does, both must fit.
    private static func mfaToken(
        of challenge: OktaOOBChallenge, _ request: OktaTokenRequest, in state: State, at moment: Moment
    ) throws(Refused) -> OktaTicket<OktaAuthorization> {
        let named = request.parameters["mfa_token"]
        guard let known = challenge.mfaToken, named.map({ $0.hasSameBytes(as: known) }) ?? true else {
            if let named { _ = try mfaToken(named, request, in: state, at: moment) }
            let found = challenge.mfaToken == nil ? "of a first factor" : "that was begun with another mfa_token"
            throw Refusal(.directNotAssociated, because: "found an oob_code \(found); expected one of this mfa_token")
        }
        return try mfaToken(known, request, in: state, at: moment)
    }

    /// The authorization of a user who showed one factor.
    private static func firstFactor(
        _ method: String, of userID: String, _ scopes: [String], _ call: OktaCall, _ request: OktaTokenRequest
    ) -> OktaAuthorization {
        OktaAuthorization(
            clientID: request.client.id, serverID: request.server.id, userID: userID, scopes: scopes,
            authenticated: call.moment, methods: [method])
    }

    // MARK: - Checking factors

    /// Uses up a one-time code.
    ///
    /// - Throws: ``OktaFailure/directOTPWrong`` for one that is wrong or was used.
    private static func use(
        _ code: String?, of factor: OktaFactor, in state: inout State, at moment: Moment
    ) throws(Refused) {
        let code = try Refused.require(code, .directOTPWrong, "found no code; expected that of \(factor.id)")
        switch state.use(code: code, of: factor, at: moment) {
        case .right: return
        case .used:
            throw Refusal(
                .directOTPWrong, because: "found a code of \(factor.id) that was used; expected the next one")
        case .wrong:
            throw Refusal(
                .directOTPWrong,
                because: "found a code that \(factor.id) does not have at \(moment.rfc3339); expected the one it has")
        }
    }

    /// Whether the user has answered a challenge with yes.
    private static func requireAnswer(
        to challenge: OktaOOBChallenge, _ request: OktaTokenRequest, in state: inout State, at moment: Moment
    ) throws(Refused) {
        guard let factor = state.factors[challenge.factorID], factor.status == .active else {
            throw Refusal(
                .directFactorUnusable, because: "found factor \(challenge.factorID) removed; expected it active")
        }
        guard let id = challenge.transactionID else {
            return try use(try request.parameters.required("binding_code"), of: factor, in: &state, at: moment)
        }
        switch state.transaction(id, of: factor)?.result(at: moment) {
        case .success: return
        case .waiting:
            throw Refusal(
                .directOOBPending, because: "found transaction \(id) unanswered; expected the answer of \(factor.id)")
        case .rejected:
            throw Refusal(.directOOBRejected, because: "found transaction \(id) denied; expected an approval")
        case .timeout, nil: throw expired("oob_code", "found one whose transaction \(id) ended")
        }
    }
}
