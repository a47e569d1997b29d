import Emulation
import JSON
import Wire

/// Pushed authorization requests (RFC 9126).
extension Okta {
    /// Checks and keeps a request that the client will name at `authorize`.
    static func pushRequest(_ call: inout OktaCall, _ state: inout State) throws(Refused) -> Reply {
        let server = try server(call)
        guard let client = call.credentials.client else { throw Refusal(.clientCredentialsMissing) }
        let parameters = call.credentials.parameters
        try Refused.require(
            parameters["request_uri"] == nil, .parRequestURIPresent,
            "found request_uri; expected the parameters themselves")
        let id = OktaPushedRequest.newID(call.identifiers)
        let request = try OktaAuthorizeRequest(parameters, of: client, at: server, call.switches, pushedAs: id)
        let lifetime = call.switches.pushLifetimeSeconds
        let pushed = OktaPushedRequest(request: request, expires: call.moment + .seconds(lifetime))
        state.pushedRequests.add(pushed, within: OktaPushedRequest.bound)
        return .json(
            ["request_uri": .string(id), "expires_in": JSON(lifetime)],
            status: call.switches.pushStatus == .created ? .created : .ok)
    }

    /// The pushed request that `request_uri` names; the other parameters count for nothing but `client_id`.
    static func pushedRequest(
        _ id: String, of client: OktaClient, at server: OktaServer, _ call: OktaCall, _ state: State
    ) throws(Refused) -> OktaAuthorizeRequest {
        let pushed = try Refused.require(
            state.pushedRequests[id], .requestURIInvalid,
            "found \(id.prefix(200)); expected a request_uri that par gave, such as urn:okta:…")
        let request = pushed.request
        try Refused.require(
            request.clientID.hasSameBytes(as: client.id), .requestURIClient,
            "client_id is \(client.id); expected \(request.clientID), who pushed the request")
        try Refused.require(
            request.serverID.hasSameBytes(as: server.id), .requestURIServer,
            "the server is \(server.id); expected \(request.serverID), where the request was pushed")
        try Refused.require(
            !pushed.isUsed, .requestURIInvalid,
            "the request_uri is used up: its client has got an answer; expected a new one")
        try Refused.require(
            call.moment < pushed.expires, .requestURIInvalid,
            "the request_uri expired \(pushed.expires.rfc3339); expected a new one")
        return request
    }
}
