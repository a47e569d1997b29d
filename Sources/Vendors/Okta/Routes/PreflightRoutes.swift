import Emulation
import HTTPTypes
import Wire

extension HTTPField.Name {
    fileprivate static let allowedMethods = Self("Access-Control-Allow-Methods") ?? .allow
    fileprivate static let allowedHeaders = Self("Access-Control-Allow-Headers") ?? .allow
    fileprivate static let allowedAge = Self("Access-Control-Max-Age") ?? .age
    fileprivate static let wantedMethod = Self("Access-Control-Request-Method") ?? .allow
    fileprivate static let wantedHeaders = Self("Access-Control-Request-Headers") ?? .allow
}

/// Questions of browsers whether a page may make a call.
extension Okta {
    /// Answers a browser's question whether a page may make a call.
    ///
    /// Source: api. At the token endpoint and at par any origin may ask, since only the call itself names the client.
    static func answerPreflight(_ call: inout OktaCall, _ state: inout State) throws(Refused) -> Reply {
        guard let (origins, methods) = OktaOrigins.at(call.request.path) else { throw Refusal(.pathNotFound) }
        guard let origin = call.request.fields[.origin], call.request.fields[.wantedMethod] != nil else {
            call.answerFields[.allow] = methods + ", OPTIONS"
            throw Refusal(
                .methodNotAllowed,
                because: "found OPTIONS without Origin and Access-Control-Request-Method; expected \(methods)")
        }
        _ = try server(call)
        var response = Response.empty()
        response.fields[.vary] = "Origin"
        let wanted = call.request.fields[.wantedHeaders]
        let sendsToken = wanted.map { $0.lowercased().contains("authorization") } ?? false
        let isAllowed = origins != .trusted || sendsToken || call.isTrusted(origin, in: &state)
        guard isAllowed || call.switches.cors == .any else { return .respond(response) }
        response.fields[.accessControlAllowOrigin] = origin
        response.fields[.allowedMethods] = methods
        // ours: DPoP and others need it.
        if let wanted { response.fields[.allowedHeaders] = wanted }
        response.fields[.allowedAge] = "3600"
        return .respond(response)
    }

    /// Where pages may make calls.
    static let preflightEndpoints: [Endpoint] =
        ["token", "par", "keys", "introspect", "revoke", "userinfo", "device/authorize"].flatMap {
            [.options("/oauth2/v1/" + $0), .options("/oauth2/{server}/v1/" + $0)]
        } + [
            .options("/.well-known/openid-configuration"),
            .options("/oauth2/{server}/.well-known/openid-configuration"),
            .options("/.well-known/oauth-authorization-server"),
            .options("/.well-known/oauth-authorization-server/oauth2/{server}"),
            .options("/oauth2/{server}/.well-known/oauth-authorization-server"),
        ]
}
