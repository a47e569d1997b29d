import Emulation
import Tokens

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
