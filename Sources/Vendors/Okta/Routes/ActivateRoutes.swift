import Emulation
import HTTPTypes
import JSON
import Wire

/// The page on which a user lets a device sign in. The path is documented (guide:device-authorization-grant), the form
/// is ours.
extension Okta {
    /// Shows the page, filled in with the code of the address.
    static func showActivation(_ call: inout OktaCall, _ state: inout State) throws(Refused) -> Reply {
        .respond(call.vendor.activationPage(call.request, call.identifiers))
    }

    /// Takes the code that the user typed.
    static func submitActivation(_ call: inout OktaCall, _ state: inout State) throws(Refused) -> Reply {
        let parameters = call.credentials.parameters
        try OktaPageSeal.check(parameters, of: call)
        let device = try Refused.require(
            state.openDevice(parameters["user_code"] ?? "", at: call.moment), .userCodeInvalid,
            "found a user code that is unknown, answered or expired; expected that of a waiting device")
        guard let client = call.vendor.accounts.clients[device.authorization.clientID],
            let server = call.vendor.accounts.server(device.authorization.serverID)
        else {
            throw Refusal(
                .userCodeInvalid, because: "the fixtures have no client or server of the device any more; expected both"
            )
        }
        var signIn = OktaSignIn()
        (signIn.deviceCode, signIn.began) = (device.id, call.moment)
        (signIn.request.clientID, signIn.request.serverID) = (client.id, server.id)
        signIn.request.scopes = device.authorization.scopes
        let policy = OktaSignInPolicy(signIn.request, client, server, call.switches)
        signIn.authentication = try authenticatedUser(policy, call, state)
        if signIn.authentication == nil, !policy.isOnPage { signIn.authentication = try anybody(policy, call, state) }
        return try proceed(signIn, policy, &call, &state)
    }

    /// The page, sealed for the browser that asked for it.
    func activationPage(
        _ request: Request, _ identifiers: IdentifierSource, alert: OktaPageAlert? = nil
    ) -> Response {
        let seal = OktaPageSeal(request, identifiers)
        let userCode = OktaParameters(of: request)["user_code"] ?? ""
        let page = OktaPage.activate(
            seal.ticket(for: identifiers.opaque(ofLength: 20)), userCode: userCode, alert: alert)
        var response = pages.response(page, to: request)
        response.fields[.setCookie] = seal.setCookie
        return response
    }
}
