import Emulation
import JSON
import Tokens
import Wire

/// Answers of the token endpoint.
extension Okta {
    /// Begins a grant and answers with its first tokens: a refresh token only for `offline_access`, and only if the
    /// client may use one (ours).
    ///
    /// - Parameters:
    ///   - members: further members of the answer, such as `issued_token_type`.
    ///   - note: notes the grant where it came from, such as in its code.
    static func grantTokens(
        _ authorization: OktaAuthorization, _ call: inout OktaCall, _ state: inout State, _ request: OktaTokenRequest,
        adding members: JSONObject = [:], noting note: (OktaGrant, inout State) -> Void = { _, _ in }
    ) throws(Refused) -> Reply {
        let key = try signingKey(of: request.server, call, state)
        var authorization = authorization
        if let proofKey = request.proofKey { authorization.proofKey = proofKey }
        let grant = state.begin(authorization, at: call.moment)
        note(grant, &state)
        var refreshToken: String?
        let mayRefresh = request.client.allows(OktaGrantType.refreshToken.rawValue)
        if mayRefresh, authorization.scopes.contains("offline_access") {
            refreshToken = state.addRefreshToken(to: grant, of: request.server, call).id
        }
        return issueTokens(
            of: grant.number, authorization, refreshToken, &call, &state, request, signedBy: key, adding: members)
    }

    /// Makes the access token and, for `openid`, the ID token of a grant; they are signed after unlocking.
    ///
    /// - Parameters:
    ///   - authorization: that of the grant, perhaps with fewer scopes.
    ///   - refreshToken: the refresh token to answer with.
    ///   - members: further members of the answer.
    static func issueTokens(
        of grant: Int, _ authorization: OktaAuthorization, _ refreshToken: String?, _ call: inout OktaCall,
        _ state: inout State, _ request: OktaTokenRequest, signedBy key: SigningKey, adding members: JSONObject = [:]
    ) -> Reply {
        let overrides = state.claimOverrides.count == 0 ? [] : state.claimOverrides.all
        let maker = OktaTokenMaker(
            vendor: call.vendor, server: request.server, base: call.arrival.base, switches: call.switches,
            moment: call.moment, authorization: authorization,
            user: authorization.userID.flatMap { state.users[$0] }, client: request.client,
            deviceSecretHash: authorization.deviceSession.flatMap { state.deviceSecrets[named: ExactText($0)]?.hash },
            overrides: overrides)
        let accessTokenID = "AT." + call.identifiers.opaque(ofLength: 43)
        let idTokenID = "ID." + call.identifiers.opaque(ofLength: 43)
        state.issuedTokens.add(
            OktaIssuedToken(id: accessTokenID, grant: grant, expires: maker.accessTokenExpiry), within: OktaState.bound)
        for override in overrides where override.target == .access || authorization.scopes.contains("openid") {
            call.interventions.append(override.intervention)
        }
        return .later {
            // The key was read as one of a server, so it signs RS256.
            func sign(_ claims: JSONObject) -> String? {
                try? TokenDraft(header: OktaTokenMaker.header(key), claims: claims).mint(key: key, algorithm: .rs256)
            }
            guard let accessToken = sign(maker.accessClaims(id: accessTokenID)) else {
                return .empty(.internalServerError)
            }
            var answer: JSONObject = [
                "token_type": authorization.proofKey == nil ? "Bearer" : "DPoP",
                "expires_in": JSON(maker.server.accessTokenLifetime), "access_token": .string(accessToken),
                "scope": .string(authorization.scopes.joined(separator: " ")),
            ]
            if let refreshToken { answer.append("refresh_token", .string(refreshToken)) }
            if authorization.scopes.contains("openid") {
                guard let token = sign(maker.idClaims(id: idTokenID, with: accessToken)) else {
                    return .empty(.internalServerError)
                }
                answer.append("id_token", .string(token))
            }
            for member in members { answer.append(member.name, member.value) }
            return .json(.object(answer))
        }
    }

    static func signingKey(
        of server: OktaServer, _ call: OktaCall, _ state: State
    ) throws(Refused) -> SigningKey {
        do throws(MintRefusal) {
            if let key = try call.vendor.keys(of: server.id, in: state)?.signing { return key }
        } catch {
            throw Refusal(.internalError, because: "found \(error); expected the server's key")
        }
        throw Refusal(.internalError, because: "found no key of server \(server.id); expected one")
    }
}
