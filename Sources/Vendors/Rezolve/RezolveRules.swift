import Emulation
import JSON
import Tokens

/// Rezolve's rules, in the order of its checks.
///
/// Source: algorithm, members and signature are documented (JWT page, "Create the Registration JWT" and "Logging in a
/// User"), as is each failure; the order is ours, as is treating a malformed token like one with a wrong signature.
extension Rezolve {
    static let recordChecks = ["api-key", "customer-known", "rua-user"]
    static let historyChecks = ["session-open"]
    static let keyChecks = ["signature"]

    /// Core: api key and token, as far as they can be judged without the state.
    static let tokenRules = RuleList(
        [
            apiKeyOfPartner,
            CallRule(
                "auth-key", "a partner with an auth key", "JWT page, 403: partner doesn't have an auth key",
                orFail: .maskedNoAuthKey
            ) { facts, finding in Rezolve.authKey(of: facts.partner, &finding) },
            bearer(orFail: .maskedTokenMissing),
        ] + CallRule.bearerOnce(orFail: .maskedSignature, toleratedBy: "bearer-scheme = lenient")
            + verification(orFail: .maskedSignature) + [
                CallRule(
                    "token-kind", "rezolve_entity_id \(RezolveToken.noEntity)",
                    "JWT page, JWT Payload: use :NONE: when registering", orFail: .maskedMissingFields
                ) { facts, finding in
                    guard facts.isRegistration, let token = facts.token else { return nil }
                    finding?.found = .text("rezolve_entity_id \(token.entityID)")
                    if token.kind == .registration { return .passed }
                    finding?.note = "A login JWT cannot register anybody."
                    return .failed
                }
            ] + members(orFail: .maskedMissingFields) + [lifetime, expiry] + beginning(orFail: .maskedNotYetValid))

    /// RUA: an api key, optional while there is exactly one partner.
    static let signInRules = RuleList([apiKeyOrOnlyPartner(.ruaAPIKeyMissing, .ruaAPIKeyWrong)])

    /// The same for guests of the core.
    static let guestRules = RuleList([apiKeyOrOnlyPartner(.maskedAPIKey, .maskedAPIKey)])

    /// RUA: the api key and token of a request with a session.
    static let sessionRules = RuleList(
        [
            CallRule(
                "api-key", id: "api-key-if-sent", expects: .text("a known api key, or none"),
                source: "QA tests; Android sample pings without one", .observed, orFail: .ruaAPIKeyWrong
            ) { facts, finding in facts.apiKey == nil ? nil : facts.judgeAPIKey(&finding) },
            bearer(orFail: .ruaTokenMissing),
        ] + CallRule.bearerOnce(orFail: .ruaTokenInvalid, toleratedBy: "bearer-scheme = lenient"))

    /// RUA finds the partner, and with it the key, through the token's customer, before it checks the token further.
    static let sessionTokenRules = RuleList(
        [
            CallRule(
                "customer-known", id: "session-customer-known",
                expects: .text("rezolve_entity_id of a registered customer"), source: "QA tests", .observed,
                orFail: .ruaTokenInvalid
            ) { facts, finding in
                guard let token = facts.token else { return nil }
                finding?.found = .text(token.entityID)
                finding?.note = facts.hint
                return token.compact.claims == nil ? .notJudged : facts.owner == nil ? .failed : .passed
            },
            keyOwner,
            CallRule(
                "auth-key", id: "session-auth-key", expects: .text("a customer of a partner with an auth key"),
                source: "without a key nothing can be verified", .ours, orFail: .ruaNoAuthKey
            ) { facts, finding in Rezolve.authKey(of: facts.signer, &finding) },
        ] + verification(orFail: .ruaTokenInvalid) + members(orFail: .ruaTokenInvalid) + [sessionExpiry]
            + beginning(orFail: .ruaTokenInvalid) + [sessionUser, sessionOpen])

    // MARK: Credentials

    private static let apiKeyOfPartner = CallRule(
        "api-key", "x-rezolve-partner-apikey of a known partner", "JWT page, 403: invalid partner api key",
        orFail: .maskedAPIKey
    ) { facts, finding in facts.bearer == nil ? nil : facts.judgeAPIKey(&finding) }

    private static func apiKeyOrOnlyPartner(_ missing: RezolveFailure, _ wrong: RezolveFailure) -> CallRule {
        CallRule(
            "api-key", id: "api-key-or-only-partner",
            expects: .text("x-rezolve-partner-apikey of a known partner; none while there is only one partner"),
            source: "QA tests; wiki for guests", .observed, orFail: missing == wrong ? [wrong] : [missing, wrong],
            by: { Refused($0.apiKey == nil ? missing : wrong) }
        ) { facts, finding in
            let outcome = facts.judgeAPIKey(&finding)
            if outcome == .failed, let partners = facts.accounts?.partners {
                finding?.expected = .text(
                    partners.count != 1
                        ? "x-rezolve-partner-apikey of one of the \(partners.count) partners"
                        : "x-rezolve-partner-apikey of partner \(partners[0].id), or none as there is no other")
            }
            return outcome
        }
    }

    private static func authKey(of partner: RezolvePartner?, _ finding: inout Finding?) -> Finding.Outcome? {
        guard let partner else { return nil }
        finding?.found = .text("partner \(partner.id)\(partner.authKey == nil ? ", which has none" : "")")
        return partner.authKey == nil ? .failed : .passed
    }

    /// The token in `Authorization`. RUA's clients echo the value they were given, so both profiles accept any scheme.
    private static func bearer(orFail failure: RezolveFailure) -> CallRule {
        .bearerPresent(
            "token-present", source: "JWT page, 403: token not found; switch bearer-scheme", .documented,
            orFail: failure
        ) { facts in
            failure == .maskedTokenMissing && facts.switches.bearerScheme == .required
                ? "Switch bearer-scheme = lenient accepts a token without it." : nil
        }
    }

    // MARK: The token can be verified

    private static func verification(orFail failure: RezolveFailure) -> [CallRule] {
        CallRule.structure(orFail: failure, calling: \.tokenHint) + [
            CallRule(.algorithm(is: .hs512, source: "JWT page, JWT Header"), orFail: failure),
            CallRule(.type(is: "JWT", source: "JWT page, JWT Header; case and absence ours"), orFail: failure),
            CallRule(.critical(), orFail: failure), CallRule(.keyReferences),
        ] + CallRule.signature("HS512 by the auth key of the partner", "JWT page, Signature", orFail: failure) + [
            CallRule("secret-length", expects: .text("64 bytes or more"), source: "RFC 7518 section 3.2") {
                facts, finding in
                facts.token == nil ? nil : finding.take(facts.secret?.verification.strengthFinding(for: .hs512))
            }
        ]
    }

    // MARK: The token has every member that its kind needs

    private static func members(orFail failure: RezolveFailure) -> [CallRule] {
        [
            CallRule(
                .claim("rezolve_entity_id", is: .nonEmptyString, source: "JWT page, JWT Payload"), orFail: failure),
            CallRule(
                "claim-partner_entity_id-present", "a string of 1 to 255 characters, or an integer",
                "JWT page, JWT Payload; length ours", orFail: failure
            ) { facts, finding in
                guard let token = facts.token else { return nil }
                guard let claims = token.compact.claims else {
                    finding?.found = .absent
                    return .notJudged
                }
                let length = token.userLength
                finding?.found =
                    length > 255
                    ? .text("\(length) characters") : claims["partner_entity_id"].map { .json($0) } ?? .absent
                return (1...255).contains(length) ? .passed : .failed
            },
            CallRule(.claim("exp", is: .number, source: "JWT page, JWT Payload"), orFail: failure)
                .when { $0.switches.expiryNumber == .any },
            CallRule(
                "exp-fraction", expects: .text("an integer"), source: "JWT page: unix timestamp integer"
            ) { facts, finding in
                guard let token = facts.compact, facts.switches.expiryNumber == .any,
                    token.date("exp").form == .fraction
                else { return nil }
                finding?.found = token.claims?["exp"].map { .json($0) }
                finding?.note = "RFC 7519 allows a fraction; switch exp-number decides."
                return .noted
            },
            CallRule(
                .claim("exp", is: .integer, source: "JWT page: unix timestamp integer; switch exp-number"),
                id: "claim-exp-integer", orFail: failure
            ).when { $0.switches.expiryNumber == .integer },
            CallRule(
                .headerMember(
                    "auth", equals: "v2", source: "JWT page, JWT Header of the login JWT; switch auth-header"),
                orFail: failure
            ).when { $0.token?.kind == .login && $0.switches.authHeader == .required },
            CallRule(
                .claim("device_id", is: .nonEmptyString, source: "JWT page, JWT Payload of the login JWT"),
                orFail: failure
            ).when { $0.token?.kind == .login && $0.switches.deviceCheck == .enforce },
        ]
    }

    // MARK: The lifetime is neither too long nor over, and has begun

    private static let lifetime = CallRule(
        "lifetime", "1800 s, which is advice, or what the switch says",
        "JWT page: 30 minutes or less; switch max-lifetime-seconds", orFail: .tokenLifetimeTooLong
    ) { facts, finding in
        guard let token = facts.compact else { return nil }
        let maximum = facts.switches.maximumLifetimeSeconds
        let outcome = token.lifetime(atMost: Double(maximum ?? 1800), from: .moment(facts.moment.unixSeconds), &finding)
        guard maximum != nil else { return outcome == .failed ? .noted : nil }
        finding?.note = token.date("exp").millisecondsRemark(on: "exp")
        return outcome
    }

    private static let expiry = CallRule(
        "expiry", "exp later than now minus the leeway", "JWT page, HTTP Error Responses, 401", orFail: .tokenExpired
    ) { facts, finding in facts.expiry(&finding) }

    private static let sessionExpiry = CallRule(
        "expiry", id: "session-expiry", expects: .text("exp later than now"), source: "QA tests", .observed,
        orFail: .ruaTokenExpired
    ) { facts, finding in facts.isRenewal ? nil : facts.compact?.expiry(at: facts.moment.unixSeconds, &finding) }

    /// `nbf` has been reached, if present and switch `nbf` wants it. The leeway applies here too (ours). Times that
    /// look like milliseconds are noted even when the call passes.
    private static func beginning(orFail failure: RezolveFailure) -> [CallRule] {
        [
            CallRule(
                "not-before", "nbf no later than now plus the leeway",
                "ours, after RFC 7519 section 4.1.5; switch nbf", .ours, orFail: failure
            ) { facts, finding in
                guard facts.token?.hasBeginning == true else { return nil }
                let outcome = facts.beginning(&finding)
                return outcome == .failed && facts.switches.notBefore == .ignore ? .noted : outcome
            },
            CallRule(.milliseconds(in: "exp")),
            CallRule(.milliseconds(in: "nbf")).when { $0.token?.hasBeginning == true },
        ]
    }

    // MARK: RUA's sessions

    /// A key that was sent must match before the token is checked further.
    private static let keyOwner = CallRule(
        "api-key-partner", "the api key of the partner of the token's customer, or none", "QA tests", .observed,
        orFail: .ruaAPIKeyWrong
    ) { facts, finding in
        guard let sent = facts.partner?.id, let partner = facts.signer?.id else { return nil }
        if sent == partner {
            finding?.expected = .text(partner)
            finding?.found = .text(sent)
            return .passed
        }
        finding?.expected = .text("the api key of partner \(partner), or none")
        finding?.found = .text("the api key of partner \(sent)")
        finding?.note = "The token's customer \(facts.token?.entityID ?? "") belongs to partner \(partner)."
        return .failed
    }

    /// A customer registered at core has no user here, yet the JWT page's flow renews by a ping.
    private static let sessionUser = CallRule(
        "rua-user", "a customer with a user at RUA", "ours", .ours, orFail: .ruaTokenInvalid
    ) { facts, finding in
        guard let owner = facts.owner else { return nil }
        finding?.found = .text(facts.session == nil ? owner.entityID + ", who has none" : owner.entityID)
        if facts.isRenewal {
            finding?.expected = .text("a customer")
            finding?.source = "JWT page: register, later CREDENTIALS + \"ping\""
        }
        return facts.session == nil && !facts.isRenewal ? .failed : .passed
    }

    /// A renewal after a logout answers with an expired token: that is how the JWT page logs a customer out.
    private static let sessionOpen = CallRule(
        "session-open", "a session that was not logged out", "JWT page; switch ping-after-logout",
        orFail: .ruaTokenInvalid
    ) { facts, finding in
        facts.isRenewal && facts.switches.pingAfterLogout == .expiredToken ? nil : facts.judgeSession(&finding)
    }
}

// MARK: - Checks shared by several rules

extension RezolveFacts {
    /// The header names a partner, or is absent where it is optional.
    fileprivate func judgeAPIKey(_ finding: inout Finding?) -> Finding.Outcome {
        finding?.found = shownAPIKey.map { .text($0) } ?? .absent
        if partner != nil { return .passed }
        finding?.note = apiKeyHint
        return .failed
    }

    func judgeSession(_ finding: inout Finding?) -> Finding.Outcome? {
        guard let session else { return nil }
        finding?.found = .text("user \(session.user) on device \(token?.deviceID ?? "")")
        return session.isLoggedOut ? .failed : .passed
    }

    // MARK: Explanations

    /// What was sent in place of a token.
    var tokenHint: String? {
        guard let text = compact?.text, let accounts else { return nil }
        if let mistake = text.credentialMistake(among: accounts.apiKeys) {
            return mistake + " It belongs in x-rezolve-partner-apikey, and a JWT here."
        }
        return text.credentialMistake(among: accounts.authKeys).map {
            $0 + " It signs tokens and is never sent."
        }
    }

    // MARK: - Describes what was sent in place of an api key, without repeating a secret

    private var shownAPIKey: String? {
        guard let apiKey, partner == nil else { return apiKey }
        if apiKey.credentialMistake(among: accounts?.authKeys ?? []) != nil { return "an auth key" }
        return Self.isJWT(apiKey) ? "a JWT" : apiKey
    }

    /// Why a header names no partner; `nil` when it names one, is absent, or has no explanation.
    var apiKeyHint: String? {
        guard partner == nil, let apiKey, let accounts else { return nil }
        if apiKey.isEmpty { return "The header is there, but empty." }
        if Self.isJWT(apiKey) { return "A JWT belongs in Authorization, after Bearer." }
        if let mistake = apiKey.credentialMistake(among: accounts.authKeys) {
            return mistake + " It signs tokens and is never sent."
        }
        if let partner = accounts.partner(id: apiKey) {
            return "That is the id of partner \(partner.id); its api key is another text."
        }
        if let mistake = apiKey.credentialMistake(among: accounts.apiKeys) { return mistake }
        if apiKey.utf8.contains(UInt8(ascii: ",")) { return "Two headers of that name count as one with a comma." }
        let keys = accounts.partners.map { "that of partner \($0.id)" }.joined(separator: ", ")
        return "Known are \(keys)."
    }

    private static func isJWT(_ text: String) -> Bool {
        text.hasPrefix("eyJ") && text.utf8.count { $0 == UInt8(ascii: ".") } == 2
    }
}

extension RezolveAccounts {
    fileprivate var apiKeys: [(text: String, name: String)] {
        partners.map { ($0.apiKey, "the api key of partner \($0.id)") }
    }

    fileprivate var authKeys: [(text: String, name: String)] {
        partners.compactMap { partner in
            partner.authKey.map { ($0.text, "the auth key of partner \(partner.id)") }
        }
    }
}
