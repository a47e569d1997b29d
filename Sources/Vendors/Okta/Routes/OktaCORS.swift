import Emulation
import HTTPTypes
import JSON
import Tokens
import Wire

/// Calls from pages in browsers, which send their origin (Fetch standard, CORS protocol).
extension Okta {
    /// Judges the origin of a page that makes the call; other clients send none.
    func judgeOrigin(_ call: inout OktaCall, _ state: inout OktaState) {
        guard let origin = call.request.fields[.origin], call.request.method != .options,
            let origins = OktaOrigins.at(call.request.path)?.origins
        else { return }
        call.answerFields[.vary] = "Origin"
        let isTrusted = call.isTrusted(origin, in: &state)
        let sendsToken = BearerToken(call.request.fields, orOf: "dpop").bytes != nil
        let isAllowed =
            origins == .ofClient
            ? judgeClientOrigin(origin, isTrusted, &call)
            : origins.admits(isTrusted: isTrusted, sendsToken: sendsToken)
        if isAllowed { call.answerFields.show(to: origin, at: call.request.path, isTrusted: isTrusted) }
    }

    /// Whether the origin is one for pages of the client. Without it, the token endpoint refuses the call.
    private func judgeClientOrigin(_ origin: String, _ isTrusted: Bool, _ call: inout OktaCall) -> Bool {
        let client =
            call.credentials.client ?? call.credentials.parameters["client_id"].flatMap { accounts.clients[$0] }
        let redirects = client?.redirectURIs ?? []
        let own = redirects.compactMap { OktaAddress($0)?.origin }
        let isAllowed = isTrusted || own.contains(ExactText(OktaTrustedOrigin.normalized(origin)))
        guard call.switches.cors == .enforce else { return isAllowed }
        call.findings.add(
            Finding(
                "origin", isAllowed ? .passed : .failed,
                expected: .anyOf(own.map(\.text) + ["a trusted origin"]), found: .text(origin),
                source: "codes; switch cors"),
            orFail: redirects.isEmpty ? .originNotTrusted : .originNotRedirect)
        judgePKCE(&call)
        return isAllowed
    }

    /// A page cannot keep a secret, so whoever redeems a code in one must know its verifier.
    private func judgePKCE(_ call: inout OktaCall) {
        let parameters = call.credentials.parameters
        let grant = OktaGrantType.authorizationCode.rawValue
        guard call.route.id == "token.create", parameters["grant_type"]?.hasSameBytes(as: grant) == true else { return }
        let hasVerifier = parameters["code_verifier"] != nil
        call.findings.add(
            Finding(
                "browser-pkce", hasVerifier ? .passed : .failed, expected: .text("code_verifier, as Origin is sent"),
                found: hasVerifier ? .text("code_verifier") : .nothing("no code_verifier"), source: "codes; switch cors"
            ),
            orFail: .browserNeedsPKCE)
    }

    /// Lets pages read an answer that was made before its origin was judged, such as an armed failure (ours).
    func allowOrigin(_ response: inout Response, to request: Request) {
        guard let origin = request.fields[.origin], response.fields[.vary] == nil,
            OktaOrigins.at(request.path) != nil
        else { return }
        response.fields[.vary] = "Origin"
        response.fields.show(to: origin, at: request.path, isTrusted: true)
    }
}

extension OktaCall {
    /// Whether an origin is trusted, as all are by the switch, or that of this server itself, whose own pages need no
    /// permission.
    func isTrusted(_ origin: String, in state: inout OktaState) -> Bool {
        if switches.cors == .any { return true }
        let origin = OktaTrustedOrigin.normalized(origin)
        if let known = state.trustedOrigins[origin] { return known.allowsCORS }
        return OktaAddress(arrival.base)?.origin.text.hasSameBytes(as: origin) == true
    }
}

extension HTTPFields {
    /// What browsers must see to make a call. Cookies come from trusted pages alone, and mean nothing outside the API
    /// (inferred).
    mutating func allow(_ origin: String, at path: Substring, isTrusted: Bool) {
        self[.accessControlAllowOrigin] = origin
        if isTrusted, path.hasPrefix("/api/") { self[.accessControlAllowCredentials] = "true" }
    }

    /// What they must see to show an answer. Source: inferred from authjs, which reads the first two.
    fileprivate mutating func show(to origin: String, at path: Substring, isTrusted: Bool) {
        allow(origin, at: path, isTrusted: isTrusted)
        self[.accessControlExposeHeaders] =
            "DPoP-Nonce, WWW-Authenticate, X-Okta-Request-Id, X-Rate-Limit-Limit, X-Rate-Limit-Remaining, "
            + "X-Rate-Limit-Reset"
    }
}
