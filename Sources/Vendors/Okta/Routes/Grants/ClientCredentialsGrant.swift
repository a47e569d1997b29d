import Emulation

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
        if let stranger = words.first(where: { server.scope($0) == nil }) {
            let known = server.scopes.map(\.name).joined(separator: " ")
            throw Refusal(
                .scopeUnknown, because: "found scope \(stranger); expected some of server \(server.id)'s own: \(known)")
        }
        let refused = words.filter { server.scope($0)?.consent == .required }
        guard refused.isEmpty else {
            throw Refusal(
                .consentRequiredService, ["scopes": .string(refused.joined(separator: ", "))],
                because: "found \(refused.joined(separator: " ")), to which users must consent; expected other scopes")
        }
        return words
    }

    /// The scopes of the request, each once.
    private static func asked(_ request: OktaTokenRequest) throws(Refused) -> [String] {
        var words: [String] = []
        for word in request.parameters.words("scope") where !words.contains(where: { $0.hasSameBytes(as: word) }) {
            words.append(word)
        }
        try Refused.require(!words.isEmpty, .scopeMissing, "found no scope; expected one or more, separated by spaces")
        return words
    }
}
