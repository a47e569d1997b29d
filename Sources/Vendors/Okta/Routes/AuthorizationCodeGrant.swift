import Emulation
import JSON
import Tokens

/// The grant `authorization_code`, with PKCE (RFC 7636).
extension Okta {
    static func redeemCode(
        _ call: inout OktaCall, _ state: inout State, _ request: OktaTokenRequest
    ) throws(Refused) -> Reply {
        let text = try request.parameters.required("code")
        let redirectURI = try request.parameters.required("redirect_uri")
        let ticket = try Refused.require(
            state.codes[text], .codeInvalid, "found a code that is unknown here; expected one of this sandbox")
        let code = ticket.content
        try check(code.authorization, request)
        if let grant = code.grant {
            // Somebody else may have had the code, so what it gave ends (RFC 6749 section 4.1.2).
            state.revoke(grant: grant)
            if let grant = state.grants[grant] { state.endDeviceSession(of: grant) }
            throw Refusal(
                .codeInvalid, because: "found a code that was used; expected one use. All tokens from it were revoked")
        }
        let left = ticket.expires.wholeSeconds - call.moment.wholeSeconds
        try Refused.require(
            call.moment < ticket.expires, .codeInvalid, "the code is \(300 - left) s old; expected less than 300 s")
        try Refused.require(
            code.redirectURI.hasSameBytes(as: redirectURI), .redirectURIMismatch,
            "redirect-uri: found \(redirectURI); expected \(code.redirectURI), as at authorize"
                + (Nearest.difference(redirectURI, code.redirectURI).map { ". " + $0 } ?? ""))
        try checkVerifier(of: code, request.parameters["code_verifier"])
        try requireActive(code.authorization, in: state, orFail: .codeInvalid)
        var authorization = code.authorization
        let secret = OktaDeviceSecret(for: &authorization, call.identifiers, at: call.moment)
        let members: JSONObject = secret.map { ["device_secret": .string($0.id)] } ?? [:]
        return try grantTokens(authorization, &call, &state, request, adding: members) { grant, state in
            state.codes.change(ticket.key) { $0.content.grant = grant.number }
            if let secret { state.add(secret, of: grant) }
        }
    }

    /// Whether a code belongs to the client and the server.
    private static func check(_ authorization: OktaAuthorization, _ request: OktaTokenRequest) throws(Refused) {
        try Refused.require(
            authorization.clientID.hasSameBytes(as: request.client.id), .codeOtherClient,
            "found client \(request.client.id); expected \(authorization.clientID), as at authorize")
        try Refused.require(
            authorization.serverID.hasSameBytes(as: request.server.id), .codeOtherServer,
            "found server \(request.server.id); expected \(authorization.serverID), as at authorize")
    }

    /// Source: RFC 7636 section 4.6; a verifier without a challenge: RFC 9700 section 4.8.2.
    private static func checkVerifier(of code: OktaCode, _ verifier: String?) throws(Refused) {
        switch (code.challenge, verifier) {
        case (nil, nil): return
        case (nil, _?):
            throw Refusal(
                .pkceNotBegun, because: "found a code_verifier; expected none, as authorize got no code_challenge")
        case (_?, nil):
            throw Refusal(
                .pkceVerifierMissing, because: "found no code_verifier; expected the one for code_challenge")
        case (let challenge?, let verifier?):
            if let fault = OktaAuthorizeRequest.pkceFault(in: verifier) {
                throw Refusal(
                    .pkceFailed,
                    because: "found a code_verifier with \(fault); expected 43 to 128 of A-Z, a-z, 0-9, -, ., _ and ~ "
                        + "(RFC 7636 section 4.1)")
            }
            let found = Base64URL.encode(Digest.sha256(Array(verifier.utf8)))
            try Refused.require(
                found.hasSameBytes(as: challenge), .pkceFailed,
                "found a code_verifier with the challenge \(found); expected \(challenge), as at authorize"
                    + (DerivedValue.mistake(in: challenge, of: verifier.utf8).map { ". " + $0 } ?? ""))
        }
    }

    /// Whether the user of an authorization can still get tokens; services and guests can.
    static func requireActive(
        _ authorization: OktaAuthorization, in state: State, orFail failure: OktaFailure
    ) throws(Refused) {
        guard let id = authorization.userID else { return }
        let status = state.users[id]?.status
        guard status == .active else {
            let found = status.map { "a user who is \($0.rawValue)" } ?? "a user who was removed"
            throw Refusal(failure, because: "found \(found), \(id); expected ACTIVE")
        }
    }
}

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
        // A rule has ensured that a bound token came with a proof by its key.
        authorization.proofKey = authorization.proofKey ?? request.proofKey
        authorization.scopes = try scopes(of: request.parameters, within: authorization.scopes)
        // Chosen on the sign-in page for the first tokens only.
        (authorization.idClaims, authorization.accessClaims) = (nil, nil)
        let key = try signingKey(of: request.server, call, state)
        let next = state.use(token, rotates: request.client.rotates(call.switches), call)
        let policy = state.accessPolicies(of: request.server)?.first {
            $0.missingLines(for: request.client, nil, authorization.scopes).isEmpty
        }
        return issueTokens(
            of: grant.number, authorization, next, &call, &state, request, signedBy: key, under: policy)
    }

    /// The refresh token, if it is the client's and has not ended.
    private static func usable(
        _ text: String, _ call: OktaCall, _ state: State, _ request: OktaTokenRequest
    ) throws(Refused) -> (OktaRefreshToken, OktaGrant) {
        guard let token = state.refreshTokens[text], let grant = state.grants[token.grant] else {
            let kind = OktaTokenKind(of: CompactToken(text)).map { "an \($0.rawValue) token" }
            throw Refusal(
                .refreshTokenInvalid,
                because:
                    "found \(kind ?? "a refresh token that is unknown here"); expected a refresh token of this sandbox")
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

    /// Ends the family of a token that was used after its replacement: two parties have it, and one of them may be an
    /// attacker.
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

    /// The requested scopes; all granted ones when the request names none.
    private static func scopes(
        of parameters: OktaParameters, within granted: [String]
    ) throws(Refused) -> [String] {
        let words = parameters.words("scope")
        if words.isEmpty { return granted }
        let denied = words.filter { word in !granted.contains { $0.hasSameBytes(as: word) } }
        try Refused.require(
            denied.isEmpty, .refreshScopeDenied, with: ["scopes": .string(denied.joined(separator: ", "))],
            "found scope \(words.joined(separator: " ")); expected some of \(granted.joined(separator: " "))")
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
