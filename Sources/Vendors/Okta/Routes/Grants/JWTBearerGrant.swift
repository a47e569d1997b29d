import Emulation
import JSON

/// The grant `jwt-bearer`: an ID-JAG of the org server for a token of a custom server.
///
/// Source: guide:ai-agent-token-exchange.
extension Okta {
    static func redeemAssertion(
        _ call: inout OktaCall, _ state: inout State, _ request: OktaTokenRequest
    ) throws(Refused) -> Reply {
        let facts = try OktaIDJAGFacts(try request.parameters.required("assertion"), request, call, in: state)
        call.findings.judge(facts, by: OktaIDJAGRules.list)
        if let refusal = call.findings.refusal { throw refusal }
        let claims = facts.token.claims ?? [:]
        let words = claims["scope"]?.string?.split(separator: " ").map(String.init) ?? []
        let authorization = OktaAuthorization(
            clientID: request.client.id, serverID: request.server.id, userID: claims["sub"]?.string,
            scopes: try request.server.scopes(of: words))
        let end = Moment(unixSeconds: facts.token.date("exp").seconds() ?? call.moment.unixSeconds)
        let moment = call.moment
        return try grantTokens(authorization, &call, &state, request) { _, state in
            let id = claims["jti"]?.string ?? ""
            _ = state.use(.idJAG, id, of: request.server.id, until: end, at: moment)
        }
    }
}
