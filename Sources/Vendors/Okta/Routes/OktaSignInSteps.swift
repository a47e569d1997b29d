import Emulation
import HTTPTypes
import JSON
import Wire

/// What a request demands of the user besides signing in, and the steps of a sign-in: second factor, consent, answer. On
/// the page the user takes them; without it, they are taken at once (ours).
struct OktaSignInPolicy: Sendable {
    typealias State = OktaState
    typealias Refused = Okta.Refused

    let request: OktaAuthorizeRequest
    let client: OktaClient
    let server: OktaServer
    /// Whether people sign in on the page; otherwise nobody is asked (ours).
    let isOnPage: Bool

    init(_ request: OktaAuthorizeRequest, _ client: OktaClient, _ server: OktaServer, _ switches: OktaSwitches) {
        (self.request, self.client, self.server) = (request, client, server)
        isOnPage = (client.loginMode ?? switches.loginMode) == .page
    }

    /// The policy of a sign-in that has begun on the page.
    init(_ signIn: OktaSignIn, _ accounts: OktaAccounts, _ state: OktaState) throws(Refused) {
        request = signIn.request
        guard let client = state.clients[request.clientID], let server = accounts.server(request.serverID) else {
            throw Refused(
                .loginUnknown,
                because: "the fixtures no longer have client \(request.clientID) or server \(request.serverID)")
        }
        (self.client, self.server, isOnPage) = (client, server, true)
    }

    enum Step: Sendable { case credentials, secondFactor, consent, nothing }

    func step(of signIn: OktaSignIn, in state: OktaState) -> Step {
        guard let authentication = signIn.authentication else { return .credentials }
        if needsSecondFactor(authentication, in: state) { return .secondFactor }
        let isAsked = signIn.allowedScopes == nil && !scopesToConsent(authentication, in: state).isEmpty
        return isAsked ? .consent : .nothing
    }

    var asksNobody: Bool { request.prompts.contains(.none) }

    private func accepts(_ session: OktaSession, at moment: Moment) -> Bool {
        request.maxAge.map { $0 > 0 && moment <= session.authenticated + .seconds($0) } ?? true
    }

    private func needsSecondFactor(_ authentication: OktaAuthentication, in state: OktaState) -> Bool {
        if authentication.methods.contains("mfa") { return false }
        if client.assurance == .two || request.assurance == .twoFactors { return true }
        return request.assurance == .twoFactorsIfPossible && !factors(of: authentication, in: state).isEmpty
    }

    /// The second factors with which the user can sign in; without a page, only one that needs nobody (ours).
    func factors(of authentication: OktaAuthentication, in state: OktaState) -> [OktaFactor] {
        guard let userID = authentication.userID else { return [] }
        return state.activeFactors(of: userID).filter { isOnPage || $0.kind == .totp }
    }

    /// The scopes to which the user must still consent. Source: guide:request-user-consent; org never asks (ref).
    func scopesToConsent(_ authentication: OktaAuthentication, in state: OktaState) -> [OktaScope] {
        let scopes = request.scopes.compactMap(server.scope).filter { $0.consent != .implicit }
        if request.prompts.contains(.consent) { return scopes }
        guard client.consentMethod == .required else { return [] }
        let given = authentication.userID.map { consent(of: $0, in: state).scopes } ?? []
        return scopes.filter { scope in !given.contains(exactly: scope.name) }
    }

    /// What a user has consented to so far.
    private func consent(of userID: String, in state: OktaState) -> OktaConsent {
        let consent = OktaConsent(userID: userID, clientID: client.id, serverID: server.id)
        return state.consents[consent.key] ?? consent
    }

    // MARK: - Steps

    /// Takes a sign-in as far as it goes without the user; a new one begins as the user who is signed in already or, if
    /// nobody is asked, anybody. It ends when the client learns why it failed: that is its answer.
    func proceed(
        _ signIn: OktaSignIn, isNew: Bool = false, _ call: inout OktaCall, _ state: inout State
    ) throws(Refused) -> Reply {
        var next = signIn
        do throws(Refused) {
            if isNew { next.authentication = try authenticatedUser(call, state) }
            if isNew, next.authentication == nil, !isOnPage { next.authentication = try anybody(call, state) }
            if let authentication = next.authentication { try admit(authentication, to: &next, state) }
        } catch {
            if error.failure.reachesClient { state.finish(signIn) }
            throw error
        }
        guard step(of: next, in: state) == .nothing, let authentication = next.authentication else {
            return .respond(ask(next, &call, &state))
        }
        return .respond(complete(next, authentication, &call, &state))
    }

    /// Who is signed in already: by a session token, or by the browser's session; `nil` for nobody.
    private func authenticatedUser(_ call: OktaCall, _ state: State) throws(Refused) -> OktaAuthentication? {
        if let token = request.sessionToken {
            let known = state.sessionTokens[token].flatMap { $0.complaint(at: call.moment) == nil ? $0 : nil }
            var authentication = try Refused.require(
                known?.content, .loginRequired,
                "sessionToken is unknown, used or expired; expected one of authn, used once")
            (authentication.moment, authentication.sessionToken) = (call.moment, token)
            return authentication
        }
        let session = call.ownSession(in: state)
        if let session, !request.prompts.contains(.login), accepts(session, at: call.moment) {
            return OktaAuthentication(
                userID: session.userID, moment: session.authenticated, methods: session.methods, sessionID: session.id)
        }
        guard asksNobody else { return nil }
        if let session, let age = request.maxAge {
            throw Refused(
                .reauthenticationRequired,
                because: "the user signed in at \(session.authenticated.rfc3339); expected at most \(age) s ago")
        }
        throw Refused(
            .loginRequired,
            because: "\(Okta.missingSession(call)), and prompt is none; expected a session or another prompt")
    }

    /// The user who signs in without being asked: the one of `login_hint`, else the default user (ours).
    private func anybody(_ call: OktaCall, _ state: State) throws(Refused) -> OktaAuthentication {
        let name = request.loginHint ?? call.vendor.accounts.defaultUserID
        let user = try Refused.require(
            state.user(name), .accessDenied,
            "found \(request.loginHint == nil ? "the default user" : "login_hint") \(name); expected the login or id of "
                + "a user\(state.users.hint(to: name, by: \.login))")
        return OktaAuthentication(userID: user.id, moment: call.moment, methods: ["pwd"])
    }

    /// Takes the steps of a user who signed in: the second factor and the consent too, if nobody is asked for them.
    private func admit(
        _ authentication: OktaAuthentication, to signIn: inout OktaSignIn, _ state: State
    ) throws(Refused) {
        if let userID = authentication.userID {
            let user = try Refused.require(
                state.users[userID], .accessDenied, "the user \(userID) is gone; expected an ACTIVE one")
            try user.requireActive(orFail: .accessDenied)
        }
        try Okta.requireAssigned(authentication.userID, to: client, in: state)
        let grant = signIn.deviceCode == nil ? OktaGrantType.authorizationCode : .deviceCode
        _ = try Okta.accessPolicy(for: client, grant.rawValue, signIn.request.scopes, at: server, in: state)
        if needsSecondFactor(authentication, in: state) {
            let reason = "a second factor is due by \(request.assurance?.rawValue ?? "assurance of the client")"
            try Refused.require(
                !asksNobody, .reauthenticationRequired, "\(reason), and prompt is none; expected another prompt")
            let kinds = isOnPage ? "factor" : "TOTP factor, which signs in by itself"
            try Refused.require(
                !factors(of: authentication, in: state).isEmpty, .acrUnmet,
                "\(reason), and the user has no active \(kinds); expected one")
            if !isOnPage { signIn.authentication = authentication.adding("otp") }
        }
        let scopes = signIn.allowedScopes == nil ? scopesToConsent(authentication, in: state).map(\.name) : []
        if scopes.isEmpty { return }
        var list: String { scopes.joined(separator: ", ") }
        try Refused.require(
            !asksNobody, .consentRequired, with: ["scopes": .string(list)],
            "the user has not consented to \(list), and prompt is none; expected another prompt or a consent")
        if !isOnPage { signIn.allowedScopes = scopes }
    }

    /// Shows the page for the next step, or sends the browser there.
    private func ask(_ signIn: OktaSignIn, _ call: inout OktaCall, _ state: inout State) -> Response {
        var signIn = signIn
        if signIn.id.isEmpty { signIn.id = call.identifiers.opaque(ofLength: 32) }
        call.note(roomMadeFor: "sign-in", by: state.signIns.add(signIn, within: OktaSignIn.bound).count)
        useUp(signIn.authentication?.sessionToken, &state)
        guard case .signIn = call.route.access else {
            return .onward(to: "\(call.signInPath)?tx=\(signIn.id)", from: call.request)
        }
        return Okta.page(of: signIn, call, state)
    }

    /// Answers the app or device; the browser keeps a session.
    private func complete(
        _ signIn: OktaSignIn, _ authentication: OktaAuthentication, _ call: inout OktaCall, _ state: inout State
    ) -> Response {
        let request = signIn.request
        state.finish(signIn)
        if let userID = authentication.userID, let scopes = signIn.allowedScopes {
            var consent = consent(of: userID, in: state)
            consent.scopes += scopes.filter { !consent.scopes.contains($0) }
            state.consents.add(consent, within: OktaState.bound)
        }
        var authorization = OktaAuthorization(
            clientID: request.clientID, serverID: request.serverID, userID: authentication.userID)
        (authorization.guest, authorization.scopes) = (authentication.guest, request.scopes)
        (authorization.authenticated, authorization.methods) = (authentication.moment, authentication.methods)
        (authorization.acr, authorization.nonce) = (request.assurance?.rawValue, request.nonce)
        (authorization.idClaims, authorization.accessClaims) = (signIn.idClaims, signIn.accessClaims)
        authorization.sessionID = openSession(authentication, &call, &state)
        if let device = signIn.deviceCode.flatMap({ state.deviceGrants[$0] }) {
            state.answer(device, authorization, approves: true)
            return call.page(.deviceActivated)
        }
        let content = OktaCode(
            authorization: authorization, redirectURI: request.redirectURI, challenge: request.challenge)
        let code = OktaTicket(call.identifiers.opaque(ofLength: 43), for: content, at: call.moment)
        call.note(roomMadeFor: "code", by: state.codes.add(code, within: OktaState.shortBound).count)
        return OktaReturnAddress(request, of: client).response(
            [("code", code.id)], to: call.request, by: call.vendor.pages)
    }

    /// Continues the browser's session, or opens one; guests have none.
    private func openSession(
        _ authentication: OktaAuthentication, _ call: inout OktaCall, _ state: inout State
    ) -> String? {
        guard let userID = authentication.userID else { return nil }
        useUp(authentication.sessionToken, &state)
        if let id = authentication.sessionID, var session = state.session(id, at: call.moment) {
            session.methods = authentication.methods
            state.refresh(session, at: call.moment)
            return id
        }
        let session = state.openSession(authentication, of: userID, call)
        call.setCookie("sid", session.id)
        return session.id
    }

    private func useUp(_ sessionToken: String?, _ state: inout State) {
        if let sessionToken { state.sessionTokens.change(ExactText(sessionToken)) { $0.isUsed = true } }
    }
}

extension OktaCall {
    func page(_ page: OktaPage) -> Response { vendor.pages.response(page, to: request) }

    var signInPath: String {
        let path = OktaAddress(arrival.base)?.path.text ?? "/"
        return (path == "/" ? "" : path) + "/login/login.htm"
    }

    /// Sets a cookie; without a value, the browser forgets it.
    mutating func setCookie(_ name: String, _ value: String?) {
        let attributes = OktaPageSeal.attributes(of: request, at: arrival.base) + (value == nil ? "; Max-Age=0" : "")
        answerFields.append(HTTPField(name: .setCookie, value: "\(name)=\(value ?? "")\(attributes)"))
    }
}
