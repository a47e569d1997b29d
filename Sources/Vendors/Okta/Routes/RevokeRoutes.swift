import Emulation
import JSON
import Tokens

/// Ends tokens. Source: ref, guide:revoke-tokens.
extension Okta {
    /// Ends a token of the client: an access token alone, a refresh token with all from the same sign-in. Anything else
    /// stays as it is, and gets the same answer. A device secret ends for all clients that share it.
    static func revokeToken(_ call: inout OktaCall, _ state: inout State) throws(Refused) -> Reply {
        let server = try server(call)
        let client = try call.client()
        let text = try tokenParameter(call)
        let obstacle: String? =
            if let facts = call.credentials.token {
                revoke(facts, of: client, &call, &state)
            } else if let secret = state.deviceSecrets[text] {
                end(secret, &state)
            } else {
                revokeRefreshToken(text, of: client, server, &state)
            }
        if let obstacle { call.findings.note(Finding("token-of-client", .noted, found: .text(obstacle))) }
        return .empty(.ok)
    }

    /// - Returns: `nil`, since knowing the secret is enough.
    private static func end(_ secret: OktaDeviceSecret, _ state: inout State) -> String? {
        state.end(secret)
        return nil
    }

    /// - Returns: why nothing was revoked.
    private static func revoke(
        _ facts: OktaTokenFacts, of client: OktaClient, _ call: inout OktaCall, _ state: inout State
    ) -> String? {
        guard let token = facts.token, isActive(facts, &call, state) else { return "a token that is not active" }
        guard !token.isIDToken, let id = token.id, let end = token.compact.date("exp").seconds() else {
            return "a token that cannot be revoked; expected an access or refresh token"
        }
        guard token.clientID?.hasSameBytes(as: client.id) == true else {
            return "a token of client \(token.clientID ?? "unknown"); expected one of \(client.id)"
        }
        if state.issuedTokens[id] == nil {
            // It was minted, so no grant knows it.
            state.issuedTokens.add(
                OktaIssuedToken(id: id, expires: Moment(unixSeconds: end), isRevoked: true), within: OktaState.bound)
        } else {
            state.issuedTokens.change(ExactText(id)) { $0.isRevoked = true }
        }
        return nil
    }

    /// - Returns: why nothing was revoked.
    private static func revokeRefreshToken(
        _ text: String, of client: OktaClient, _ server: OktaServer, _ state: inout State
    ) -> String? {
        guard let token = state.refreshTokens[text], let grant = state.grants[token.grant] else {
            return "a text that is not a token of this sandbox"
        }
        let (owner, issuer) = (grant.authorization.clientID, grant.authorization.serverID)
        guard owner.hasSameBytes(as: client.id), issuer.hasSameBytes(as: server.id) else {
            return "a token of client \(owner) at server \(issuer); expected one of \(client.id) at \(server.id)"
        }
        state.revoke(grant: grant.number)
        return nil
    }
}
