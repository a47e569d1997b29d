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
        let maker = OktaTokenMaker(
            vendor: call.vendor, server: request.server, base: call.arrival.base, switches: call.switches,
            moment: call.moment, authorization: authorization,
            user: authorization.userID.flatMap { state.users[$0] }, client: request.client,
            deviceSecretHash: authorization.deviceSession.flatMap { state.deviceSecrets[named: ExactText($0)]?.hash })
        let accessTokenID = "AT." + call.identifiers.opaque(ofLength: 43)
        let idTokenID = "ID." + call.identifiers.opaque(ofLength: 43)
        state.issuedTokens.add(
            OktaIssuedToken(id: accessTokenID, grant: grant, expires: maker.accessTokenExpiry), within: OktaState.bound)
        let answer = OktaTokenAnswer(
            maker: maker, accessTokenID: accessTokenID, idTokenID: idTokenID, refreshToken: refreshToken,
            members: members)
        if let bent = bend(answer, &call, &state, request) { return .json(.object(bent)) }
        return .later {
            // The key was read as one of a server, so it signs RS256.
            let signed = answer.signed { claims, _ in
                try? TokenDraft(header: OktaTokenMaker.header(key), claims: claims).mint(key: key, algorithm: .rs256)
            }
            return signed.map { .json(.object($0)) } ?? .empty(.internalServerError)
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

/// An answer of the token endpoint before its tokens are signed.
struct OktaTokenAnswer: Sendable {
    let maker: OktaTokenMaker
    let accessTokenID: String
    let idTokenID: String
    let refreshToken: String?
    /// Further members.
    let members: JSONObject

    /// The members of the answer; `nil` when a token cannot be signed.
    ///
    /// - Parameter sign: signs the claims of an access or ID token.
    func signed(_ sign: (JSONObject, OktaClaimRule.Target) -> String?) -> JSONObject? {
        let authorization = maker.authorization
        guard let accessToken = sign(maker.accessClaims(id: accessTokenID), .access) else { return nil }
        var answer: JSONObject = [
            "token_type": authorization.proofKey == nil ? "Bearer" : "DPoP",
            "expires_in": JSON(maker.server.accessTokenLifetime), "access_token": .string(accessToken),
            "scope": .string(authorization.scopes.joined(separator: " ")),
        ]
        if let refreshToken { answer.append("refresh_token", .string(refreshToken)) }
        if authorization.scopes.contains("openid") {
            guard let token = sign(maker.idClaims(id: idTokenID, with: accessToken), .id) else { return nil }
            answer.append("id_token", .string(token))
        }
        for member in members { answer.append(member.name, member.value) }
        return answer
    }
}
