import Emulation
import HTTPTypes
import Wire

/// Questions of browsers whether a page may make a call.
extension Okta {
    /// Answers a browser's question whether a page may make a call.
    ///
    /// Source: api. At the token endpoint and at par any origin may ask, since only the call itself names the client.
    static func answerPreflight(_ call: inout OktaCall, _ state: inout State) throws(Refused) -> Reply {
        guard let (origins, methods) = OktaOrigins.at(call.request.path) else { throw Refusal(.pathNotFound) }
        guard let origin = call.request.fields[.origin], call.request.fields[.accessControlRequestMethod] != nil else {
            call.answerFields[.allow] = methods + ", OPTIONS"
            throw Refusal(
                .methodNotAllowed,
                because: "found OPTIONS without Origin and Access-Control-Request-Method; expected \(methods)")
        }
        _ = try server(call)
        var response = Response.empty()
        response.fields[.vary] = "Origin"
        let wanted = call.request.fields[.accessControlRequestHeaders]
        let sendsToken = wanted.map { $0.lowercased().contains("authorization") } ?? false
        let isTrusted = call.isTrusted(origin, in: &state)
        guard origins.admits(isTrusted: isTrusted, sendsToken: sendsToken) else { return .respond(response) }
        response.fields.allow(origin, at: call.request.path, isTrusted: isTrusted)
        response.fields[.accessControlAllowMethods] = methods
        // ours: DPoP and others need it.
        if let wanted { response.fields[.accessControlAllowHeaders] = wanted }
        response.fields[.accessControlMaxAge] = "3600"
        return .respond(response)
    }

    /// Where pages may make calls.
    static let preflightEndpoints = OktaOrigins.paths.flatMap { $0.patterns.map(Endpoint.options) }
}
