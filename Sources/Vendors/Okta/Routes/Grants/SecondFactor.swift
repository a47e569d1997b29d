import Emulation
import JSON

/// What follows a first factor: tokens, or a second factor if the client needs one.
extension Okta {
    /// Continues after a right first factor.
    ///
    /// - Parameter note: notes that the factor was used up.
    /// - Throws: ``OktaFailure/mfaRequired`` when a second factor is due; otherwise why there cannot be one.
    static func passFirstFactor(
        _ authorization: OktaAuthorization, _ call: inout OktaCall, _ state: inout State, _ request: OktaTokenRequest,
        noting note: (inout State) -> Void = { _ in }
    ) throws(Refused) -> Reply {
        guard request.client.assurance == .two else {
            return try grantTokens(authorization, &call, &state, request) { _, state in note(&state) }
        }
        let grants = try secondGrants(after: authorization, request, in: state)
        note(&state)
        let token = OktaTicket(call.identifiers.oktaID(ofLength: 20), for: authorization, at: call.moment)
        state.mfaTokens.add(token, within: OktaState.shortBound)
        throw Refusal(
            .mfaRequired,
            ["mfa_token": .string(token.id), "challenge_types": .array(grants.map { .string($0.rawValue) })],
            because: "found \(authorization.methods.joined(separator: ", ")) alone; expected a second factor, as the "
                + "assurance of client \(request.client.id) is 2fa")
    }

    /// Continues after a right second factor.
    ///
    /// - Parameter note: notes that the factor was used up.
    static func passSecondFactor(
        _ method: String, of token: OktaTicket<OktaAuthorization>, _ call: inout OktaCall, _ state: inout State,
        _ request: OktaTokenRequest, noting note: (inout State) -> Void = { _ in }
    ) throws(Refused) -> Reply {
        try grantTokens(token.content.adding(method), &call, &state, request) { _, state in
            note(&state)
            state.mfaTokens.change(token.key) { $0.isUsed = true }
        }
    }

    /// The grants with which the user can show a second factor.
    private static func secondGrants(
        after authorization: OktaAuthorization, _ request: OktaTokenRequest, in state: State
    ) throws(Refused) -> [OktaGrantType] {
        let (client, own) = (request.client, request.client.secondGrants)
        let needed = "; expected " + [OktaGrantType.mfaOTP, .mfaOOB].names
        guard !own.isEmpty else {
            let reason = "found the grants \(client.grants.joined(separator: ", ")) of client \(client.id)\(needed)"
            try Refused.require(authorization.methods != ["pwd"], .mfaNotPossible, reason)
            throw insufficient(client.grants.joined(separator: " "), reason)
        }
        var grants = own
        if let text = request.parameters["grant_types_supported"] {
            let words = request.parameters.words("grant_types_supported")
            grants = own.filter { grant in words.contains { $0.hasSameBytes(as: grant.rawValue) } }
            guard !grants.isEmpty else {
                throw insufficient(text, "found grant_types_supported \(text); expected \(own.names)")
            }
        }
        let usable = grants.filter { state.offers($0, to: authorization) }
        try Refused.require(
            !usable.isEmpty, .directFactorUnusable,
            "found no further active factor of \(authorization.userID ?? "the user"); expected one for " + grants.names)
        return usable
    }

    private static func insufficient(_ grants: String, _ reason: String) -> Refused {
        Refusal(.directGrantsInsufficient, ["grants": .string(grants)], because: reason)
    }

    // MARK: - What was begun before

    /// A sign-in that waits for its second factor, if this request continues it.
    static func mfaToken(
        _ text: String, _ request: OktaTokenRequest, in state: State, at moment: Moment
    ) throws(Refused) -> OktaTicket<OktaAuthorization> {
        let token = try redeemable(state.mfaTokens[text], "mfa_token", at: moment)
        try requireSame(token.content, request)
        try requireActive(token.content, in: state, orFail: .directExpired)
        return token
    }

    /// A challenge that was sent, if this request continues it.
    static func oobChallenge(
        _ request: OktaTokenRequest, in state: State, at moment: Moment
    ) throws(Refused) -> OktaTicket<OktaOOBChallenge> {
        let known = state.oobChallenges[try request.parameters.required("oob_code")]
        let challenge = try redeemable(known, "oob_code", at: moment)
        try requireSame(challenge.content.authorization, request)
        return challenge
    }

    private static func redeemable<Content>(
        _ ticket: OktaTicket<Content>?, _ parameter: String, at moment: Moment
    ) throws(Refused) -> OktaTicket<Content> {
        guard let ticket else { throw expired(parameter, "found an unknown one") }
        if let complaint = ticket.complaint(at: moment) { throw expired(parameter, complaint) }
        return ticket
    }

    static func expired(_ parameter: String, _ found: String) -> Refused {
        Refusal(
            .directExpired, ["parameter": .string(parameter)],
            because: "\(found) as \(parameter); expected one that is less than 300 s old, used once")
    }

    /// Whether client, server and scopes are those of the first request.
    private static func requireSame(_ first: OktaAuthorization, _ request: OktaTokenRequest) throws(Refused) {
        guard first.clientID.hasSameBytes(as: request.client.id) else {
            throw Refusal(
                .directClient, ["client": .string(request.client.id), "original": .string(first.clientID)],
                because: "found client \(request.client.id); expected \(first.clientID), as in the first request")
        }
        guard first.serverID.hasSameBytes(as: request.server.id) else {
            throw Refusal(
                .directServer, ["server": .string(request.server.id), "original": .string(first.serverID)],
                because: "found server \(request.server.id); expected \(first.serverID), as in the first request")
        }
    }

    static func requireSameScopes(_ first: OktaAuthorization, _ request: OktaTokenRequest) throws(Refused) {
        guard let text = request.parameters["scope"] else { return }
        let original = first.scopes.joined(separator: " ")
        guard Set(request.parameters.words("scope").map(ExactText.init)) == Set(first.scopes.map(ExactText.init)) else {
            throw Refusal(
                .directScope, ["scopes": .string(text), "original": .string(original)],
                because: "found scope \(text); expected \(original), as in the first request")
        }
    }

    // MARK: - Factors

    /// A user's active factor of a kind.
    static func factor(_ kind: OktaFactor.Kind, of userID: String, in state: State) throws(Refused) -> OktaFactor {
        let factor = try Refused.require(
            state.activeFactor(kind, of: userID), .directFactorUnusable,
            "found no active factor \(kind.rawValue) of \(userID); expected one that was enrolled")
        return factor
    }

    /// The same for a second factor, which must be another one than the first.
    static func secondFactor(
        _ kind: OktaFactor.Kind, after first: OktaAuthorization, in state: State
    ) throws(Refused) -> OktaFactor {
        try Refused.require(
            !first.methods.contains(kind.method), .directFactorUnusable,
            "found \(kind.method) as first factor; expected another one as second")
        return try factor(kind, of: first.userID ?? "", in: state)
    }
}

extension OktaClient {
    var secondGrants: [OktaGrantType] { [.mfaOTP, .mfaOOB].filter { allows($0.rawValue) } }
}

extension OktaGrantType {
    /// The factors that a grant for a second factor takes.
    fileprivate var factors: [OktaFactor.Kind] {
        switch self {
        case .otp, .mfaOTP: [.totp]
        case .oob, .mfaOOB: OktaChannel.allCases.map(\.factor)
        case .authorizationCode, .refreshToken, .password, .clientCredentials, .deviceCode, .tokenExchange: []
        }
    }
}

extension [OktaGrantType] {
    /// Their names, for reasons.
    var names: String { map(\.rawValue).joined(separator: " or ") }
}

extension OktaFactor.Kind {
    /// The value of `amr`. Source: ref.
    var method: String {
        switch self {
        case .totp: "otp"
        case .push: OktaChannel.push.method
        case .sms: OktaChannel.sms.method
        case .call: OktaChannel.voice.method
        }
    }
}

extension OktaState {
    /// The user's active factor of a kind; the first one, if there are more (ours).
    func activeFactor(_ kind: OktaFactor.Kind, of userID: String) -> OktaFactor? {
        factors(of: userID).first { $0.kind == kind && $0.status == .active }
    }

    /// Whether a user has a factor for a grant, other than the one that was shown.
    func offers(_ grant: OktaGrantType, to authorization: OktaAuthorization) -> Bool {
        grant.factors.contains { kind in
            !authorization.methods.contains(kind.method)
                && activeFactor(kind, of: authorization.userID ?? "") != nil
        }
    }
}

extension OktaAuthorization {
    /// The same after a further factor.
    func adding(_ method: String) -> OktaAuthorization {
        var authorization = self
        authorization.methods = OktaAuthentication(methods: methods).adding(method).methods
        return authorization
    }
}
