import Emulation
import JSON
import Tokens

/// What an access token reveals about its user. Source: ref.
extension Okta {
    private static let userinfoScopes = ["profile", "email", "address", "phone"]

    static func readUserinfo(_ call: inout OktaCall, _ state: inout State) throws(Refused) -> Reply {
        let server = try server(call)
        let token = try Refused.require(
            call.credentials.token?.token, .accessTokenMissing, "found no access token; expected one")
        let needed = userinfoScopes + (call.switches.answersOpenIDAlone ? ["openid"] : [])
        try Refused.require(
            token.scopes.contains(where: needed.contains), .scopeInsufficient,
            "found \(token.scopes.isEmpty ? "no scopes" : token.scopes.joined(separator: " ")); expected "
                + needed.joined(separator: " or "))
        guard let id = token.userID else {
            // A guest of the sign-in page, of whom nothing but the name is known.
            return .json(.object(["sub": token.compact.claims?["sub"] ?? .null]))
        }
        let user = try Refused.require(
            state.users[id], .accessTokenRevoked, "found uid \(id), a user who was removed; expected a user")
        let (scopes, groups, claims) = (token.scopes, state.groups, state.claims(of: server))
        // The members are put together after unlocking.
        return .later { .json(.object(user.claims(for: scopes, groups, claims))) }
    }

    // MARK: - What a client may know about a token. Source: ref

    static func introspectToken(_ call: inout OktaCall, _ state: inout State) throws(Refused) -> Reply {
        let server = try server(call)
        let text = try tokenParameter(call)
        let answer: JSONObject?
        if let facts = call.credentials.token {
            answer = isActive(facts, &call, state) ? facts.token.flatMap { describe($0, state) } : nil
        } else if let secret = state.deviceSecrets[text] {
            answer = secret.describe(at: call.moment, noting: &call.findings)
        } else {
            answer = describeRefreshToken(text, of: server, &call, state)
        }
        return .json(.object(answer ?? ["active": false]))
    }

    private static func tokenParameter(_ call: OktaCall) throws(Refused) -> String {
        try Refused.require(
            call.credentials.parameters["token"], .tokenParameterMissing,
            "found no parameter token with a value; expected one")
    }

    /// Whether a token would be accepted now; the journal says why not.
    private static func isActive(_ facts: OktaTokenFacts, _ call: inout OktaCall, _ state: State) -> Bool {
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

    private static func describe(_ token: OktaToken, _ state: State) -> JSONObject? {
        guard let claims = token.compact.claims else { return nil }
        var answer: JSONObject = ["active": true]
        if token.isIDToken {
            for claim in claims { answer.append(claim.name, claim.value) }
            if let client = claims["aud"] { answer.append("client_id", client) }
            let user = claims["sub"]?.string.flatMap { state.users[$0] }
            if let user { answer.append("username", .string(user.login)) }
            return answer
        }
        answer.append("token_type", claims["cnf"]?["jkt"] != nil ? "DPoP" : "Bearer")
        if claims["scp"] != nil { answer.append("scope", .string(token.scopes.joined(separator: " "))) }
        if let client = claims["cid"] { answer.append("client_id", client) }
        if let user = token.userID.flatMap({ state.users[$0] }) { answer.append("username", .string(user.login)) }
        for name in ["exp", "iat", "sub", "aud", "iss", "jti", "uid", "cnf"] {
            if let value = claims[name] { answer.append(name, value) }
        }
        for claim in claims where answer[claim.name] == nil && !unlisted.contains(claim.name) {
            answer.append(claim.name, claim.value)
        }
        return answer
    }

    /// Claims of each access token that the answer has under other names, or not at all. Source: ref, its examples.
    private static let unlisted: Set<String> = ["ver", "cid", "scp", "auth_time", "acr"]

    private static func describeRefreshToken(
        _ text: String, of server: OktaServer, _ call: inout OktaCall, _ state: State
    ) -> JSONObject? {
        guard let (token, grant) = state.refreshToken(text) else {
            call.findings.note("refresh-token-active", found: .text("a text that is not a token of this sandbox"))
            return nil
        }
        let authorization = grant.authorization
        let leeway = state.clients[authorization.clientID]?.refresh.leeway
        let complaint: String? =
            if !authorization.serverID.hasSameBytes(as: server.id) {
                "a refresh token of server \(authorization.serverID); expected one of \(server.id)"
            } else if grant.isRevoked {
                "a refresh token that was revoked"
            } else if let leeway, let replaced = token.replaced, call.moment > replaced + .seconds(leeway) {
                "a refresh token that was replaced by another one at \(replaced.rfc3339)"
            } else {
                token.complaint(at: call.moment)
            }
        if let complaint {
            call.findings.note("refresh-token-active", found: .text(complaint))
            return nil
        }
        let user = authorization.userID.flatMap { state.users[$0] }
        var answer: JSONObject = [
            "active": true, "token_type": authorization.proofKey == nil ? "Bearer" : "DPoP",
            "scope": .string(authorization.scopes.joined(separator: " ")), "client_id": .string(authorization.clientID),
        ]
        if let user { answer.append("username", .string(user.login)) }
        answer.append("exp", JSON(token.end.wholeSeconds))
        answer.append("sub", .string(authorization.subject(user, call.switches)))
        return answer
    }

    // MARK: - Ends tokens. Source: ref, guide:revoke-tokens

    /// Ends a token of the client: an access token alone, a refresh token with all from the same sign-in. Anything else
    /// stays as it is, and gets the same answer. A device secret ends for all clients that share it.
    static func revokeToken(_ call: inout OktaCall, _ state: inout State) throws(Refused) -> Reply {
        let server = try server(call)
        let client = try call.client()
        let text = try tokenParameter(call)
        var obstacle: String?
        if let facts = call.credentials.token {
            obstacle = revoke(facts, of: client, &call, &state)
        } else if let secret = state.deviceSecrets[text] {
            // Knowing the secret is enough.
            state.end(secret)
        } else if let (_, grant) = state.refreshToken(text) {
            let (owner, issuer) = (grant.authorization.clientID, grant.authorization.serverID)
            if owner.hasSameBytes(as: client.id), issuer.hasSameBytes(as: server.id) {
                state.revoke(grant: grant.number)
            } else {
                obstacle =
                    "a token of client \(owner) at server \(issuer); expected one of \(client.id) at \(server.id)"
            }
        } else {
            obstacle = "a text that is not a token of this sandbox"
        }
        if let obstacle { call.findings.note("token-of-client", found: .text(obstacle)) }
        return .empty(.ok)
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
            state.add(OktaIssuedToken(id: id, expires: Moment(unixSeconds: end), isRevoked: true))
        } else {
            state.issuedTokens.change(ExactText(id)) { $0.isRevoked = true }
        }
        return nil
    }

    // MARK: - Ends a user's sessions in browsers; tokens stay valid. Source: ref

    static func logOut(_ call: inout OktaCall, _ state: inout State) throws(Refused) -> Reply {
        let server = try server(call)
        let parameters = try call.form()
        let hint = try Refused.require(
            parameters["id_token_hint"], .idTokenHintMissing, "there is no id_token_hint; expected the user's ID token")
        let claims = try idToken(hint, of: server, &call)
        // Back to the client, or to the page that says that nobody is signed in.
        var location = call.signInPath
        if let uri = parameters["post_logout_redirect_uri"] {
            let known = claims["aud"]?.string.flatMap { state.clients[$0] }?.postLogoutURIs ?? []
            guard known.contains(exactly: uri) else {
                var expected = "expected \(known.joined(separator: " or "))"
                if known.isEmpty { expected = "the client of the ID token has none" }
                if let near = known.lazy.compactMap({ Nearest.difference(uri, $0) }).first { expected += ". " + near }
                throw Refused(.postLogoutURIIllegal, because: "found \(uri); \(expected)")
            }
            location = uri.adding(parameters["state"].map { [("state", $0)] } ?? [], after: "?")
        }
        if let userID = claims["sub"]?.string { state.endSessions(of: userID) }
        if let secret = parameters["device_secret"].flatMap({ state.deviceSecrets[$0] }) { state.end(secret) }
        call.setCookie("sid", nil)
        return .respond(.onward(to: location, from: call.request))
    }

    /// The claims of an ID token of the server, which may have expired.
    private static func idToken(
        _ text: String, of server: OktaServer, _ call: inout OktaCall
    ) throws(Refused) -> JSONObject {
        let token = OktaToken(bytes: Array(text.utf8))
        var facts = OktaTokenFacts(token, call.arrival, at: server)
        let outcomes = OktaTokenRules.signed.outcomes(on: &facts)
        let findings = OktaTokenRules.signed.findings(on: facts)
        call.findings.note(findings)
        guard outcomes.firstFailure == nil, let claims = token.compact.claims else {
            let broken = findings.first { $0.outcome == .failed }
            let found = broken.map { "\($0.check): found \($0.found.map(String.init(describing:)) ?? "nothing")" }
            let expected = broken?.expected.map { "; expected \($0)" } ?? ""
            throw Refused(.idTokenHintInvalid, because: (found ?? "found no token") + expected)
        }
        try Refused.require(
            token.isIDToken, .idTokenHintInvalid,
            "jti is \(token.id ?? "absent"); expected an ID token, whose jti begins with “ID.”")
        return claims
    }
}

/// The documents with which clients find a server's endpoints and keys.
extension Okta {
    /// The query `client_id` is accepted and unread (ref).
    static func describeServer(_ call: inout OktaCall, _ state: inout State, isOAuth: Bool) throws(Refused) -> Reply {
        let server = try server(call)
        if let mistake = addressMistake(call) { call.findings.note(mistake) }
        var document = OktaServerMetadata.document(of: server, at: call.arrival.base, call.switches)
        if isOAuth {
            (document["userinfo_endpoint"], document["id_token_signing_alg_values_supported"]) = (nil, nil)
        }
        // Source: inferred, a lifetime of its own.
        return .respond(.json(.object(document)).with(.cacheControl, "max-age=86400, must-revalidate"))
    }

    /// Answers with a server's public keys: exactly six members each, since another type stops a documented client.
    static func publishKeys(_ call: inout OktaCall, _ state: inout State) throws(Refused) -> Reply {
        let server = try server(call)
        let known: IssuerKeys?
        do throws(ControlRefusal) { known = try call.vendor.keys(of: server.id, in: state) } catch {
            throw Refused(.internalError, because: error.description)
        }
        guard var keys = known else { throw Refused(.asNotFound, ["id": .string(server.id)]) }
        let isServed = keys.fetch() != nil
        state.changedKeys[server.id] = keys
        try Refused.require(
            isServed, .internalError,
            "the drill break has these keys answer 500; expected the drill repair before they are read")
        let entries = keys.published.compactMap { published($0.key, call.switches) }
        // Source: ref; the short one is from the page on key rotation.
        let lifetime =
            switch call.switches.keysCacheControl {
            case .long: "max-age=3832304, must-revalidate"
            case .short: "max-age=60, must-revalidate"
            case .none: "no-cache, no-store"
            }
        return .respond(.json(["keys": .array(entries)]).with(.cacheControl, lifetime))
    }

    private static func published(_ key: SigningKey, _ switches: OktaSwitches) -> JSON? {
        guard let jwk = key.publicJWK(algorithm: .rs256)?.object else { return nil }
        var members: JSONObject = [
            "alg": "RS256", "e": jwk["e"] ?? .null, "n": jwk["n"] ?? .null, "kid": JSON(key.id), "kty": "RSA",
            "use": "sig",
        ]
        if switches.modulusLeadingZero == .on, let text = jwk["n"]?.string,
            let modulus = try? Base64URL.decode(text.utf8)
        {
            members["n"] = .string(Base64URL.encode([0] + modulus))
        }
        if switches.keysExtraMembers == .on {
            members["x5c"] = .array([])
            members["key_ops"] = .array(["verify"])
        }
        return .object(members)
    }
}

/// A server's metadata, in the order of Okta's documents. It names only what is served (ours); names: ref, api.
enum OktaServerMetadata {
    static let scopes = ["openid", "profile", "email", "address", "phone", "offline_access", "groups", "device_sso"]
    private static let claims = list([
        "iss", "ver", "sub", "aud", "iat", "exp", "jti", "auth_time", "amr", "idp", "nonce", "name", "nickname",
        "preferred_username", "given_name", "middle_name", "family_name", "email", "email_verified", "profile",
        "zoneinfo", "locale", "address", "phone_number", "picture", "website", "gender", "birthdate", "updated_at",
        "at_hash", "c_hash",
    ])

    static func document(of server: OktaServer, at base: String, _ switches: OktaSwitches) -> JSONObject {
        func endpoint(_ path: String) -> JSON { .string("\(base)\(server.path)/v1/\(path)") }
        let methods = list(OktaClient.Method.allCases.map(\.rawValue))
        var document: JSONObject = [
            "issuer": .string(server.issuer(at: base)), "authorization_endpoint": endpoint("authorize"),
            "token_endpoint": endpoint("token"), "userinfo_endpoint": endpoint("userinfo"),
            "jwks_uri": endpoint("keys"),
            "response_types_supported": ["code"],
            "response_modes_supported": list(OktaResponseMode.allCases.map(\.rawValue)),
            "grant_types_supported": list(OktaGrantType.allCases.map(\.rawValue)),
            "subject_types_supported": ["public"], "id_token_signing_alg_values_supported": ["RS256"],
            "scopes_supported": list(scopes), "token_endpoint_auth_methods_supported": methods,
            "claims_supported": claims, "code_challenge_methods_supported": ["S256"],
            "introspection_endpoint": endpoint("introspect"), "introspection_endpoint_auth_methods_supported": methods,
            "revocation_endpoint": endpoint("revoke"), "revocation_endpoint_auth_methods_supported": methods,
            "end_session_endpoint": endpoint("logout"), "request_parameter_supported": false,
            "device_authorization_endpoint": endpoint("device/authorize"),
            "pushed_authorization_request_endpoint": endpoint("par"),
        ]
        if switches.pushRequirement == .all { document.append("require_pushed_authorization_requests", true) }
        document.append("dpop_signing_alg_values_supported", list(OktaProof.algorithms.map(\.rawValue)))
        return document
    }

    private static func list(_ values: [String]) -> JSON { .array(values.map(JSON.string)) }
}
