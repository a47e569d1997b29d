import Emulation
import JSON
import Wire

/// The authentication API, for apps that ask for the password themselves.
extension Okta {
    /// Exchanges login and password for a session token. Source: ref (authn).
    static func authenticateUser(_ call: inout OktaCall, _ state: inout State) throws(Refused) -> Reply {
        let (login, password) = try call.json { ($0.text("username"), $0.text("password")) }
        let user = try Refused.require(
            state.user(login), .authnFailed, "no user has the login or id \(login); expected one that exists")
        guard let known = user.password, known.hasSameBytes(as: password) else {
            throw Refusal(.authnFailed, because: "the password is not that of \(user.login); expected the user's own")
        }
        try Refused.require(user.isActive, .authnFailed, "\(user.login) is \(user.status.rawValue); expected ACTIVE")
        let authentication = OktaAuthentication(userID: user.id, moment: call.moment, methods: ["pwd"])
        let token = OktaTicket(call.identifiers.opaque(ofLength: 43), for: authentication, at: call.moment)
        state.sessionTokens.add(token, within: OktaState.shortBound)
        return .json([
            "expiresAt": .string(token.expires.rfc3339), "status": "SUCCESS",
            "sessionToken": .string(token.id), "_embedded": ["user": user.signedIn],
        ])
    }
}

extension OktaUser {
    /// The user as the authentication API shows it. Source: ref (authn), whose locale and time zone are its examples'.
    fileprivate var signedIn: JSON {
        [
            "id": .string(id), "passwordChanged": JSON(passwordChanged?.rfc3339),
            "profile": [
                "login": .string(login), "firstName": .string(firstName), "lastName": .string(lastName),
                "locale": profile["locale"] ?? "en_US", "timeZone": profile["timezone"] ?? "UTC",
            ],
        ]
    }
}
