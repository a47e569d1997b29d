import Emulation
import JSON

/// What a request demands of the user besides signing in: a second factor, a consent.
struct OktaSignInPolicy: Sendable {
    let request: OktaAuthorizeRequest
    let client: OktaClient
    let server: OktaServer
    /// Whether people sign in on the page; otherwise nobody is asked (ours).
    let isOnPage: Bool

    init(_ request: OktaAuthorizeRequest, _ client: OktaClient, _ server: OktaServer, _ switches: OktaSwitches) {
        (self.request, self.client, self.server) = (request, client, server)
        isOnPage = (client.loginMode ?? switches.loginMode) == .page
    }

    /// The policy of a sign-in that has begun on the page; `nil` when its client or server is gone.
    init?(_ signIn: OktaSignIn, _ accounts: OktaAccounts) {
        guard let client = accounts.clients[signIn.request.clientID],
            let server = accounts.server(signIn.request.serverID)
        else { return nil }
        (request, self.client, self.server, isOnPage) = (signIn.request, client, server, true)
    }

    /// What the user has to do next.
    enum Step: Sendable { case credentials, secondFactor, consent, nothing }

    func step(of signIn: OktaSignIn, in state: OktaState) -> Step {
        guard let authentication = signIn.authentication else { return .credentials }
        if needsSecondFactor(authentication, in: state) { return .secondFactor }
        let isAsked = signIn.allowedScopes == nil && !scopesToConsent(authentication, in: state).isEmpty
        return isAsked ? .consent : .nothing
    }

    var asksNobody: Bool { request.prompts.contains(.none) }

    /// Whether a session is recent enough.
    func accepts(_ session: OktaSession, at moment: Moment) -> Bool {
        guard let age = request.maxAge else { return true }
        return age > 0 && moment <= session.authenticated + .seconds(age)
    }

    /// Whether a second factor is due.
    func needsSecondFactor(_ authentication: OktaAuthentication, in state: OktaState) -> Bool {
        if authentication.isStrong { return false }
        switch request.assurance {
        case .twoFactors?: return true
        case .twoFactorsIfPossible?:
            return client.assurance == .two || !factors(of: authentication, in: state).isEmpty
        case .oneFactor?, .password?, .phishingResistant?, .hardwareProtected?, nil: return client.assurance == .two
        }
    }

    /// The second factors with which the user can sign in; without a page, only one that needs nobody (ours).
    func factors(of authentication: OktaAuthentication, in state: OktaState) -> [OktaFactor] {
        guard let userID = authentication.userID else { return [] }
        return state.factors(of: userID).filter { $0.status == .active && (isOnPage || $0.kind == .totp) }
    }

    /// The scopes to which the user must still consent. Source: guide:request-user-consent; org never asks (ref).
    func scopesToConsent(_ authentication: OktaAuthentication, in state: OktaState) -> [OktaScope] {
        let scopes = request.scopes.compactMap(server.scope).filter { $0.consent != .implicit }
        if request.prompts.contains(.consent) { return scopes }
        guard client.consentMethod == .required else { return [] }
        let given = authentication.userID.flatMap { state.consents[consentKey(of: $0)]?.scopes } ?? []
        return scopes.filter { scope in !given.contains { $0.hasSameBytes(as: scope.name) } }
    }

    func remember(consentOf userID: String, to scopes: [String], in state: inout OktaState) {
        var consent =
            state.consents[consentKey(of: userID)]
            ?? OktaConsent(userID: userID, clientID: client.id, serverID: server.id)
        consent.scopes += scopes.filter { !consent.scopes.contains($0) }
        state.consents.add(consent, within: OktaState.bound)
    }

    private func consentKey(of userID: String) -> OktaConsent.Key {
        OktaConsent.Key(user: ExactText(userID), client: ExactText(client.id), server: ExactText(server.id))
    }
}
