package import Emulation
import JSON
import Tokens

extension TokenChecker {
    /// The validator as a checker, for commands and for verdicts inside the server.
    ///
    /// Without a request it judges by the keys of its settings alone: a sandbox gives its own as ``CheckerKey/set(_:)``.
    package static let okta = TokenChecker(
        name: "okta", about: "what a client of Okta checks before it trusts a token",
        takes: Set(CheckerOption.allCases).subtracting([.nearExpiry]), rules: OktaRules.listing,
        complaint: { settings in
            settings.repeatedClaim.map { "the claim \($0) is given twice." }
                ?? OktaTokenValidator.problem(
                    with: OktaValidatorOptions(settings), keys: OktaKeys(settings, nil), profile: settings.profile)
        },
        check: { token, moment, settings in
            OktaJudge(settings, nil).judgement(token.bytes, at: moment).verdict
        },
        fetchingCheck: { token, moment, settings, fetch in
            await OktaJudge(settings, fetch).judgementFetching(token.bytes, at: moment).verdict
        })
}

extension OktaJudge {
    fileprivate init(_ settings: CheckerSettings, _ fetch: OktaKeys.Fetch?) {
        self.init(
            options: OktaValidatorOptions(settings), keys: OktaKeys(settings, fetch), profile: settings.profile)
    }
}

extension OktaJudgement {
    fileprivate var verdict: CheckerVerdict {
        do throws(OktaTokenError) {
            let token = try result()
            return CheckerVerdict(
                isUsable: true, summary: "valid, by the key of: \(token.keyOrigin.rawValue)", result: token.members,
                findings: findings, showsFindings: false)
        } catch {
            return CheckerVerdict(
                isUsable: false, summary: "not valid, \(error)", result: error.members, findings: error.findings)
        }
    }
}

extension CheckerSettings {
    fileprivate var repeatedClaim: String? {
        JSONObject(claims.map { ($0.name, .null) }).duplicateNames.first
    }
}

extension OktaValidatorOptions {
    fileprivate init(_ settings: CheckerSettings) {
        self.init(
            issuer: settings.issuer, audience: settings.audience, nonce: settings.nonce,
            checksExpiry: settings.checksExpiry, checksIssuedAt: settings.checksIssuedAt, leeway: settings.leeway,
            clientID: settings.clientID, scopes: settings.scopes, type: settings.type,
            claims: Dictionary(settings.claims) { $1 })
    }
}

extension OktaKeys {
    fileprivate init(_ settings: CheckerSettings, _ fetch: Fetch?) {
        let source: Source =
            switch settings.key {
            case .jwk(let jwk): .jwk(jwk)
            case .rsa(let key): .rsa(key)
            case .set(let keys): .set(keys)
            case nil: .discovery
            }
        self.init(source, OktaKeyCache(), fetch)
    }
}
