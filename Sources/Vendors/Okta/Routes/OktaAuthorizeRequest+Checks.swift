import Emulation
import JSON

/// The checks of an authorization request, in Okta's order as far as it is known (ours).
extension OktaAuthorizeRequest {
    /// Checks the parameters of a request.
    ///
    /// - Parameter pushedID: the `request_uri` under which the client pushes it; `nil` when it comes through the browser.
    init(
        _ parameters: OktaParameters, of client: OktaClient, at server: OktaServer, _ switches: OktaSwitches,
        pushedAs pushedID: String? = nil
    ) throws(OktaRefusal) {
        self.init()
        (clientID, serverID, self.pushedID) = (client.id, server.id, pushedID)
        try OktaRefusal.require(
            parameters["request"] == nil, .requestObjectUnsupported,
            "found the parameter request; expected plain parameters")
        redirectURI = try Self.redirectURI(parameters, client)
        if pushedID == nil { try Self.checkPushing(client, switches) }
        if let name = parameters.duplicate {
            throw Refusal(.parameterDuplicate, because: "found \(name) more than once; expected each parameter once")
        }
        state = try Self.state(parameters)
        try Self.checkResponseType(parameters)
        responseMode = try Self.responseMode(parameters)
        scopes = try server.scopes(of: parameters.words("scope"))
        challenge = try Self.challenge(parameters, client, switches)
        prompts = try Self.prompts(parameters)
        maxAge = try Self.maxAge(parameters, prompts)
        acrValues = try Self.acrValues(parameters)
        (nonce, loginHint, sessionToken) = (parameters["nonce"], parameters["login_hint"], parameters["sessionToken"])
    }

    private static func redirectURI(_ parameters: OktaParameters, _ client: OktaClient) throws(OktaRefusal) -> String {
        let uri = try OktaRefusal.require(
            parameters["redirect_uri"], .redirectURIMissing, "redirect-uri: found nothing; \(registered(client))")
        try OktaRefusal.require(
            client.allows(redirectURI: uri), .redirectURIIllegal, "redirect-uri: found \(uri); \(registered(client))")
        return uri
    }

    private static func registered(_ client: OktaClient) -> String {
        client.redirectURIs.isEmpty
            ? "client \(client.id) has none" : "expected \(client.redirectURIs.joined(separator: " or "))"
    }

    private static func checkPushing(_ client: OktaClient, _ switches: OktaSwitches) throws(OktaRefusal) {
        let isRequired =
            switch switches.pushRequirement {
            case .perClient: client.requiresPushedRequests
            case .all: true
            case .never: false
            }
        guard isRequired else { return }
        throw Refusal(
            .parRequired,
            because: "found a plain request; expected a request_uri from the server's par endpoint, since "
                + (switches.pushRequirement == .all ? "switch par-required is all" : "client \(client.id) must push"))
    }

    /// Whether a state may be sent back. Source: codes.
    static func isValid(state: String) -> Bool { state.unicodeScalars.count <= 1000 }

    private static func state(_ parameters: OktaParameters) throws(OktaRefusal) -> String {
        let state = try OktaRefusal.require(
            parameters["state"], .stateInvalid, "there is no state; expected 1 to 1000 characters")
        try OktaRefusal.require(
            isValid(state: state), .stateInvalid,
            "state has \(state.unicodeScalars.count) characters; expected at most 1000")
        return state
    }

    private static func checkResponseType(_ parameters: OktaParameters) throws(OktaRefusal) {
        guard let type = parameters["response_type"], type == "code" else {
            throw Refusal(
                .responseTypeUnsupported,
                because: "response_type is \(parameters["response_type"] ?? "absent"); expected code")
        }
    }

    private static func responseMode(_ parameters: OktaParameters) throws(OktaRefusal) -> OktaResponseMode {
        guard let name = parameters["response_mode"] else { return .query }
        let mode = try OktaRefusal.require(
            OktaResponseMode(rawValue: name), .responseModeUnsupported,
            "found \(name); expected \(OktaServerMetadata.responseModes.joined(separator: " or "))")
        return mode
    }

    private static func challenge(
        _ parameters: OktaParameters, _ client: OktaClient, _ switches: OktaSwitches
    ) throws(OktaRefusal) -> String? {
        let isRequired =
            switch switches.pkce {
            case .perClient: client.requiresPKCE
            case .always: true
            case .never: false
            }
        guard let challenge = parameters["code_challenge"] else {
            guard isRequired else { return nil }
            throw Refusal(
                .pkceChallengeMissing,
                because: "there is no code_challenge; expected one, since "
                    + (switches.pkce == .always ? "switch pkce is always" : "client \(client.id) must use PKCE"))
        }
        guard let method = parameters["code_challenge_method"], method == "S256" else {
            throw Refusal(
                .pkceMethodUnsupported,
                because: "code_challenge_method is "
                    + (parameters["code_challenge_method"] ?? "absent, which means plain (RFC 7636 section 4.3)")
                    + "; expected S256")
        }
        return challenge
    }

    private static func prompts(_ parameters: OktaParameters) throws(OktaRefusal) -> [Prompt] {
        let words = parameters.words("prompt")
        let prompts = words.compactMap(Prompt.init)
        // `none` stands alone (OpenID Connect Core 1.0 section 3.1.2.1).
        try OktaRefusal.require(
            prompts.count == words.count && Set(prompts).count == words.count
                && (words.count <= 1 || !prompts.contains(.none)), .promptInvalid,
            "found \(words.joined(separator: " ")); expected none, login, consent, or the last two together")
        return prompts
    }

    private static func maxAge(_ parameters: OktaParameters, _ prompts: [Prompt]) throws(OktaRefusal) -> Int? {
        guard let text = parameters["max_age"] else { return nil }
        let isNumber =
            text.utf8.count <= 10 && text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        guard isNumber, let age = Int(text), ages.contains(age) else {
            throw Refusal(.maxAgeInvalid, because: "max_age is \(text); expected 0 to \(ages.upperBound)")
        }
        if age == 0, prompts.contains(.none) {
            throw Refusal(
                .maxAgeNone, because: "max_age is 0, for which the user must sign in; expected another prompt than none"
            )
        }
        return age
    }

    private static func acrValues(_ parameters: OktaParameters) throws(OktaRefusal) -> [String] {
        let values = parameters.words("acr_values")
        switch values.lazy.compactMap(OktaAssurance.init).first {
        case .phishingResistant?, .hardwareProtected?:
            // ours: no factor of the emulator resists phishing.
            throw Refusal(
                .acrUnmet,
                because:
                    "acr_values asks for \(values.joined(separator: " ")), which no factor here can meet; expected one of 1fa and 2fa"
            )
        case .oneFactor?, .password?, .twoFactors?, .twoFactorsIfPossible?, nil: return values
        }
    }
}
