import Emulation

/// The grant `refresh_token`. Source: guide:refresh-tokens.
extension Okta {
    static func refreshTokens(
        _ call: inout OktaCall, _ state: inout State, _ request: OktaTokenRequest
    ) throws(Refused) -> Reply {
        let text = try request.parameters.required("refresh_token")
        let (token, grant) = try usable(text, call, state, request)
        if let replaced = token.replaced, call.moment > replaced + .seconds(request.client.rotationLeeway) {
            throw reuse(of: token, call, &state, request)
        }
        var authorization = grant.authorization
        try requireActive(authorization, in: state, orFail: .refreshTokenInvalid)
        // A rule has seen to it that a bound token came with a proof by its key.
        authorization.proofKey = authorization.proofKey ?? request.proofKey
        authorization.scopes = try scopes(of: request.parameters, within: authorization.scopes)
        // Chosen on the sign-in page for the first tokens only.
        (authorization.idClaims, authorization.accessClaims) = (nil, nil)
        let key = try signingKey(of: request.server, call, state)
        let next = state.use(token, rotates: request.client.rotates(call.switches), call)
        return issueTokens(
            of: grant.number, authorization, next, &call, &state, request, signedBy: key)
    }

    /// The refresh token, if it is the client's and has not ended.
    private static func usable(
        _ text: String, _ call: OktaCall, _ state: State, _ request: OktaTokenRequest
    ) throws(Refused) -> (OktaRefreshToken, OktaGrant) {
        guard let token = state.refreshTokens[text], let grant = state.grants[token.grant] else {
            throw Refusal(
                .refreshTokenInvalid,
                because: "found a refresh token that is unknown here; expected one of this sandbox")
        }
        let (client, server) = (grant.authorization.clientID, grant.authorization.serverID)
        let complaint: String? =
            if !client.hasSameBytes(as: request.client.id) {
                "found client \(request.client.id); expected \(client), to which the refresh token was given"
            } else if !server.hasSameBytes(as: request.server.id) {
                "found server \(request.server.id); expected \(server), which gave the refresh token"
            } else if grant.isRevoked {
                "found a refresh token that was revoked; expected one that was not"
            } else {
                token.complaint(at: call.moment)
            }
        if let complaint { throw Refusal(.refreshTokenInvalid, because: complaint) }
        return (token, grant)
    }

    /// Ends the family of a token that was used after its replacement: two parties have it, and one of them is no
    /// friend.
    private static func reuse(
        of token: OktaRefreshToken, _ call: OktaCall, _ state: inout State, _ request: OktaTokenRequest
    ) -> Refused {
        state.revoke(grant: token.grant)
        let event = request.server.isOrg ? "app.oauth2.token.detect_reuse" : "app.oauth2.as.token.detect_reuse"
        let age = token.replaced.map { call.moment.wholeSeconds - $0.wholeSeconds } ?? 0
        return Refusal(
            .refreshTokenInvalid,
            because: "refresh-token-reused (\(event)): the token was replaced \(age) s ago; expected at most "
                + "\(request.client.rotationLeeway) s. All tokens since the sign-in were revoked")
    }

    /// The scopes that are asked for again; all of them when the request names none.
    private static func scopes(
        of parameters: OktaParameters, within granted: [String]
    ) throws(Refused) -> [String] {
        guard parameters["scope"] != nil else { return granted }
        let words = parameters.words("scope")
        let denied = words.filter { word in !granted.contains { $0.hasSameBytes(as: word) } }
        guard denied.isEmpty else {
            throw Refusal(
                .refreshScopeDenied, ["scopes": .string(denied.joined(separator: ", "))],
                because:
                    "found scope \(words.joined(separator: " ")); expected some of \(granted.joined(separator: " "))")
        }
        return granted.filter { word in words.contains { $0.hasSameBytes(as: word) } }
    }
}

extension OktaClient {
    /// Whether each use of a refresh token yields another one.
    fileprivate func rotates(_ switches: OktaSwitches) -> Bool {
        switch switches.refreshRotation {
        case .perClient: rotates
        case .on: true
        case .off: false
        }
    }
}
