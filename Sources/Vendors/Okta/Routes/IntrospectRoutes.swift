import Emulation
import JSON
import Tokens

/// What a client may know about a token. Source: ref.
extension Okta {
    static func introspectToken(_ call: inout OktaCall, _ state: inout State) throws(Refused) -> Reply {
        let server = try server(call)
        let text = try tokenParameter(call)
        let answer: JSONObject?
        if let facts = call.credentials.token {
            answer = describe(facts, &call, state)
        } else if let secret = state.deviceSecrets[text] {
            answer = secret.describe(at: call.moment, noting: &call.findings)
        } else {
            answer = describeRefreshToken(text, of: server, &call, state)
        }
        return .json(.object(answer ?? ["active": false]))
    }

    /// The token that the request is about.
    ///
    /// - Throws: ``OktaFailure/tokenParameterMissing``
    static func tokenParameter(_ call: OktaCall) throws(Refused) -> String {
        let text = try Refused.require(
            call.credentials.parameters["token"], .tokenParameterMissing,
            "found no parameter token with a value; expected one")
        return text
    }

    /// An access or ID token; `nil` when it is not active.
    private static func describe(_ facts: OktaTokenFacts, _ call: inout OktaCall, _ state: State) -> JSONObject? {
        guard isActive(facts, &call, state), let token = facts.token, let claims = token.compact.claims else {
            return nil
        }
        return token.isIDToken ? describeIDToken(claims, state) : describeAccessToken(token, claims, state)
    }

    /// Whether a token would be accepted now; the journal says why not.
    static func isActive(_ facts: OktaTokenFacts, _ call: inout OktaCall, _ state: State) -> Bool {
        var facts = facts
        facts.isRevoked = facts.token?.id.map(state.isRevoked(tokenID:)) ?? false
        for list in [OktaTokenRules.any, OktaTokenRules.use] {
            guard list.outcomes(on: &facts).firstFailure == nil else {
                // A remark, since the request itself is right.
                call.findings.note(list.findings(on: facts).filter { $0.outcome == .failed }.map(\.noted))
                return false
            }
            call.findings.judge(facts, by: list)
        }
        return true
    }

    private static func describeAccessToken(_ token: OktaToken, _ claims: JSONObject, _ state: State) -> JSONObject {
        let isBound = claims["cnf"]?["jkt"] != nil
        var answer: JSONObject = ["active": true, "token_type": isBound ? "DPoP" : "Bearer"]
        if claims["scp"] != nil { answer.append("scope", .string(token.scopes.joined(separator: " "))) }
        if let client = claims["cid"] { answer.append("client_id", client) }
        if let user = token.userID.flatMap({ state.users[$0] }) { answer.append("username", .string(user.login)) }
        for name in ["exp", "iat", "sub", "aud", "iss", "jti", "uid", "cnf"] {
            if let value = claims[name] { answer.append(name, value) }
        }
        return answer
    }

    private static func describeIDToken(_ claims: JSONObject, _ state: State) -> JSONObject {
        var answer: JSONObject = ["active": true]
        for claim in claims { answer.append(claim.name, claim.value) }
        if let client = claims["aud"] { answer.append("client_id", client) }
        if let user = claims["sub"]?.string.flatMap({ state.users[$0] }) {
            answer.append("username", .string(user.login))
        }
        return answer
    }

    private static func describeRefreshToken(
        _ text: String, of server: OktaServer, _ call: inout OktaCall, _ state: State
    ) -> JSONObject? {
        let (token, complaint) = refreshToken(text, of: server, call, state)
        guard let (token, grant) = token else {
            call.findings.note(Finding("refresh-token-active", .noted, found: .text(complaint)))
            return nil
        }
        let authorization = grant.authorization
        let user = authorization.userID.flatMap { state.users[$0] }
        var answer: JSONObject = [
            "active": true, "token_type": authorization.proofKey == nil ? "Bearer" : "DPoP",
            "scope": .string(authorization.scopes.joined(separator: " ")),
            "client_id": .string(authorization.clientID),
        ]
        if let user { answer.append("username", .string(user.login)) }
        answer.append("exp", JSON(token.end.wholeSeconds))
        answer.append("sub", .string(authorization.subject(user, call.switches)))
        return answer
    }

    /// The refresh token with that text if it works, else why not.
    private static func refreshToken(
        _ text: String, of server: OktaServer, _ call: OktaCall, _ state: State
    ) -> (token: (OktaRefreshToken, OktaGrant)?, complaint: String) {
        guard let token = state.refreshTokens[text], let grant = state.grants[token.grant] else {
            return (nil, "a text that is not a token of this sandbox")
        }
        if !grant.authorization.serverID.hasSameBytes(as: server.id) {
            return (nil, "a refresh token of server \(grant.authorization.serverID); expected one of \(server.id)")
        }
        if grant.isRevoked { return (nil, "a refresh token that was revoked") }
        if let leeway = call.vendor.accounts.clients[grant.authorization.clientID]?.rotationLeeway,
            let replaced = token.replaced, call.moment > replaced + .seconds(leeway)
        {
            return (nil, "a refresh token that was replaced by another one at \(replaced.rfc3339)")
        }
        if let complaint = token.complaint(at: call.moment) { return (nil, complaint) }
        return ((token, grant), "")
    }
}
