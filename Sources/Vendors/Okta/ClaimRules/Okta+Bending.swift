import Emulation
import JSON
import Tokens
import Wire

/// Where claim rules apply: the answers of the token endpoint, redirects to clients, userinfo and introspection.
extension Okta {
    /// The answer with its tokens made wrong; `nil` when no rule fits, or nothing could be signed.
    ///
    /// The tokens are signed under the lock, since their texts are remembered; hardly any answer is bent.
    static func bend(
        _ answer: OktaTokenAnswer, _ call: inout OktaCall, _ state: inout State, _ request: OktaTokenRequest
    ) -> JSONObject? {
        let authorization = answer.maker.authorization
        var occasion = OktaOccasion(authorization)
        occasion.grant = request.parameters["grant_type"]
        guard var bender = OktaBender(call, state, for: occasion),
            // A file without a key was reported before.
            let keys = (try? call.vendor.keys(of: request.server.id, in: state)) ?? nil
        else { return nil }
        let moment = call.moment
        let signed = answer.signed { claims, target in
            let content = TokenDraft(header: OktaTokenMaker.header(keys.signing), claims: claims)
            let draft = UnsignedToken(content, key: keys.signing, algorithm: keys.algorithm)
            return bender.token(draft, of: keys, as: target, at: moment)
        }
        guard var members = signed else { return nil }
        bender.bend(&members, as: .response)
        bender.settle(&call, &state)
        return members
    }

    /// The members of an answer, changed by the rules for it.
    static func bent(
        _ members: JSONObject, as target: OktaClaimRule.Target, for occasion: OktaOccasion, _ call: inout OktaCall,
        _ state: inout State
    ) -> JSONObject {
        guard var bender = OktaBender(call, state, for: occasion) else { return members }
        var members = members
        bender.bend(&members, as: target)
        bender.settle(&call, &state)
        return members
    }

}

extension OktaReturnAddress {
    /// The answer that takes the browser there, its parameters changed by the rules for redirects.
    ///
    /// - Parameter items: what the client gets, before its own `state`.
    func response(
        _ items: [(name: String, value: String)], for occasion: OktaOccasion, _ call: inout OktaCall,
        _ memory: inout OktaState
    ) -> Response {
        let all = items + (state.map { [("state", $0)] } ?? [])
        let members = JSONObject(all.map { ($0.name, .string($0.value)) })
        let bent = Okta.bent(members, as: .redirect, for: occasion, &call, &memory)
        var address = self
        address.state = nil
        return address.response(bent.map { ($0.name, $0.value.string ?? $0.value.text) }, to: call.request)
    }
}

extension OktaOccasion {
    init(_ authorization: OktaAuthorization) {
        (clientID, userID) = (authorization.clientID, authorization.userID)
        (serverID, scopes) = (authorization.serverID, authorization.scopes)
    }

    /// What a token says of itself when it comes back to a server.
    init(of token: OktaToken?, at server: OktaServer) {
        (clientID, userID) = (token?.clientID, token?.userID)
        (serverID, scopes) = (server.id, token?.scopes ?? [])
    }
}
