import Emulation
import JSON

/// What an access token tells about its user. Source: ref.
extension Okta {
    /// The scopes of which a token needs one, besides openid by the switch.
    private static let userinfoScopes = ["profile", "email", "address", "phone"]

    static func readUserinfo(_ call: inout OktaCall, _ state: inout State) throws(Refused) -> Reply {
        _ = try server(call)
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
        let (scopes, accounts) = (token.scopes, call.vendor.accounts)
        // The members are put together after unlocking.
        return .later { .json(.object(user.claims(for: scopes, accounts))) }
    }
}
