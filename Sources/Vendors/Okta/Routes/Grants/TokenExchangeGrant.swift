import Emulation
import JSON
import Tokens

/// The grant `token-exchange` (RFC 8693): a service acts for a user, a second app of a device signs its user in, or the
/// org server vouches for a user.
///
/// Source: guide:set-up-token-exchange, guide:configure-native-sso, guide:ai-agent-token-exchange, api.
extension Okta {
    static func exchangeToken(
        _ call: inout OktaCall, _ state: inout State, _ request: OktaTokenRequest
    ) throws(Refused) -> Reply {
        let order = try OktaExchangeOrder(request)
        switch order {
        case .onBehalf(let subject): return try exchangeOnBehalf(subject, &call, &state, request)
        case .native(let subject, let secret): return try signInOnDevice(subject, secret, &call, &state, request)
        case .idJAG(let subject, let kind): return try vouch(subject, kind, &call, &state, request)
        }
    }

    /// A service gets an access token of the user whose access token it has.
    private static func exchangeOnBehalf(
        _ text: String, _ call: inout OktaCall, _ state: inout State, _ request: OktaTokenRequest
    ) throws(Refused) -> Reply {
        let server = request.server
        let trusted = call.vendor.accounts.servers.filter { other in
            other.id.hasSameBytes(as: server.id) || server.trustedServers.contains { $0.hasSameBytes(as: other.id) }
        }
        let subject = try OktaSubject(text, .access, of: trusted, call, in: state)
        try judge(subject, by: OktaSubjectRules.any, &call)
        try checkAudience(request, call)
        guard request.client.type == .service else {
            throw Refusal(
                .exchangeNotService,
                because:
                    "found client \(request.client.id), application_type \(request.client.type.rawValue); expected "
                    + "service")
        }
        let scopes = try scopes(request.parameters.words("scope"), of: request.client, at: server)
        // The claim lies back by the lag already.
        let lag = Duration.seconds(call.switches.authTimeLagSeconds)
        let authorization = OktaAuthorization(
            clientID: request.client.id, serverID: server.id, userID: subject.userID, scopes: scopes,
            authenticated: subject.token.date("auth_time").seconds().map { Moment(unixSeconds: $0) + lag })
        return try grantTokens(authorization, &call, &state, request, adding: OktaExchangeOrder.accessTokenIssued)
    }

    /// A second app of a device gets tokens of the user who signed in in the first one.
    private static func signInOnDevice(
        _ text: String, _ actor: String, _ call: inout OktaCall, _ state: inout State, _ request: OktaTokenRequest
    ) throws(Refused) -> Reply {
        guard let secret = state.deviceSecrets[actor] else {
            throw Refusal(
                .exchangeActor, because: "found a device secret that is unknown here; expected one of this sandbox")
        }
        let subject = try OktaSubject(
            text, .id(client: nil), of: [request.server], mayBeExpired: true, beside: secret, call, in: state)
        try judge(subject, by: OktaSubjectRules.native, &call)
        try checkAudience(request, call)
        var authorization = secret.authorization
        authorization.clientID = request.client.id
        authorization.serverID = request.server.id
        authorization.scopes = try request.server.scopes(of: request.parameters.words("scope"))
        // They belong to the first app's tokens alone.
        (authorization.nonce, authorization.proofKey) = (nil, nil)
        (authorization.idClaims, authorization.accessClaims) = (nil, nil)
        return try grantTokens(authorization, &call, &state, request, adding: OktaExchangeOrder.accessTokenIssued)
    }

    /// The org server vouches for a user to a custom server.
    private static func vouch(
        _ text: String, _ kind: OktaSubject.Kind, _ call: inout OktaCall, _ state: inout State,
        _ request: OktaTokenRequest
    ) throws(Refused) -> Reply {
        let subject = try OktaSubject(text, kind, of: call.vendor.accounts.servers, call, in: state)
        try judge(subject, by: OktaSubjectRules.any, &call)
        let (audience, server) = try custom(request, call)
        let words = request.parameters.words("scope")
        let scopes = words.isEmpty ? [] : try scopes(words, of: request.client, at: server)
        let key = try signingKey(of: request.server, call, state)
        let assertion = OktaIDJAG(
            id: "IDJAG." + call.identifiers.opaque(ofLength: 43), issuer: request.server.issuer(at: call.arrival.base),
            audience: audience, userID: subject.userID ?? "", clientID: request.client.id, scopes: scopes,
            issued: call.moment)
        return .later {
            let draft = TokenDraft(header: OktaIDJAG.header(key), claims: assertion.claims)
            // The key was read as one of a server, so it signs RS256.
            guard let token = try? draft.mint(key: key, algorithm: .rs256) else { return .empty(.internalServerError) }
            return .json([
                "token_type": "N_A", "expires_in": JSON(OktaIDJAG.lifetime), "access_token": .string(token),
                "issued_token_type": .string(OktaIDJAG.tokenType),
            ])
        }
    }

    private static func judge(
        _ subject: OktaSubject, by rules: RuleList<OktaSubject>, _ call: inout OktaCall
    ) throws(Refused) {
        call.findings.judge(subject, by: rules)
        if let refusal = call.findings.refusal { throw refusal }
    }

    /// The scopes of a request; services get no ID tokens.
    private static func scopes(
        _ words: [String], of client: OktaClient, at server: OktaServer
    ) throws(Refused) -> [String] {
        if client.type == .service,
            let word = words.first(where: { word in OktaServerMetadata.scopes.contains { $0.hasSameBytes(as: word) } })
        {
            let own = server.scopes.map(\.name).joined(separator: " ")
            throw Refusal(
                .exchangeOpenid, because: "found scope \(word); expected some of server \(server.id)'s own: \(own)")
        }
        return try server.scopes(of: words)
    }

    private static func checkAudience(_ request: OktaTokenRequest, _ call: OktaCall) throws(Refused) {
        let expected = request.server.audience(at: call.arrival.base)
        let found = request.parameters["audience"]
        guard found?.hasSameBytes(as: expected) == true else {
            throw Refusal(.exchangeAudience, because: "found audience \(found ?? "none"); expected \(expected)")
        }
    }

    /// The custom server whose issuer is the audience, with the issuer as the client wrote it.
    private static func custom(
        _ request: OktaTokenRequest, _ call: OktaCall
    ) throws(Refused) -> (issuer: String, server: OktaServer) {
        let bases = call.arrival.sandbox.publicBase.addresses(of: call.arrival.sandbox.name)
        let servers = call.vendor.accounts.servers.filter { !$0.isOrg }
        if let audience = request.parameters["audience"],
            let server = servers.first(where: { server in
                bases.contains { audience.hasSameBytes(as: server.issuer(at: $0)) }
            })
        {
            return (audience, server)
        }
        let known = servers.map { $0.issuer(at: call.arrival.base) }.joined(separator: " or ")
        throw Refusal(
            .exchangeAudience, because: "found audience \(request.parameters["audience"] ?? "none"); expected \(known)")
    }
}

private enum OktaExchangeOrder {
    case onBehalf(subject: String)
    case native(subject: String, secret: String)
    case idJAG(subject: String, OktaSubject.Kind)

    private static let accessToken = "urn:ietf:params:oauth:token-type:access_token"
    private static let idToken = "urn:ietf:params:oauth:token-type:id_token"

    /// The member with which answers say what they contain (RFC 8693 section 2.2.1).
    static let accessTokenIssued: JSONObject = ["issued_token_type": .string(accessToken)]

    /// Reads the members in the order of their failures.
    init(_ request: OktaTokenRequest) throws(OktaRefusal) {
        let parameters = request.parameters
        let requested = parameters["requested_token_type"]
        let isForIDJAG = requested?.hasSameBytes(as: OktaIDJAG.tokenType) == true
        if request.server.isOrg, !isForIDJAG {
            throw Refusal(
                .exchangeOrg,
                because: "found requested_token_type \(requested ?? "none") at the org server; expected "
                    + OktaIDJAG.tokenType)
        }
        guard let subject = parameters["subject_token"] else {
            throw Refusal(.exchangeSubject, because: "found no subject_token; expected an access token or ID token")
        }
        let isIDToken = try Self.isIDToken(parameters)
        // An exchange at a custom server that starts from an ID token is always one between the apps of a device.
        let isNative = isIDToken && !request.server.isOrg
        let secret = isNative ? try Self.deviceSecret(parameters) : nil
        guard isForIDJAG ? request.server.isOrg : requested?.hasSameBytes(as: Self.accessToken) ?? true else {
            throw Refusal(
                .exchangeRequestedType,
                because: "found requested_token_type \(requested ?? "none"); expected \(Self.accessToken), or none")
        }
        if isForIDJAG {
            self = .idJAG(subject: subject, isIDToken ? .id(client: request.client.id) : .access)
        } else if let secret {
            self = .native(subject: subject, secret: secret)
        } else {
            self = .onBehalf(subject: subject)
        }
    }

    private static func isIDToken(_ parameters: OktaParameters) throws(OktaRefusal) -> Bool {
        let type = parameters["subject_token_type"]
        if let type, type.hasSameBytes(as: idToken) { return true }
        if let type, type.hasSameBytes(as: accessToken) { return false }
        throw Refusal(
            .exchangeSubjectType,
            because: "found subject_token_type \(type ?? "none"); expected \(accessToken) or \(idToken)")
    }

    private static func deviceSecret(_ parameters: OktaParameters) throws(OktaRefusal) -> String {
        guard let secret = parameters["actor_token"] else {
            throw Refusal(.exchangeActor, because: "found no actor_token beside an ID token; expected a device secret")
        }
        let type = parameters["actor_token_type"]
        guard type?.hasSameBytes(as: OktaDeviceSecret.tokenType) == true else {
            throw Refusal(
                .exchangeActorType,
                because: "found actor_token_type \(type ?? "none"); expected \(OktaDeviceSecret.tokenType)")
        }
        return secret
    }
}
