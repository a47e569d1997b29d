import Emulation
import JSON
import Tokens

/// The token endpoint. Each grant has a function of one form, in a file of its own.
extension Okta {
    typealias GrantHandler = (inout OktaCall, inout State, OktaTokenRequest) throws(Refused) -> Reply

    static func createToken(_ call: inout OktaCall, _ state: inout State) throws(Refused) -> Reply {
        let server = try server(call)
        let client = try call.client()
        let request = OktaTokenRequest(
            server: server, client: client, parameters: call.credentials.parameters, proofKey: call.credentials.proofKey
        )
        // Who asks for no document reads here that its tokens name another address.
        let mistake = addressMistake(call)
        let isKnown =
            mistake == nil || state.grants.added.contains { state.grants[$0]?.authorization.clientID == client.id }
        let reply = try handler(of: grantType(of: request))(&call, &state, request)
        if !isKnown, let mistake { call.findings.note(mistake) }
        return reply
    }

    /// What the request asks tokens for.
    ///
    /// - Throws: ``OktaFailure/grantTypeMissing``, ``OktaFailure/grantTypeUnsupported``, and
    ///   ``OktaFailure/grantTypeNotAllowed`` for this client.
    private static func grantType(of request: OktaTokenRequest) throws(Refused) -> OktaGrantType {
        let names = OktaGrantType.allCases.map(\.rawValue).joined(separator: ", ")
        let name = try Refused.require(
            request.parameters["grant_type"], .grantTypeMissing, with: ["grants": .string(names)],
            "found no parameter grant_type with a value; expected one of \(names)")
        let type = try Refused.require(
            OktaGrantType(rawValue: name), .grantTypeUnsupported, with: ["grants": .string(names)],
            "found grant_type \(name); expected one of \(names)")
        let (client, own) = (request.client, request.client.grants.joined(separator: ", "))
        try Refused.require(
            client.allows(name), .grantTypeNotAllowed, with: ["grants": .string(own)],
            "found grant_type \(name) of client \(client.id); expected one of its own: \(own)")
        return type
    }

    private static func handler(of type: OktaGrantType) -> GrantHandler {
        switch type {
        case .authorizationCode: redeemCode
        case .refreshToken: refreshTokens
        case .password: redeemPassword
        case .clientCredentials: grantToClient
        case .deviceCode: redeemDeviceCode
        case .tokenExchange: exchangeToken
        case .otp: redeemOneTimePassword
        case .oob: redeemOutOfBandCode
        case .mfaOTP: redeemSecondOneTimePassword
        case .mfaOOB: redeemSecondOutOfBandCode
        }
    }
}

extension OktaCall {
    func client() throws(OktaRefusal) -> OktaClient {
        return try OktaRefusal.require(
            credentials.client, .clientCredentialsMissing, "found no authenticated client; expected one")
    }
}

struct OktaTokenRequest: Sendable {
    let server: OktaServer
    let client: OktaClient
    let parameters: OktaParameters
    /// The thumbprint of the key that a DPoP proof showed, to which the tokens are bound; `nil` without one.
    var proofKey: String?
}

/// The grant `password`. Source: ref, codes.
extension Okta {
    static func redeemPassword(
        _ call: inout OktaCall, _ state: inout State, _ request: OktaTokenRequest
    ) throws(Refused) -> Reply {
        let name = try request.parameters.required("username")
        let password = try request.parameters.required("password")
        let scopes = try request.server.scopes(of: request.parameters.words("scope"))
        let user = try user(name, password, in: state)
        var authorization = OktaAuthorization(clientID: request.client.id, serverID: request.server.id, userID: user.id)
        authorization.scopes = scopes
        authorization.authenticated = call.moment
        authorization.methods = ["pwd"]
        return try passFirstFactor(authorization, &call, &state, request)
    }

    private static func user(_ name: String, _ password: String, in state: State) throws(Refused) -> OktaUser {
        let user = try Refused.require(
            state.user(name), .passwordWrong, "found username \(name); expected the id or login of a user")
        guard let known = user.password, Digest.areEqual(Array(known.utf8), Array(password.utf8)) else {
            throw Refusal(.passwordWrong, because: "found another password; expected that of \(user.login)")
        }
        switch user.status {
        case .active: return user
        case .passwordExpired:
            throw Refusal(.passwordExpired, because: "found \(user.login), PASSWORD_EXPIRED; expected ACTIVE")
        case .deprovisioned, .lockedOut, .provisioned, .recovery, .staged, .suspended:
            throw Refusal(
                .passwordWrong, because: "found \(user.login), who is \(user.status.rawValue); expected ACTIVE")
        }
    }
}

/// The grant `client_credentials`: a service acts for itself.
extension Okta {
    static func grantToClient(
        _ call: inout OktaCall, _ state: inout State, _ request: OktaTokenRequest
    ) throws(Refused) -> Reply {
        var authorization = OktaAuthorization(clientID: request.client.id, serverID: request.server.id)
        authorization.scopes =
            request.server.isOrg ? try orgScopes(call, request) : try customScopes(request)
        return try grantTokens(authorization, &call, &state, request)
    }

    /// The org server grants `okta.*` scopes to services that sign their requests.
    ///
    /// Source: api, guide:implement-oauth-for-okta-serviceapp; that it leaves out what was not granted: inferred.
    private static func orgScopes(_ call: OktaCall, _ request: OktaTokenRequest) throws(Refused) -> [String] {
        let client = request.client
        guard call.credentials.method == .privateKeyJWT else {
            let method = call.credentials.method?.rawValue ?? "none"
            throw Refusal(.orgClientMethod, because: "found \(method); expected private_key_jwt at the org server")
        }
        try Refused.require(
            client.type == .service, .orgClientType,
            "found client \(client.id), application_type \(client.type.rawValue); expected service")
        let words = try asked(request)
        let granted = words.filter { word in client.grantedScopes.contains { $0.hasSameBytes(as: word) } }
        guard !granted.isEmpty else {
            let expected = client.grantedScopes.isEmpty ? "nothing" : client.grantedScopes.joined(separator: " ")
            throw Refusal(
                .orgScopes,
                because:
                    "found scope \(words.joined(separator: " ")); expected some of what \(client.id) was granted: \(expected)"
            )
        }
        return granted
    }

    /// A custom server grants its own scopes, unless a user would have to consent.
    private static func customScopes(_ request: OktaTokenRequest) throws(Refused) -> [String] {
        let (server, words) = (request.server, try asked(request))
        try Refused.require(
            !words.contains("openid"), .scopeOpenidService,
            "found scope openid, which is about a user, and a service has none; expected some of \(server.scopeNames)")
        if let unknown = words.first(where: { server.scope($0) == nil }) {
            throw Refusal(
                .scopeUnknown,
                because: "found scope \(unknown); expected some of server \(server.id)'s own: \(server.scopeNames)")
        }
        let refused = words.filter { server.scope($0)?.consent == .required }
        try Refused.require(
            refused.isEmpty, .consentRequiredService, with: ["scopes": .string(refused.joined(separator: ", "))],
            "found \(refused.joined(separator: " ")), to which users must consent; expected other scopes")
        return words
    }

    /// The scopes of the request, each once.
    private static func asked(_ request: OktaTokenRequest) throws(Refused) -> [String] {
        var words: [String] = []
        for word in request.parameters.words("scope") where !words.contains(where: { $0.hasSameBytes(as: word) }) {
            words.append(word)
        }
        if words.isEmpty, !request.server.isOrg { words = request.server.defaultScopes }
        try Refused.require(!words.isEmpty, .scopeMissing, "found no scope; expected one or more, separated by spaces")
        return words
    }
}
