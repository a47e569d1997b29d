import Emulation
import JSON
import Wire

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
