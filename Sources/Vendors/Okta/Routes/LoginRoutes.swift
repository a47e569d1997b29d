import Emulation
import JSON
import Tokens
import Wire

/// The sign-in page (all ours).
extension Okta {
    /// Shows the page of a sign-in; while a device is asked, it continues as soon as the device has answered.
    static func showSignIn(_ call: inout OktaCall, _ state: inout State) throws(Refused) -> Reply {
        guard let id = call.credentials.parameters["tx"] else {
            // Where a logout without an address of the client ends.
            return .respond(call.page(.done("Sign In", "Begin in your app; it leads here.")))
        }
        let signIn = try state.openSignIn(id, at: call.moment)
        let policy = try OktaSignInPolicy(signIn, call.vendor.accounts, state)
        // Only the browser that was shown the page may finish what it began.
        guard OktaPageSeal.isKnown(to: call.request), let approved = signIn.approved(in: state, at: call.moment) else {
            return .respond(page(of: signIn, call, state))
        }
        return try policy.proceed(approved, &call, &state)
    }

    static func submitSignIn(_ call: inout OktaCall, _ state: inout State) throws(Refused) -> Reply {
        let parameters = try call.form()
        var signIn = try state.openSignIn(parameters["tx"], at: call.moment)
        try OktaPageSeal.check(parameters, of: call)
        let policy = try OktaSignInPolicy(signIn, call.vendor.accounts, state)
        let refusal: Refused? =
            switch policy.step(of: signIn, in: state) {
            case .credentials: try takeCredentials(&signIn, call, state)
            case .secondFactor: try policy.takeFactor(&signIn, call, &state)
            case .consent: policy.takeConsent(&signIn, parameters, state)
            case .nothing: nil
            }
        guard let refusal else { return try policy.proceed(signIn, &call, &state) }
        state.finish(signIn)
        guard let code = signIn.deviceCode else { throw refusal }
        if let device = state.deviceGrants[code] { state.answer(device, device.authorization, approves: false) }
        return .respond(call.page(.deviceNotActivated))
    }

    static func style(_ call: inout OktaCall, _ state: inout State) throws(Refused) -> Reply {
        .respond(call.vendor.pages.style)
    }

    static func page(of signIn: OktaSignIn, _ call: OktaCall, _ state: State) -> Response {
        let view = OktaSignInView(
            vendor: call.vendor, base: call.arrival.base,
            seal: OktaPageSeal(call.request, call.identifiers, at: call.arrival.base), moment: call.moment)
        return view.response(to: call.request, of: signIn, in: state)
    }

    // MARK: - Who signs in

    /// - Returns: the answer to the client when the user refuses.
    private static func takeCredentials(
        _ signIn: inout OktaSignIn, _ call: OktaCall, _ state: State
    ) throws(Refused) -> Refused? {
        let parameters = call.credentials.parameters
        if parameters["action"] == "refuse" {
            let failures: [String: OktaFailure] = [
                "access_denied": .accessDenied, "login_required": .loginRequired, "server_error": .serverError,
                "temporarily_unavailable": .temporarilyUnavailable,
            ]
            let name = parameters["error"] ?? "access_denied"
            let failure = try Refused.require(
                failures[name], .bodyInvalid, with: ["member": "error"],
                "error is \(name); expected \(OktaPage.errors.joined(separator: " or "))")
            return Refused(failure, because: "the user chose \(name) on the sign-in page; expected a sign-in")
        }
        signIn.idClaims = try claims("id_claims", parameters)
        signIn.accessClaims = try claims("access_claims", parameters)
        signIn.authentication = try authentication(parameters, at: call.moment, state)
        return nil
    }

    private static func claims(_ name: String, _ parameters: OktaParameters) throws(Refused) -> JSON? {
        guard let text = parameters[name] else { return nil }
        func refusal(_ found: String) -> Refused {
            Refused(.loginClaimsInvalid, because: "\(name) \(found); expected a JSON object of at most 8 KiB")
        }
        guard text.utf8.count <= OktaSignIn.longestClaims else { throw refusal("has \(text.utf8.count) bytes") }
        let value: JSON
        do throws(JSONError) { value = try JSON.parse(Array(text.utf8)) } catch {
            throw refusal("is not JSON: \(error)")
        }
        guard let object = value.object else { throw refusal("is a JSON \(value.typeName)") }
        if object.repeatsName { throw refusal("has a member twice") }
        return value
    }

    /// A user by button, a guest by subject, or a user by password.
    private static func authentication(
        _ parameters: OktaParameters, at moment: Moment, _ state: State
    ) throws(Refused) -> OktaAuthentication {
        if parameters["user"] == nil, let guest = parameters["subject"] {
            try Refused.require(
                guest.utf8.count <= 255, .loginWrong, "subject has \(guest.utf8.count) bytes; expected at most 255")
            return OktaAuthentication(guest: guest, moment: moment, methods: ["pwd"])
        }
        let name = parameters["user"] ?? parameters["username"] ?? ""
        let user = try Refused.require(
            state.user(name), .loginWrong, "found no user with the login \(name); expected one, or a subject")
        if parameters["user"] == nil { try user.requirePassword(parameters["password"] ?? "", orFail: .loginWrong) }
        try user.requireActive(orFail: .loginWrong)
        return OktaAuthentication(userID: user.id, moment: moment, methods: ["pwd"])
    }
}

extension OktaSignInPolicy {
    /// - Returns: the answer to the client when the user refuses.
    fileprivate func takeConsent(_ signIn: inout OktaSignIn, _ parameters: OktaParameters, _ state: State) -> Refused? {
        guard let authentication = signIn.authentication else { return nil }
        switch parameters["action"] {
        case "allow"?:
            let ticked = parameters.values("scope")
            let asked = scopesToConsent(authentication, in: state)
            // A browser leaves a fixed box out of the form.
            let allowed = asked.filter { $0.consent == .required || ticked.contains(exactly: $0.name) }.map(\.name)
            signIn.request.scopes.removeAll { name in asked.contains { $0.name == name } && !allowed.contains(name) }
            if signIn.request.scopes.isEmpty {
                return Refused(.accessDenied, because: "the user allowed no scope; expected one or more")
            }
            signIn.allowedScopes = allowed
            return nil
        case "deny"?: return Refused(.accessDenied, because: "the user did not consent; expected Allow Access")
        // The page is shown again.
        case .some, nil: return nil
        }
    }

    /// - Returns: the answer to the client when the user gives up.
    fileprivate func takeFactor(
        _ signIn: inout OktaSignIn, _ call: OktaCall, _ state: inout State
    ) throws(Refused) -> Refused? {
        guard let authentication = signIn.authentication else { return nil }
        let parameters = call.credentials.parameters
        let action = parameters["action"] ?? "verify"
        if action == "cancel" {
            return Refused(
                .accessDenied, because: "the user gave up at the second factor; expected one that is verified")
        }
        let factors = factors(of: authentication, in: state)
        let id = parameters["factor"] ?? signIn.factorID
        let factor = try Refused.require(
            factors.first(where: { id?.hasSameBytes(as: $0.id) ?? true }), .factorCodeWrong,
            "found the factor \(id ?? ""); expected \(factors.map(\.id).joined(separator: " or "))")
        if signIn.factorID != factor.id { (signIn.factorID, signIn.challenge) = (factor.id, nil) }
        let isUnsentPush = factor.kind == .push && signIn.challengeResult(in: state, at: call.moment) == nil
        if action == "send" || isUnsentPush {
            switch factor.kind {
            case .push: signIn.challenge = state.challenge(factor, at: call.moment).number
            case .sms, .call: state.sendCode(to: factor, call.identifiers)
            case .totp, .question: break
            }
        } else if factor.kind == .push {
            signIn = signIn.approved(in: state, at: call.moment) ?? signIn
        } else {
            try call.use(parameters["passcode"] ?? "", of: factor, &state)
            signIn.authentication = authentication.adding(factor.kind.method)
        }
        return nil
    }
}

extension OktaSignIn {
    /// The result of the challenge to the user's device; `nil` without one.
    func challengeResult(in state: OktaState, at moment: Moment) -> OktaTransaction.Result? {
        challenge.flatMap { state.transactions[$0] }?.result(at: moment)
    }

    /// The sign-in after the user has approved it on the device; `nil` until then.
    func approved(in state: OktaState, at moment: Moment) -> OktaSignIn? {
        guard let authentication, challengeResult(in: state, at: moment) == .success else { return nil }
        var signIn = self
        (signIn.authentication, signIn.challenge) = (authentication.adding(OktaFactor.Kind.push.method), nil)
        return signIn
    }
}

struct OktaSignInView: Sendable {
    /// ours: who has more users than that types the login.
    private static let mostUsers = 100

    let vendor: Okta
    let base: String
    let seal: OktaPageSeal
    /// `nil` when no device is waited for.
    var moment: Moment?
    var alert: OktaPageAlert?
    /// What was sent, when the page is shown again.
    var sent: OktaParameters?

    func response(to request: Request, of signIn: OktaSignIn, in state: OktaState) -> Response {
        guard let page = page(of: signIn, in: state) else { return .empty(.badRequest) }
        return vendor.pages.response(page, to: request).with(.setCookie, seal.setCookie)
    }

    /// The page; `nil` when client or server are gone.
    private func page(of signIn: OktaSignIn, in state: OktaState) -> OktaPage? {
        guard let policy = try? OktaSignInPolicy(signIn, vendor.accounts, state) else { return nil }
        let (request, prompts) = (signIn.request, signIn.request.prompts.map(\.rawValue))
        let asked = OktaPageRequest(
            clientID: request.clientID, clientName: policy.client.name, issuer: policy.server.issuer(at: base),
            redirectURI: request.redirectURI.isEmpty ? nil : request.redirectURI, scopes: request.scopes,
            prompt: prompts.isEmpty ? nil : prompts.joined(separator: " "), acrValues: request.acrValues,
            isPushed: request.pushedID != nil)
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

    private func credentialsPage(_ signIn: OktaSignIn, _ asked: OktaPageRequest, _ state: OktaState) -> OktaPage {
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

    /// A device that said no, or nothing. Source of the first text: codes.
    private func notice(about result: OktaTransaction.Result?) -> OktaPageAlert? {
        switch result {
        case .rejected?: .init(failure: "direct-oob-rejected", text: "User rejected out-of-band authentication prompt.")
        case .timeout?: .init(failure: "direct-expired", text: "Nobody answered on the device. Send again.")
        case .waiting?, .success?, nil: nil
        }
    }
}

extension OktaFactor {
    fileprivate var text: String {
        switch kind {
        case .push: "Push to the device"
        case .totp: "Code of the authenticator app"
        case .question: OktaQuestion.known.first { $0.id == question }?.text ?? "Security question"
        case .sms: "Text message to \(phone ?? "the phone")"
        case .call: "Call to \(phone ?? "the phone")"
        }
    }
}

extension OktaPageAlert {
    /// The alert of the page that is shown again after a failure; `nil` for failures that end otherwise.
    init?(_ failure: OktaFailure) {
        guard let (text, fields) = Self.known[failure] else { return nil }
        self.init(failure: failure.rawValue, text: text, fields: fields)
    }

    /// Source of the texts: widget for the first, codes for those about passcodes; that about claims is ours.
    private static let known: [OktaFailure: (String, [String])] = [
        .loginWrong: ("Unable to sign in", ["username", "password"]),
        .loginClaimsInvalid: ("The claims are not a JSON object", ["id_claims", "access_claims"]),
        .factorCodeWrong: ("Invalid Passcode/Answer", ["passcode"]),
        .factorCodeUsed: ("Each code can only be used once. Please wait for a new code and try again.", ["passcode"]),
    ]
}

/// The page on which a user lets a device sign in. The path is documented (guide:device-authorization-grant), the form
/// is ours.
extension Okta {
    static func showActivation(_ call: inout OktaCall, _ state: inout State) throws(Refused) -> Reply {
        _ = call.credentials.parameters["user_code"]
        return .respond(call.vendor.activationPage(call.request, call.identifiers, at: call.arrival.base))
    }

    static func submitActivation(_ call: inout OktaCall, _ state: inout State) throws(Refused) -> Reply {
        let parameters = call.credentials.parameters
        try OktaPageSeal.check(parameters, of: call)
        let device = try Refused.require(
            state.openDevice(parameters["user_code"] ?? "", at: call.moment), .userCodeInvalid,
            "found a user code that is unknown, answered or expired; expected that of a waiting device")
        let reason = "the fixtures no longer have the device's client or server; expected both"
        let client = try Refused.require(state.clients[device.authorization.clientID], .userCodeInvalid, reason)
        let server = try Refused.require(
            call.vendor.accounts.server(device.authorization.serverID), .userCodeInvalid, reason)
        var signIn = OktaSignIn()
        (signIn.deviceCode, signIn.began) = (device.id, call.moment)
        (signIn.request.clientID, signIn.request.serverID) = (client.id, server.id)
        signIn.request.scopes = device.authorization.scopes
        let policy = OktaSignInPolicy(signIn.request, client, server, call.switches)
        return try policy.proceed(signIn, isNew: true, &call, &state)
    }

    /// The page, sealed for the browser that asked for it.
    func activationPage(
        _ request: Request, _ identifiers: IdentifierSource, at base: String, alert: OktaPageAlert? = nil
    ) -> Response {
        let seal = OktaPageSeal(request, identifiers, at: base)
        let userCode = OktaParameters(of: request)["user_code"] ?? ""
        let page = OktaPage.activate(
            seal.ticket(for: identifiers.opaque(ofLength: 20)), userCode: userCode, alert: alert)
        return pages.response(page, to: request).with(.setCookie, seal.setCookie)
    }
}

/// Distinguishes forms of this server's own pages from forged ones: a page's form carries a value made of a cookie,
/// which no other site can read.
struct OktaPageSeal {
    private static let cookieName = "understudy_tx"

    private let cookie: String
    private let attributes: String

    /// The seal of the browser that sent a request; a browser without a cookie gets one.
    init(_ request: Request, _ identifiers: IdentifierSource, at base: String) {
        cookie = request.cookie(Self.cookieName) ?? identifiers.opaque(ofLength: 43)
        attributes = Self.attributes(of: request, at: base)
    }

    /// Whether the browser has been shown a page.
    static func isKnown(to request: Request) -> Bool { request.cookie(cookieName) != nil }

    var setCookie: String { "\(Self.cookieName)=\(cookie)\(attributes)" }

    /// What every cookie says behind its value. A sandbox that the path selects has cookies of its own (ours).
    static func attributes(of request: Request, at base: String) -> String {
        let path = OktaAddress(base)?.path.text ?? "/"
        return "; Path=\(path.hasSuffix("/") ? path : path + "/"); HttpOnly; SameSite=Lax"
            + (request.connection.isSecure ? "; Secure" : "")
    }

    func ticket(for tx: String) -> OktaPage.Ticket { OktaPage.Ticket(tx: tx, csrf: Self.csrf(for: tx, cookie)) }

    private static func csrf(for tx: String, _ cookie: String) -> String {
        Base64URL.encode(Digest.sha256(Array("understudy csrf \(tx) \(cookie)".utf8)))
    }

    /// Checks that a form was filled in on a page of this server, by the browser that the page was for.
    static func check(_ parameters: OktaParameters, of call: OktaCall) throws(Okta.Refused) {
        let cookie = try Okta.Refused.require(
            call.request.cookie(cookieName), .loginForged,
            "found no cookie \(cookieName); expected the one that comes with the page")
        let fits = parameters["tx"].map { parameters["csrf"]?.hasSameBytes(as: csrf(for: $0, cookie)) == true } ?? false
        try Okta.Refused.require(
            fits, .loginForged,
            "found a csrf that does not fit tx and the cookie \(cookieName); expected that of the page")
        if let foreign = foreignOrigin(of: call) {
            throw Okta.Refused(.loginForged, because: "found a form from \(foreign); expected \(call.arrival.base)")
        }
    }

    /// Where a form was sent from, if not from here.
    private static func foreignOrigin(of call: OktaCall) -> String? {
        guard let origin = call.request.fields[.origin] else { return nil }
        if origin == "null" {
            // Browsers hide the origin of pages without a referrer, and say by another field that it is this server's.
            let site = call.request.fields[.fetchSite]
            return site == nil || site == "same-origin" ? nil : "a page that hides its origin (\(site ?? ""))"
        }
        let own = call.arrival.sandbox.addresses.compactMap { OktaRedirectTarget($0)?.origin }
        let asked = call.request.authority.map { ["http://\($0)", "https://\($0)"] } ?? []
        return (own + asked).contains(exactly: origin.lowercased()) ? nil : origin
    }
}
