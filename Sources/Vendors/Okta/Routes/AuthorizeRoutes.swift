import Emulation
import HTTPTypes
import JSON
import Wire

/// The authorization endpoint: who signs in, and what the client gets.
extension Okta {
    static func authorizeClientApp(_ call: inout OktaCall, _ state: inout State) throws(Refused) -> Reply {
        let server = try server(call)
        try requireForm(call)
        let parameters = call.credentials.parameters
        guard let client = parameters["client_id"].flatMap({ call.vendor.accounts.clients[$0] }) else {
            let found = parameters["client_id"].map { "no client has the id \($0)" } ?? "there is no client_id"
            throw Refusal(.clientUnknown, because: "\(found); expected that of a registered client")
        }
        let request: OktaAuthorizeRequest
        if let id = parameters["request_uri"] {
            request = try pushedRequest(id, of: client, at: server, call, state)
        } else {
            request = try OktaAuthorizeRequest(parameters, of: client, at: server, call.switches)
        }
        var signIn = OktaSignIn()
        (signIn.request, signIn.began) = (request, call.moment)
        let policy = OktaSignInPolicy(request, client, server, call.switches)
        return try finishing(signIn, &state) { (state) throws(Refused) in
            signIn.authentication = try authenticatedUser(policy, call, state)
            if signIn.authentication == nil, !policy.isOnPage {
                signIn.authentication = try anybody(policy, call, state)
            }
            return try proceed(signIn, policy, &call, &state)
        }
    }

    /// Demands that the content of a POST is a form.
    ///
    /// - Throws: ``OktaFailure/mediaType``
    static func requireForm(_ call: OktaCall) throws(Refused) {
        guard call.request.method == .post, !call.request.isForm else { return }
        throw Refusal(
            .mediaType,
            because:
                "Content-Type is \(call.request.fields[.contentType] ?? "absent"); expected application/x-www-form-urlencoded"
        )
    }

    /// Ends a sign-in when the client is told why it failed: that is its answer.
    static func finishing(
        _ signIn: OktaSignIn, _ state: inout State, _ work: (inout State) throws(Refused) -> Reply
    ) throws(Refused) -> Reply {
        do throws(Refused) {
            return try work(&state)
        } catch {
            if error.failure.isToldToClient { state.finish(signIn) }
            throw error
        }
    }

    /// Who is signed in already: by a session token, or by the browser's session; `nil` for nobody.
    static func authenticatedUser(
        _ policy: OktaSignInPolicy, _ call: OktaCall, _ state: State
    ) throws(Refused) -> OktaAuthentication? {
        let request = policy.request
        if let token = request.sessionToken {
            let known = state.sessionTokens[token].flatMap { $0.complaint(at: call.moment) == nil ? $0 : nil }
            var authentication = try Refused.require(
                known?.content, .loginRequired,
                "sessionToken is unknown, used or expired; expected one of authn, used once")
            (authentication.moment, authentication.sessionToken) = (call.moment, token)
            return authentication
        }
        let cookie = call.request.cookie("sid")
        let session = cookie.flatMap { state.sessions[$0] }
        if let session, !request.prompts.contains(.login), policy.accepts(session, at: call.moment) {
            return OktaAuthentication(
                userID: session.userID, moment: session.authenticated, methods: session.methods,
                sessionID: session.id)
        }
        guard policy.asksNobody else { return nil }
        if let session, let age = request.maxAge {
            throw Refusal(
                .reauthenticationRequired,
                because: "the user signed in at \(session.authenticated.rfc3339); expected at most \(age) s ago")
        }
        let found = cookie == nil ? "there is no cookie sid" : "the cookie sid names no session"
        throw Refusal(.loginRequired, because: "\(found), and prompt is none; expected a session or another prompt")
    }

    /// The user who signs in without being asked: the one of `login_hint`, else the default user (ours).
    static func anybody(
        _ policy: OktaSignInPolicy, _ call: OktaCall, _ state: State
    ) throws(Refused) -> OktaAuthentication {
        let name = policy.request.loginHint ?? call.vendor.accounts.defaultUserID
        let user = try Refused.require(
            state.user(name), .accessDenied,
            "no user has the login or id \(name), which signs in by itself; expected one that exists")
        return OktaAuthentication(userID: user.id, moment: call.moment, methods: ["pwd"])
    }
}
