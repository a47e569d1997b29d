import Emulation
import HTTPTypes
import JSON
import Wire

/// Fills in the page of a sign-in.
struct OktaSignInView: Sendable {
    /// ours: who has more users than that types the login.
    private static let mostUsers = 100

    let vendor: Okta
    let base: String
    let seal: OktaPageSeal
    /// `nil` when no device is waited for.
    var moment: Moment?
    var alert: OktaPageAlert?
    /// What was sent, when the page comes again.
    var sent: OktaParameters?

    /// The page for the next step of a sign-in.
    func response(to request: Request, of signIn: OktaSignIn, in state: OktaState) -> Response {
        guard let page = page(of: signIn, in: state) else { return .empty(.badRequest) }
        var response = vendor.pages.response(page, to: request)
        response.fields[.setCookie] = seal.setCookie
        return response
    }

    private func page(of signIn: OktaSignIn, in state: OktaState) -> OktaPage? {
        guard let policy = OktaSignInPolicy(signIn, vendor.accounts) else { return nil }
        let asked = asked(by: signIn.request, policy)
        guard let authentication = signIn.authentication else { return credentialsPage(signIn, asked, state) }
        let login = authentication.userID.flatMap { state.users[$0]?.login } ?? authentication.guest ?? ""
        let ticket = seal.ticket(for: signIn.id)
        guard policy.step(of: signIn, in: state) == .secondFactor else {
            let scopes = policy.scopesToConsent(authentication, in: state).map { scope in
                OktaPage.Scope(
                    name: scope.name, text: scope.display.isEmpty ? scope.name : scope.display,
                    isRequired: scope.consent == .required)
            }
            return .consent(ticket, asked, login: login, scopes: scopes, alert: alert)
        }
        let factors = policy.factors(of: authentication, in: state)
        let result = moment.flatMap { signIn.challengeResult(in: state, at: $0) }
        let chosen = factors.first { $0.id == sent?["factor"] ?? signIn.factorID } ?? factors.first
        return .secondFactor(
            ticket, asked, login: login,
            factors: factors.map { .init(id: $0.id, type: $0.kind.rawValue, text: $0.text) }, chosen: chosen?.id,
            push: result == .waiting ? .init(number: chosen?.numberChallenge) : nil,
            alert: alert ?? notice(about: result))
    }

    private func credentialsPage(
        _ signIn: OktaSignIn, _ asked: OktaPageRequest, _ state: OktaState
    ) -> OktaPage {
        let factors = Dictionary(grouping: state.factors.all.filter { $0.status == .active }) { ExactText($0.userID) }
        let users = state.users.all.prefix(Self.mostUsers).map { user in
            OktaPage.User(
                login: user.login, name: user.name, status: user.status.rawValue,
                factors: factors[user.key]?.map(\.kind.rawValue) ?? [])
        }
        let entered = OktaPage.Entered(
            username: sent?["username"] ?? signIn.request.loginHint ?? "", subject: sent?["subject"] ?? "",
            idClaims: sent?["id_claims"] ?? "", accessClaims: sent?["access_claims"] ?? "")
        return .signIn(seal.ticket(for: signIn.id), asked, users: users, entered: entered, alert: alert)
    }

    private func asked(by request: OktaAuthorizeRequest, _ policy: OktaSignInPolicy) -> OktaPageRequest {
        let prompt = request.prompts.map(\.rawValue).joined(separator: " ")
        return OktaPageRequest(
            clientID: request.clientID, clientName: policy.client.name, issuer: policy.server.issuer(at: base),
            redirectURI: request.redirectURI.isEmpty ? nil : request.redirectURI, scopes: request.scopes,
            prompt: prompt.isEmpty ? nil : prompt, acrValues: request.acrValues, isPushed: request.pushedID != nil)
    }

    /// A device that said no, or nothing. Source of the first text: codes.
    private func notice(about result: OktaTransaction.Result?) -> OktaPageAlert? {
        switch result {
        case .rejected?:
            OktaPageAlert(failure: "direct-oob-rejected", text: "User rejected out-of-band authentication prompt.")
        case .timeout?: OktaPageAlert(failure: "direct-expired", text: "Nobody answered on the device. Send again.")
        case .waiting?, .success?, nil: nil
        }
    }
}

extension OktaFactor {
    /// What the user reads in a list of factors.
    fileprivate var text: String {
        switch kind {
        case .push: "Push to the device"
        case .totp: "Code of the authenticator app"
        case .sms: "Text message to \(phone ?? "the phone")"
        case .call: "Call to \(phone ?? "the phone")"
        }
    }
}

extension OktaPageAlert {
    /// The alert of the page that comes again after a failure; `nil` for failures that end otherwise.
    init?(_ failure: OktaFailure) {
        guard let (text, fields) = Self.known[failure] else { return nil }
        self.init(failure: failure.rawValue, text: text, fields: fields)
    }

    /// Source of the texts: widget for the first, codes for those about passcodes; that about claims is ours.
    private static let known: [OktaFailure: (String, [String])] = [
        .loginWrong: ("Unable to sign in", ["username", "password"]),
        .loginClaimsInvalid: ("The claims are no JSON object", ["id_claims", "access_claims"]),
        .factorCodeWrong: ("Invalid Passcode/Answer", ["passcode"]),
        .factorCodeUsed: (
            "Each code can only be used once. Please wait for a new code and try again.", ["passcode"]
        ),
    ]
}
