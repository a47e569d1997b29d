import Emulation
import HTTPTypes
import JSON
import Tokens

extension HTTPField.Name {
    /// The partner's api key. Source: seed for registration, qa for the rest.
    static let partnerAPIKey = Self("x-rezolve-partner-apikey") ?? .authorization
    /// The device id. Source: docs, change log.
    static let deviceID = Self("x-rezolve-device-id") ?? .authorization
}

/// What a request presented.
struct RezolveCredentials: Sendable {
    /// The partner that the api key names.
    var partner: RezolvePartner?
    /// The api key as sent.
    var apiKey: String?
    /// The token, when there is one.
    var token: RezolveToken?
    /// Whether this is the renewal of the seed's iOS sample, which comes without any credential.
    var isSampleRenewal = false
}

// MARK: - Rows 2 to 8: what needs no state

extension Rezolve {
    func claims(of credentials: RezolveCredentials) -> JSONObject? { credentials.token?.compact.claims }

    func authenticate(_ arrival: RezolveArrival, _ findings: inout Findings<RezolveFailure>) -> RezolveCredentials {
        var credentials = presentedPartner(arrival)
        switch arrival.route.access {
        case .registration, .customer, .guestLogin:
            if isSampleRenewal(arrival) {
                credentials.isSampleRenewal = true
                return credentials
            }
            judgeAPIKey(credentials, &findings)
            credentials.token = presentedToken(
                arrival, arrival.switches.bearerScheme, &findings, orFail: .maskedTokenMissing, or: .maskedSignature)
            judgeToken(credentials, arrival, &findings)
        case .guestRegistration:
            credentials.partner = onlyPartner(credentials, .maskedAPIKey, .maskedAPIKey, &findings)
        case .signIn:
            credentials.partner = onlyPartner(credentials, .ruaAPIKeyMissing, .ruaAPIKeyWrong, &findings)
        case .session:
            judgeSentAPIKey(credentials, &findings)
            // RUA's clients echo the value that they were given, so the scheme is free there in both profiles.
            credentials.token = presentedToken(
                arrival, .lenient, &findings, orFail: .ruaTokenMissing, or: .ruaTokenInvalid)
        }
        return credentials
    }

    /// The api key and whom it names; a known key is not made into a text once more.
    private func presentedPartner(_ arrival: RezolveArrival) -> RezolveCredentials {
        guard let apiKey = arrival.request.fields.bytes(of: .partnerAPIKey) else { return RezolveCredentials() }
        let partner = accounts.partner(apiKey: apiKey)
        return RezolveCredentials(partner: partner, apiKey: partner?.apiKey ?? String(decoding: apiKey, as: UTF8.self))
    }

    /// Rows 2 and 3: the api key names a partner, and the partner has a key to verify tokens with.
    private func judgeAPIKey(_ credentials: RezolveCredentials, _ findings: inout Findings<RezolveFailure>) {
        findings.add(
            Finding(
                "api-key", credentials.partner == nil ? .failed : .passed,
                expected: .text("x-rezolve-partner-apikey of a known partner"), found: shown(credentials),
                note: strangeness(of: credentials), source: "JWT page, 403: invalid partner api key"),
            orFail: .maskedAPIKey)
        if let partner = credentials.partner { judgeAuthKey(of: partner, &findings) }
    }

    /// Row 3.
    func judgeAuthKey(of partner: RezolvePartner, _ findings: inout Findings<RezolveFailure>) {
        findings.add(
            Finding(
                "auth-key", partner.authKey == nil ? .failed : .passed,
                expected: .text("a partner with an auth key"),
                found: .text("partner \(partner.id)\(partner.authKey == nil ? ", which has none" : "")"),
                source: "JWT page, 403: partner doesn't have an auth key"),
            orFail: .maskedNoAuthKey)
    }

    /// Row 4: the token in `Authorization`.
    private func presentedToken(
        _ arrival: RezolveArrival, _ scheme: RezolveSwitches.BearerScheme, _ findings: inout Findings<RezolveFailure>,
        orFail missing: RezolveFailure, or broken: RezolveFailure
    ) -> RezolveToken? {
        let token = BearerToken(arrival.request.fields, scheme: scheme == .required ? .once : .upToTwice)
        findings.add(
            token.presence(
                "token-present",
                note: scheme == .required ? "Switch bearer-scheme = lenient takes a token without it." : nil,
                source: "JWT page, 403: token not found; switch bearer-scheme"),
            orFail: missing)
        if let oddity = token.oddity(toleratedBy: "bearer-scheme = lenient") { findings.add(oddity, orFail: broken) }
        return token.bytes.map { recentTokens.reading(of: $0, RezolveToken.init(bytes:)) }
    }

    /// Rows 5 to 8.
    private func judgeToken(
        _ credentials: RezolveCredentials, _ arrival: RezolveArrival, _ findings: inout Findings<RezolveFailure>
    ) {
        guard let token = credentials.token else { return }
        let rules = RezolveTokenRules(switches: arrival.switches, moment: arrival.moment)
        rules.judgeSignature(of: token, by: credentials.partner, of: accounts, &findings, orFail: .maskedSignature)
        if case .registration = arrival.route.access { judgeKind(of: token, &findings) }
        rules.judgeMembers(of: token, &findings, orFail: .maskedMissingFields)
        rules.judgeExpiry(of: token, &findings, orFail: .tokenExpired)
    }

    private func judgeKind(of token: RezolveToken, _ findings: inout Findings<RezolveFailure>) {
        findings.add(
            Finding(
                "token-kind", token.kind == .registration ? .passed : .failed,
                expected: .text("rezolve_entity_id \(RezolveToken.noEntity)"),
                found: .text("rezolve_entity_id \(token.entityID)"),
                note: token.kind == .registration ? nil : "A login JWT cannot register anybody.",
                source: "JWT page, JWT Payload: use :NONE: when registering"),
            orFail: .maskedMissingFields)
    }
}

// MARK: - Api keys

extension Rezolve {
    /// The partner that the api key names, or the only one when no key was sent.
    private func onlyPartner(
        _ credentials: RezolveCredentials, _ missing: RezolveFailure, _ wrong: RezolveFailure,
        _ findings: inout Findings<RezolveFailure>
    ) -> RezolvePartner? {
        let only = accounts.partners.count == 1 ? accounts.partners.first : nil
        let partner = credentials.apiKey == nil ? only : credentials.partner
        findings.add(
            Finding(
                "api-key", partner == nil ? .failed : .passed,
                expected: .text(
                    partner != nil
                        ? "x-rezolve-partner-apikey of a known partner; none while there is only one partner"
                        : only == nil
                            ? "x-rezolve-partner-apikey of one of the \(accounts.partners.count) partners"
                            : "x-rezolve-partner-apikey of partner \(only?.id ?? ""), or none as there is no other"),
                found: shown(credentials), note: strangeness(of: credentials), source: "QA tests; wiki for guests"),
            orFail: credentials.apiKey == nil ? missing : wrong)
        return partner
    }

    /// RUA's session routes do without an api key, since the token names the customer; a key that is sent must be known.
    private func judgeSentAPIKey(_ credentials: RezolveCredentials, _ findings: inout Findings<RezolveFailure>) {
        guard credentials.apiKey != nil else { return }
        findings.add(
            Finding(
                "api-key", credentials.partner == nil ? .failed : .passed, expected: .text("a known api key, or none"),
                found: shown(credentials), note: strangeness(of: credentials),
                source: "QA tests; Android sample pings without one"),
            orFail: .ruaAPIKeyWrong)
    }

    /// The seed's iOS sample renews its token with device data and no credential at all.
    private func isSampleRenewal(_ arrival: RezolveArrival) -> Bool {
        arrival.switches.iosSampleRenewal == .on && arrival.route.id == "register"
            && arrival.request.fields.count(of: .partnerAPIKey) == 0
            && arrival.request.fields.count(of: .authorization) == 0
    }
}
