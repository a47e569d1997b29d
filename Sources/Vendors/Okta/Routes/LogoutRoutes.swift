import Emulation
import JSON
import Wire

/// Ends a user's sessions in browsers; tokens stay valid. Source: ref.
extension Okta {
    static func logOut(_ call: inout OktaCall, _ state: inout State) throws(Refused) -> Reply {
        let server = try server(call)
        try requireForm(call)
        let parameters = call.credentials.parameters
        let hint = try Refused.require(
            parameters["id_token_hint"], .idTokenHintMissing, "there is no id_token_hint; expected the user's ID token")
        let claims = try idToken(hint, of: server, &call)
        let location = try location(afterLogoutOf: claims, call)
        if let userID = claims["sub"]?.string { state.endSessions(of: userID) }
        if let secret = parameters["device_secret"].flatMap({ state.deviceSecrets[$0] }) { state.end(secret) }
        call.setCookie("sid", nil)
        return .respond(.onward(to: location, from: call.request))
    }

    /// The claims of an ID token of the server, which may have expired.
    ///
    /// - Throws: ``OktaFailure/idTokenHintInvalid``
    private static func idToken(
        _ text: String, of server: OktaServer, _ call: inout OktaCall
    ) throws(Refused) -> JSONObject {
        let token = OktaToken(bytes: Array(text.utf8))
        var facts = OktaTokenFacts(token, call.arrival, at: server)
        let outcomes = OktaTokenRules.signed.outcomes(on: &facts)
        let findings = OktaTokenRules.signed.findings(on: facts)
        call.findings.note(findings)
        guard outcomes.firstFailure == nil, let claims = token.compact.claims else {
            let broken = findings.first { $0.outcome == .failed }
            let found = broken.map { "\($0.check): found \($0.found.map(String.init(describing:)) ?? "nothing")" }
            let expected = broken?.expected.map { "; expected \($0)" } ?? ""
            throw Refusal(.idTokenHintInvalid, because: (found ?? "found no token") + expected)
        }
        try Refused.require(
            token.isIDToken, .idTokenHintInvalid,
            "jti is \(token.id ?? "absent"); expected an ID token, whose jti begins with ID.")
        return claims
    }

    /// Where the browser goes: to the client, or to the page that says that nobody is signed in.
    ///
    /// - Throws: ``OktaFailure/postLogoutURIIllegal``
    private static func location(afterLogoutOf claims: JSONObject, _ call: OktaCall) throws(Refused) -> String {
        let parameters = call.credentials.parameters
        guard let uri = parameters["post_logout_redirect_uri"] else { return call.signInPath }
        let known = claims["aud"]?.string.flatMap { call.vendor.accounts.clients[$0] }?.postLogoutURIs ?? []
        guard known.contains(where: { $0.hasSameBytes(as: uri) }) else {
            let expected =
                known.isEmpty ? "the client of the ID token has none" : "expected \(known.joined(separator: " or "))"
            throw Refusal(.postLogoutURIIllegal, because: "found \(uri); \(expected)")
        }
        return uri.adding(parameters["state"].map { [("state", $0)] } ?? [], after: "?")
    }
}
