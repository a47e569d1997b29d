import Emulation
import JSON

/// Universal Logout: the call with which Okta tells an application to end a user's sessions.
///
/// Source: docs:guides/oin-universal-logout-overview; that only an action causes it is ours.
extension Okta {
    static let logoutActions: [VendorAction<Okta>] = [
        VendorAction(
            "universal-logout",
            about: "Tells a client's application to end a user's sessions, and ends the user's tokens of the client.",
            members: [
                whoseUser, ActionMember("client", "id of the client", isRequired: true),
                ActionMember("format", "email or iss_sub; what the switch universal-logout-subject says"),
                ActionMember(
                    "defect",
                    "what is wrong with the token, so that the application must refuse it: a general defect or "
                        + OktaLogoutCall.defects.map(\.rawValue).joined(separator: ", ")),
            ],
            calling: { (call, state) throws(ActionRefusal) in try OktaLogoutCall(call, state).request },
            concluding: { call, state, request, answer in
                // A reset or a removal in the meantime leaves no tokens to end.
                if let user = try? user(call, state), let client = try? client(call) {
                    state.revokeGrants(of: user.id) { $0.authorization.clientID.hasSameBytes(as: client.id) }
                }
                let result = OktaLogoutCall.result(of: request, answer)
                state.lastLogout = result
                return result
            })
    ]
}
