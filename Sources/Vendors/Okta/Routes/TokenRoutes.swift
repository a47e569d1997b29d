import Emulation
import JSON
import Tokens

/// The token endpoint. Each grant is a function of the request, those of a kind in a file of their own.
extension Okta {
    static func createToken(_ call: inout OktaCall, _ state: inout State) throws(Refused) -> Reply {
        let request = try OktaTokenRequest(call)
        // Who asks for no document reads here that its tokens name another address.
        let mistake = addressMistake(call)
        let id = request.client.id
        let isKnown = mistake == nil || state.grants.added.contains { state.grants[$0]?.authorization.clientID == id }
        let reply = try request.redeem(&call, &state)
        if !isKnown, let mistake { call.findings.note(mistake) }
        return reply
    }

    /// Whether the user of an authorization can still get tokens; services and guests can.
    static func requireActive(
        _ authorization: OktaAuthorization, in state: State, orFail failure: OktaFailure
    ) throws(Refused) {
        guard let id = authorization.userID else { return }
        let status = state.users[id]?.status
        var found: String { status.map { "is \($0.rawValue)" } ?? "was removed" }
        try Refused.require(status == .active, failure, "found a user who \(found), \(id); expected ACTIVE")
    }
}

extension OktaCall {
    func client() throws(Refused) -> OktaClient {
        try Refused.require(
            credentials.client, .clientCredentialsMissing, "found no authenticated client; expected one")
    }

    func client(using grant: OktaGrantType) throws(Refused) -> OktaClient {
        let client = try client()
        var own: String { client.grants.joined(separator: ", ") }
        try Refused.require(
            client.allows(grant.rawValue), .grantTypeNotAllowed, with: ["grants": .string(own)],
            "found client \(client.id), which has the grants \(own); expected one with \(grant.rawValue)")
        return client
    }
}

struct OktaTokenRequest: Sendable {
    typealias State = OktaState
    typealias Refused = Okta.Refused

    let server: OktaServer
    let client: OktaClient
    let parameters: OktaParameters
    /// The thumbprint of the key that a DPoP proof showed, to which the tokens are bound; `nil` without one.
    let proofKey: String?
    let moment: Moment

    init(_ call: OktaCall) throws(Refused) {
        (server, client) = (try Okta.server(call), try call.client())
        (parameters, proofKey, moment) = (call.credentials.parameters, call.credentials.proofKey, call.moment)
    }

    fileprivate func redeem(_ call: inout OktaCall, _ state: inout State) throws(Refused) -> Reply {
        switch try grantType() {
        case .authorizationCode: try redeemCode(&call, &state)
        case .refreshToken: try refreshTokens(&call, &state)
        case .password: try redeemPassword(&call, &state)
        case .clientCredentials: try grantToClient(&call, &state)
        case .deviceCode: try redeemDeviceCode(&call, &state)
        case .tokenExchange: try exchangeToken(&call, &state)
        case .otp: try redeemOneTimePassword(&call, &state)
        case .oob: try redeemOutOfBandCode(&call, &state)
        case .mfaOTP: try redeemSecondOneTimePassword(&call, &state)
        case .mfaOOB: try redeemSecondOutOfBandCode(&call, &state)
        }
    }

    private func grantType() throws(Refused) -> OktaGrantType {
        let names = OktaGrantType.allCases.map(\.rawValue).joined(separator: ", ")
        let name = try Refused.require(
            parameters["grant_type"], .grantTypeMissing, with: ["grants": .string(names)],
            "found no parameter grant_type with a value; expected one of \(names)")
        let type = try Refused.require(
            OktaGrantType(rawValue: name), .grantTypeUnsupported, with: ["grants": .string(names)],
            "found grant_type \(name); expected one of \(names)")
        let own = client.grants.joined(separator: ", ")
        try Refused.require(
            client.allows(name), .grantTypeNotAllowed, with: ["grants": .string(own)],
            "found grant_type \(name) of client \(client.id); expected one of its own: \(own)")
        return type
    }

    // MARK: - The grant `password`. Source: ref, codes

    func redeemPassword(_ call: inout OktaCall, _ state: inout State) throws(Refused) -> Reply {
        let (name, password) = (try parameters.required("username"), try parameters.required("password"))
        let scopes = try server.scopes(of: parameters.words("scope"))
        let user = try Refused.require(
            state.user(name), .passwordWrong, "found username \(name); expected the id or login of a user")
        guard let known = user.password, Digest.areEqual(Array(known.utf8), Array(password.utf8)) else {
            throw Refused(.passwordWrong, because: "found another password; expected that of \(user.login)")
        }
        try Refused.require(
            user.status != .passwordExpired, .passwordExpired,
            "found \(user.login), PASSWORD_EXPIRED; expected ACTIVE")
        try Refused.require(
            user.isActive, .passwordWrong, "found \(user.login), who is \(user.status.rawValue); expected ACTIVE")
        return try passFirstFactor("pwd", of: user.id, scopes, &call, &state)
    }

    // MARK: - The grant `client_credentials`: a service acts for itself

    func grantToClient(_ call: inout OktaCall, _ state: inout State) throws(Refused) -> Reply {
        let scopes = server.isOrg ? try orgScopes(call) : try customScopes()
        return try grantTokens(
            OktaAuthorization(clientID: client.id, serverID: server.id, scopes: scopes), &call, &state)
    }

    /// The org server grants `okta.*` scopes to services that sign their requests. Source: api,
    /// guide:implement-oauth-for-okta-serviceapp; that it leaves out what was not granted: inferred.
    private func orgScopes(_ call: OktaCall) throws(Refused) -> [String] {
        let method = call.credentials.clientFacts?.method
        try Refused.require(
            method == .privateKeyJWT, .orgClientMethod,
            "found \(method?.rawValue ?? "none"); expected private_key_jwt at the org server")
        try Refused.require(
            client.type == .service, .orgClientType,
            "found client \(client.id), application_type \(client.type.rawValue); expected service")
        let words = try server.distinctScopes(of: parameters.words("scope"))
        let granted = words.filter { client.grantedScopes.contains(exactly: $0) }
        var expected: String {
            client.grantedScopes.isEmpty ? "nothing" : client.grantedScopes.joined(separator: " ")
        }
        try Refused.require(
            !granted.isEmpty, .orgScopes,
            "found scope \(words.joined(separator: " ")); expected some of what \(client.id) was granted: \(expected)")
        return granted
    }

    /// A custom server grants its own scopes, unless a user would have to consent.
    private func customScopes() throws(Refused) -> [String] {
        let named = parameters.words("scope")
        let words = try server.distinctScopes(of: named.isEmpty ? server.defaultScopes : named)
        try Refused.require(
            !words.contains("openid"), .scopeOpenidService,
            "found scope openid, which is about a user, and a service has none; expected some of \(server.scopeNames)")
        let unknown = words.first { server.scope($0) == nil }
        try Refused.require(
            unknown == nil, .scopeUnknown,
            "found scope \(unknown ?? ""); expected some of server \(server.id)'s own: \(server.scopeNames)")
        let refused = words.filter { server.scope($0)?.consent == .required }
        try Refused.require(
            refused.isEmpty, .consentRequiredService, with: ["scopes": .string(refused.joined(separator: ", "))],
            "found \(refused.joined(separator: " ")), to which users must consent; expected other scopes")
        return words
    }

    // MARK: - The grant `authorization_code`, with PKCE (RFC 7636)

    func redeemCode(_ call: inout OktaCall, _ state: inout State) throws(Refused) -> Reply {
        let (text, redirectURI) = (try parameters.required("code"), try parameters.required("redirect_uri"))
        let ticket = try Refused.require(
            state.codes[text], .codeInvalid, "found a code that is unknown here; expected one of this sandbox")
        let code = ticket.content
        try requireOwn(code.authorization, (.codeOtherClient, .codeOtherServer), "as at authorize")
        if let grant = code.grant {
            // Somebody else may have had the code, so what it gave ends (RFC 6749 section 4.1.2).
            state.revoke(grant: grant)
            if let grant = state.grants[grant] { state.endDeviceSession(of: grant) }
            throw Refused(
                .codeInvalid, because: "found a code that was used; expected one use. All tokens from it were revoked")
        }
        let left = ticket.expires.wholeSeconds - call.moment.wholeSeconds
        try Refused.require(
            call.moment < ticket.expires, .codeInvalid, "the code is \(300 - left) s old; expected less than 300 s")
        try Refused.require(
            code.redirectURI.hasSameBytes(as: redirectURI), .redirectURIMismatch,
            "redirect-uri: found \(redirectURI); expected \(code.redirectURI), as at authorize"
                + (Nearest.difference(redirectURI, code.redirectURI).map { ". " + $0 } ?? ""))
        try checkVerifier(of: code, parameters["code_verifier"])
        try Okta.requireActive(code.authorization, in: state, orFail: .codeInvalid)
        var authorization = code.authorization
        let secret = OktaDeviceSecret(for: &authorization, call.identifiers, at: call.moment)
        let members: JSONObject = secret.map { ["device_secret": .string($0.id)] } ?? [:]
        return try grantTokens(authorization, &call, &state, adding: members) { grant, state in
            state.codes.change(ticket.key) { $0.content.grant = grant.number }
            if let secret { state.add(secret, of: grant) }
        }
    }

    /// Source: RFC 7636 section 4.6; a verifier without a challenge: RFC 9700 section 4.8.2.
    private func checkVerifier(of code: OktaCode, _ verifier: String?) throws(Refused) {
        guard let challenge = code.challenge else {
            return try Refused.require(
                verifier == nil, .pkceNotBegun,
                "found a code_verifier; expected none, as authorize got no code_challenge")
        }
        let verifier = try Refused.require(
            verifier, .pkceVerifierMissing, "found no code_verifier; expected the one for code_challenge")
        if let fault = OktaCode.fault(in: verifier) {
            throw Refused(
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

    // MARK: - The grant `refresh_token`. Source: guide:refresh-tokens

    func refreshTokens(_ call: inout OktaCall, _ state: inout State) throws(Refused) -> Reply {
        let (token, grant) = try usable(try parameters.required("refresh_token"), state)
        if let replaced = token.replaced, call.moment > replaced + .seconds(client.refresh.leeway) {
            // Two parties have the token, and one of them may be an attacker.
            state.revoke(grant: token.grant)
            let event = server.isOrg ? "app.oauth2.token.detect_reuse" : "app.oauth2.as.token.detect_reuse"
            throw Refused(
                .refreshTokenInvalid,
                because: "refresh-token-reused (\(event)): the token was replaced "
                    + "\(call.moment.wholeSeconds - replaced.wholeSeconds) s ago; expected at most "
                    + "\(client.refresh.leeway) s. All tokens since the sign-in were revoked")
        }
        var authorization = grant.authorization
        try Okta.requireActive(authorization, in: state, orFail: .refreshTokenInvalid)
        // A rule has ensured that a bound token came with a proof by its key.
        authorization.proofKey = authorization.proofKey ?? proofKey
        authorization.scopes = try scopes(within: authorization.scopes)
        // Chosen on the sign-in page for the first tokens only.
        (authorization.idClaims, authorization.accessClaims) = (nil, nil)
        let key = try Okta.signingKey(of: server, call, state)
        let next = state.use(token, rotates: client.rotates(call.switches), call)
        let policy = state.accessPolicies(of: server)?.first {
            $0.missingLines(for: client, nil, authorization.scopes).isEmpty
        }
        return issueTokens(of: grant.number, authorization, next, &call, &state, signedBy: key, under: policy)
    }

    /// The refresh token, if it is the client's and has not ended.
    private func usable(_ text: String, _ state: State) throws(Refused) -> (OktaRefreshToken, OktaGrant) {
        guard let (token, grant) = state.refreshToken(text) else {
            let kind = OktaTokenKind(of: CompactToken(text)).map { "an \($0.rawValue) token" }
            throw Refused(
                .refreshTokenInvalid,
                because:
                    "found \(kind ?? "a refresh token that is unknown here"); expected a refresh token of this sandbox")
        }
        try requireOwn(
            grant.authorization, (.refreshTokenInvalid, .refreshTokenInvalid), "to which the refresh token was given",
            "which gave the refresh token")
        let complaint =
            grant.isRevoked
            ? "found a refresh token that was revoked; expected one that was not" : token.complaint(at: moment)
        if let complaint { throw Refused(.refreshTokenInvalid, because: complaint) }
        return (token, grant)
    }

    /// Refuses to continue what another client, or this one at another server, began in such a role.
    func requireOwn(
        _ first: OktaAuthorization, _ failures: (client: OktaFailure, server: OktaFailure), _ role: String,
        _ otherRole: String? = nil
    ) throws(Refused) {
        try Refused.require(
            first.clientID.hasSameBytes(as: client.id), failures.client,
            with: ["client": .string(client.id), "original": .string(first.clientID)],
            "found client \(client.id); expected \(first.clientID), \(role)")
        try Refused.require(
            first.serverID.hasSameBytes(as: server.id), failures.server,
            with: ["server": .string(server.id), "original": .string(first.serverID)],
            "found server \(server.id); expected \(first.serverID), \(otherRole ?? role)")
    }

    /// The requested scopes; all granted ones when the request names none.
    private func scopes(within granted: [String]) throws(Refused) -> [String] {
        let words = parameters.words("scope")
        if words.isEmpty { return granted }
        let denied = words.filter { !granted.contains(exactly: $0) }
        try Refused.require(
            denied.isEmpty, .refreshScopeDenied, with: ["scopes": .string(denied.joined(separator: ", "))],
            "found scope \(words.joined(separator: " ")); expected some of \(granted.joined(separator: " "))")
        return granted.filter { words.contains(exactly: $0) }
    }
}

extension OktaCode {
    /// What a code challenge or verifier may not have: 43 to 128 unreserved characters are right (RFC 7636 section 4.1).
    static func fault(in text: String) -> String? {
        let strange = text.unicodeScalars.first { sign in
            switch sign {
            case "A"..."Z", "a"..."z", "0"..."9", "-", ".", "_", "~": false
            default: true
            }
        }
        if let strange { return "the sign “\(strange)”" }
        return (43...128).contains(text.utf8.count) ? nil : "\(text.utf8.count) characters"
    }
}

/// What the token endpoint gives tokens for. Source: ref, api, guide:device-authorization-grant and those of its flows.
enum OktaGrantType: String, CaseIterable, Sendable {
    case authorizationCode = "authorization_code"
    case refreshToken = "refresh_token"
    case password
    case clientCredentials = "client_credentials"
    case deviceCode = "urn:ietf:params:oauth:grant-type:device_code"
    case tokenExchange = "urn:ietf:params:oauth:grant-type:token-exchange"
    case otp = "urn:okta:params:oauth:grant-type:otp"
    case oob = "urn:okta:params:oauth:grant-type:oob"
    case mfaOTP = "http://auth0.com/oauth/grant-type/mfa-otp"
    case mfaOOB = "http://auth0.com/oauth/grant-type/mfa-oob"

    /// What is wrong with a list of grant types; `nil` when nothing is.
    static func complaint(about grants: [String]) -> String? {
        grants.first { Self(rawValue: $0) == nil }.map { "grants has \($0); expected some of \(allCases.names)" }
    }
}
