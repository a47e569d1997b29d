import Emulation
import JSON

/// Direct authentication: an app signs its user in without a browser. Source: guide:configure-direct-auth-grants, api.
extension Okta {
    static func authenticatePrimary(_ call: inout OktaCall, _ state: inout State) throws(Refused) -> Reply {
        let server = try server(call)
        let client = try call.client(using: .oob)
        let parameters = call.credentials.parameters
        let hint = try loginHint(parameters)
        // The older address has no such parameter (observed, kotlin).
        if !call.request.path.hasSuffix("/oob-authenticate") {
            let (hint, known) = (try parameters.required("challenge_hint"), OktaGrantType.oob.rawValue)
            try Refused.require(
                hint.hasSameBytes(as: known), .directChallengeHint, with: ["value": .string(hint)],
                "found challenge_hint \(hint); expected \(known)")
        }
        let channel = try channel(parameters)
        let user = try user(hint, in: state)
        let factor = try factor(channel.factor, of: user.id, in: state)
        let authorization = OktaAuthorization(clientID: client.id, serverID: server.id, userID: user.id)
        return .json(.object(state.challenge(factor, over: channel, authorization, for: nil, call)))
    }

    static func challengeSecondFactor(_ call: inout OktaCall, _ state: inout State) throws(Refused) -> Reply {
        let request = try OktaTokenRequest(call)
        let parameters = request.parameters
        if let scope = parameters["scope"] {
            throw Refused(
                .directScopeHere, because: "found scope \(scope); expected none, as the first request named it")
        }
        let token = try request.mfaToken(try parameters.required("mfa_token"), in: state)
        let type = try challengeType(request, after: token.content, in: state)
        var answer: JSONObject = ["challenge_type": .string(type.rawValue)]
        if type == .mfaOOB {
            let channel = try channel(parameters)
            let factor = try request.secondFactor(channel.factor, after: token.content, in: state)
            let challenge = state.challenge(factor, over: channel, token.content, for: token.id, call)
            for member in challenge { answer.append(member.name, member.value) }
        } else {
            _ = try request.secondFactor(.totp, after: token.content, in: state)
        }
        return .json(.object(answer))
    }

    static func refuseInteraction(_ call: inout OktaCall, _ state: inout State) throws(Refused) -> Reply {
        _ = try server(call)
        throw Refused(
            .interactNotEnabled,
            because: "found a request of the Interaction Code flow, which embedded widgets and IDX clients use and "
                + "which is not emulated; expected a sign-in by redirect, at authorize, or by direct authentication, "
                + "at primary-authenticate")
    }

    /// The kind of challenge to begin: out of band if a channel is named, else the first one that the client takes and
    /// the user has a factor for.
    private static func challengeType(
        _ request: OktaTokenRequest, after first: OktaAuthorization, in state: State
    ) throws(Refused) -> OktaGrantType {
        let own = request.secondGrants
        var types = own
        if let text = request.parameters["challenge_types_supported"] {
            types = request.parameters.words("challenge_types_supported").compactMap { word in
                own.first { $0.rawValue.hasSameBytes(as: word) }
            }
            let expected = own.isEmpty ? "none, as the client has no second grant" : own.names
            try Refused.require(
                !types.isEmpty, .directChallengeType, with: ["value": .string(text)],
                "found challenge_types_supported \(text); expected \(expected)")
        }
        try Refused.require(
            !types.isEmpty, .directChallengeType, with: ["value": .string(OktaGrantType.mfaOTP.rawValue)],
            "found client \(request.client.id) without a second grant; expected one with "
                + [OktaGrantType.mfaOTP, .mfaOOB].names)
        if types.contains(.mfaOOB), request.parameters["channel_hint"] != nil { return .mfaOOB }
        return types.first { state.offers($0, to: first) } ?? types[0]
    }

    static func loginHint(_ parameters: OktaParameters) throws(Refused) -> String {
        try Refused.require(
            parameters["login_hint"], .directHintMissing, "found no login_hint; expected a user's id or login")
    }

    private static func channel(_ parameters: OktaParameters) throws(Refused) -> OktaChannel {
        let hint = try parameters.required("channel_hint")
        return try Refused.require(
            OktaChannel.allCases.first { $0.rawValue.hasSameBytes(as: hint) }, .directChannel,
            with: ["value": .string(hint)],
            "found channel_hint \(hint); expected \(OktaChannel.allCases.map(\.rawValue).joined(separator: " or "))")
    }

    static func factor(_ kind: OktaFactor.Kind, of userID: String, in state: State) throws(Refused) -> OktaFactor {
        try Refused.require(
            state.activeFactor(kind, of: userID), .directFactorUnusable,
            "found no active factor \(kind.rawValue) of \(userID); expected one that was enrolled")
    }

    static func user(_ hint: String, in state: State) throws(Refused) -> OktaUser {
        let user = try Refused.require(
            state.user(hint), .directUserUnknown, "found login_hint \(hint); expected a user's id or login")
        try Refused.require(
            user.isActive, .directUserUnknown, "found \(user.login), who is \(user.status.rawValue); expected ACTIVE")
        return user
    }
}

extension OktaState {
    /// Sends a user a challenge. Nothing leaves the server: a test answers for the user, by the action `answer-push` or
    /// with the code that the action `factor-code` shows.
    ///
    /// - Returns: the answer to the app. Source: guide:configure-direct-auth-grants, api; of `transfer` kotlin.
    fileprivate mutating func challenge(
        _ factor: OktaFactor, over channel: OktaChannel, _ authorization: OktaAuthorization, for mfaToken: String?,
        _ call: OktaCall
    ) -> JSONObject {
        var content = OktaOOBChallenge(
            authorization: authorization, factorID: factor.id, channel: channel, mfaToken: mfaToken)
        let id = "ft" + call.identifiers.oktaID(ofLength: 32)
        var bindingMethod = "prompt"
        switch channel {
        case .push:
            content.transactionID = self.challenge(factor, at: call.moment).id
            content.number = factor.numberChallenge
            bindingMethod = content.number == nil ? "none" : "transfer"
        case .sms, .voice: sendCode(to: factor, call.identifiers)
        }
        let challenge = OktaTicket(id, for: content, at: call.moment)
        oobChallenges.add(challenge, within: Self.shortBound)
        let seconds = Int(OktaTicket<OktaOOBChallenge>.lifetime.inSeconds)
        var answer: JSONObject = ["oob_code": .string(id), "expires_in": JSON(seconds)]
        // How many seconds lie between two polls.
        if channel == .push || call.switches.oobInterval == .always { answer.append("interval", 5) }
        answer.append("channel", .string(channel.rawValue))
        answer.append("binding_method", .string(bindingMethod))
        if let number = content.number { answer.append("binding_code", .string(number)) }
        return answer
    }

    fileprivate mutating func use(_ challenge: OktaTicket<OktaOOBChallenge>?) {
        if let challenge { oobChallenges.change(challenge.key) { $0.isUsed = true } }
    }

    func activeFactors(of userID: String) -> [OktaFactor] { factors(of: userID).filter { $0.status == .active } }

    /// The user's active factor of a kind; the first one, if there are more (ours).
    func activeFactor(_ kind: OktaFactor.Kind, of userID: String) -> OktaFactor? {
        activeFactors(of: userID).first { $0.kind == kind }
    }

    /// Whether a user has a factor for a grant of a second factor, other than the one that was shown.
    func offers(_ grant: OktaGrantType, to authorization: OktaAuthorization) -> Bool {
        let kinds = grant == .mfaOTP ? [.totp] : OktaChannel.allCases.map(\.factor)
        return kinds.contains { kind in
            !authorization.methods.contains(kind.method) && activeFactor(kind, of: authorization.userID ?? "") != nil
        }
    }
}

/// A way to reach a user besides the app that signs in. Source: api.
enum OktaChannel: String, CaseIterable, RecordValue {
    case push, sms, voice

    var factor: OktaFactor.Kind {
        switch self {
        case .push: .push
        case .sms: .sms
        case .voice: .call
        }
    }
}

struct OktaOOBChallenge: OktaTicketContent {
    /// Client, server and user.
    var authorization = OktaAuthorization()
    var factorID = ""
    var channel = OktaChannel.push
    /// Push: the transaction that the phone answers.
    var transactionID: String?
    /// Push: the number that the user must choose on the phone; `nil` for none.
    var number: String?
    /// The `mfa_token` whose second factor it is; `nil` for a first factor.
    var mfaToken: String?

    /// The value of `amr` of an answer.
    var method: String { channel.factor.method }

    mutating func code(_ coder: inout RecordCoder) {
        coder.member("authorization", &authorization)
        coder.member("factor", &factorID)
        coder.member("channel", &channel)
        coder.member("transaction", &transactionID)
        coder.member("number", &number)
        coder.member("mfa_token", &mfaToken)
    }
}

/// The grants of direct authentication, each for one factor. Source: guide:configure-direct-auth-grants, api.
extension OktaTokenRequest {
    /// A sign-in that waits for its second factor.
    typealias MFAToken = OktaTicket<OktaAuthorization>

    var secondGrants: [OktaGrantType] { [.mfaOTP, .mfaOOB].filter { client.allows($0.rawValue) } }

    /// The grant `otp`: a one-time password first.
    func redeemOneTimePassword(_ call: inout OktaCall, _ state: inout State) throws(Refused) -> Reply {
        let scopes = try server.scopes(of: parameters.words("scope"))
        let user = try Okta.user(try Okta.loginHint(parameters), in: state)
        let factor = try Okta.factor(.totp, of: user.id, in: state)
        try use(parameters["otp"], of: factor, in: &state)
        return try passFirstFactor("otp", of: user.id, scopes, &call, &state)
    }

    /// The grant `oob`: an answer out of band first.
    func redeemOutOfBandCode(_ call: inout OktaCall, _ state: inout State) throws(Refused) -> Reply {
        let scopes = try server.scopes(of: parameters.words("scope"))
        let challenge = try oobChallenge(in: state)
        try Refused.require(
            challenge.content.mfaToken == nil, .directNotAssociated,
            "found the oob_code of a second factor; expected one of a first factor")
        try Okta.requireActive(challenge.content.authorization, in: state, orFail: .directUserUnknown)
        try requireAnswer(to: challenge.content, in: &state)
        let userID = challenge.content.authorization.userID ?? ""
        return try passFirstFactor(challenge.content.method, of: userID, scopes, &call, &state, using: challenge)
    }

    /// The grant `mfa-otp`: a one-time password after another factor.
    func redeemSecondOneTimePassword(_ call: inout OktaCall, _ state: inout State) throws(Refused) -> Reply {
        let token = try mfaToken(try parameters.required("mfa_token"), in: state)
        try requireSameScopes(token.content)
        let factor = try secondFactor(.totp, after: token.content, in: state)
        try use(parameters["otp"], of: factor, in: &state)
        return try passSecondFactor("otp", of: token, &call, &state)
    }

    /// The grant `mfa-oob`: an answer out of band after another factor.
    func redeemSecondOutOfBandCode(_ call: inout OktaCall, _ state: inout State) throws(Refused) -> Reply {
        let challenge = try oobChallenge(in: state)
        let token = try mfaToken(of: challenge.content, in: state)
        try requireSameScopes(token.content)
        try requireAnswer(to: challenge.content, in: &state)
        return try passSecondFactor(challenge.content.method, of: token, &call, &state, using: challenge)
    }

    /// The sign-in whose second factor a challenge is. The request need not name it (guide leaves it out), but if it
    /// does, both must fit.
    private func mfaToken(of challenge: OktaOOBChallenge, in state: State) throws(Refused) -> MFAToken {
        let named = parameters["mfa_token"]
        guard let known = challenge.mfaToken, named.map({ $0.hasSameBytes(as: known) }) ?? true else {
            if let named { _ = try mfaToken(named, in: state) }
            let found = challenge.mfaToken == nil ? "of a first factor" : "that was begun with another mfa_token"
            throw Refused(.directNotAssociated, because: "found an oob_code \(found); expected one of this mfa_token")
        }
        return try mfaToken(known, in: state)
    }

    // MARK: - Checking factors

    private func use(_ code: String?, of factor: OktaFactor, in state: inout State) throws(Refused) {
        let code = try Refused.require(code, .directOTPWrong, "found no code; expected that of \(factor.id)")
        let verdict = state.use(code: code, of: factor, at: moment)
        try Refused.require(
            verdict != .used, .directOTPWrong, "found a code of \(factor.id) that was used; expected the next one")
        try Refused.require(
            verdict == .right, .directOTPWrong,
            "found a code that \(factor.id) does not have at \(moment.rfc3339); expected the one it has")
    }

    private func requireAnswer(to challenge: OktaOOBChallenge, in state: inout State) throws(Refused) {
        let factor = try Refused.require(
            state.factors[challenge.factorID].flatMap { $0.status == .active ? $0 : nil }, .directFactorUnusable,
            "found factor \(challenge.factorID) removed; expected it active")
        guard let id = challenge.transactionID else {
            return try use(try parameters.required("binding_code"), of: factor, in: &state)
        }
        let result = state.transaction(id, of: factor)?.result(at: moment)
        try Refused.require(
            result != .waiting, .directOOBPending,
            "found transaction \(id) unanswered; expected the answer of \(factor.id)")
        try Refused.require(
            result != .rejected, .directOOBRejected, "found transaction \(id) denied; expected an approval")
        if result != .success { throw expired("oob_code", "found one whose transaction \(id) ended") }
    }

    // MARK: - What follows a first factor: tokens, or a second factor if the client needs one

    func passFirstFactor(
        _ method: String, of userID: String, _ scopes: [String], _ call: inout OktaCall, _ state: inout State,
        using challenge: OktaTicket<OktaOOBChallenge>? = nil
    ) throws(Refused) -> Reply {
        let authorization = OktaAuthorization(
            clientID: client.id, serverID: server.id, userID: userID, scopes: scopes, authenticated: call.moment,
            methods: [method])
        try Okta.requireAssigned(userID, to: client, in: state)
        guard client.assurance == .two else {
            return try grantTokens(authorization, &call, &state) { _, state in state.use(challenge) }
        }
        let grants = try secondGrants(after: authorization, in: state)
        state.use(challenge)
        let token = OktaTicket(call.identifiers.oktaID(ofLength: 20), for: authorization, at: call.moment)
        state.mfaTokens.add(token, within: OktaState.shortBound)
        throw Refused(
            .mfaRequired,
            ["mfa_token": .string(token.id), "challenge_types": .array(grants.map { .string($0.rawValue) })],
            because: "found \(method) alone; expected a second factor, as the assurance of client \(client.id) is 2fa")
    }

    func passSecondFactor(
        _ method: String, of token: MFAToken, _ call: inout OktaCall, _ state: inout State,
        using challenge: OktaTicket<OktaOOBChallenge>? = nil
    ) throws(Refused) -> Reply {
        var authorization = token.content
        authorization.methods = OktaAuthentication(methods: authorization.methods).adding(method).methods
        return try grantTokens(authorization, &call, &state) { _, state in
            state.use(challenge)
            state.mfaTokens.change(token.key) { $0.isUsed = true }
        }
    }

    private func secondGrants(
        after authorization: OktaAuthorization, in state: State
    ) throws(Refused) -> [OktaGrantType] {
        let own = secondGrants
        try Refused.require(
            !own.isEmpty, authorization.methods == ["pwd"] ? .mfaNotPossible : .directGrantsInsufficient,
            with: ["grants": .string(client.grants.joined(separator: " "))],
            "found the grants \(client.grants.joined(separator: ", ")) of client \(client.id); expected "
                + [OktaGrantType.mfaOTP, .mfaOOB].names)
        var grants = own
        if let text = parameters["grant_types_supported"] {
            let words = parameters.words("grant_types_supported")
            grants = own.filter { grant in words.contains(exactly: grant.rawValue) }
            try Refused.require(
                !grants.isEmpty, .directGrantsInsufficient, with: ["grants": .string(text)],
                "found grant_types_supported \(text); expected \(own.names)")
        }
        let usable = grants.filter { state.offers($0, to: authorization) }
        try Refused.require(
            !usable.isEmpty, .directFactorUnusable,
            "found no further active factor of \(authorization.userID ?? "the user"); expected one for " + grants.names)
        return usable
    }

    // MARK: - What was begun before

    func mfaToken(_ text: String, in state: State) throws(Refused) -> MFAToken {
        let token = try redeemable(state.mfaTokens[text], "mfa_token")
        try requireOwn(token.content, (.directClient, .directServer), "as in the first request")
        try Okta.requireActive(token.content, in: state, orFail: .directExpired)
        return token
    }

    func oobChallenge(in state: State) throws(Refused) -> OktaTicket<OktaOOBChallenge> {
        let challenge = try redeemable(state.oobChallenges[parameters.required("oob_code")], "oob_code")
        try requireOwn(challenge.content.authorization, (.directClient, .directServer), "as in the first request")
        return challenge
    }

    private func redeemable<Content>(
        _ ticket: OktaTicket<Content>?, _ parameter: String
    ) throws(Refused) -> OktaTicket<Content> {
        if let ticket, ticket.complaint(at: moment) == nil { return ticket }
        throw expired(parameter, ticket?.complaint(at: moment) ?? "found an unknown one")
    }

    func expired(_ parameter: String, _ found: String) -> Refused {
        Refused(
            .directExpired, ["parameter": .string(parameter)],
            because: "\(found) as \(parameter); expected one that is less than 300 s old, used once")
    }

    func requireSameScopes(_ first: OktaAuthorization) throws(Refused) {
        guard let text = parameters["scope"] else { return }
        let original = first.scopes.joined(separator: " ")
        try Refused.require(
            Set(parameters.words("scope").map(ExactText.init)) == Set(first.scopes.map(ExactText.init)),
            .directScope, with: ["scopes": .string(text), "original": .string(original)],
            "found scope \(text); expected \(original), as in the first request")
    }

    /// The user's factor for a second proof, which must be another one than the first.
    func secondFactor(
        _ kind: OktaFactor.Kind, after first: OktaAuthorization, in state: State
    ) throws(Refused) -> OktaFactor {
        try Refused.require(
            !first.methods.contains(kind.method), .directFactorUnusable,
            "found \(kind.method) as first factor; expected another one as second")
        return try Okta.factor(kind, of: first.userID ?? "", in: state)
    }
}

extension [OktaGrantType] {
    var names: String { map(\.rawValue).joined(separator: " or ") }
}
