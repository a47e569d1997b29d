package import JSON
package import Tokens

/// A vendor client's rules for judging a token before sending or trusting it, without a server or its state.
public struct TokenChecker: Sendable {
    package let name: String
    /// The client that judges this way, in one line.
    package let about: String
    /// The settings that it takes; a caller refuses all others, since they would be ignored.
    package let options: Set<CheckerOption>
    package let rules: [RuleListing]
    /// What is wrong with settings, in a sentence; `nil` if they can be used.
    package let complaint: @Sendable (CheckerSettings) -> String?
    let check: @Sendable (CompactToken, Moment, CheckerSettings) -> CheckerVerdict
    let fetchingCheck: @Sendable (CompactToken, Moment, CheckerSettings, @escaping KeyFetching) async -> CheckerVerdict

    /// Makes a request for published keys, within the limits of ``KeyRequest``.
    public typealias KeyFetching = @Sendable (KeyRequest) async -> KeyAnswer

    /// - Parameters:
    ///   - check: the verdict without any request.
    ///   - fetchingCheck: the verdict, for which keys may be fetched.
    package init(
        name: String, about: String, takes options: Set<CheckerOption>, rules: [RuleListing],
        complaint: @escaping @Sendable (CheckerSettings) -> String?,
        check: @escaping @Sendable (CompactToken, Moment, CheckerSettings) -> CheckerVerdict,
        fetchingCheck:
            @escaping @Sendable (CompactToken, Moment, CheckerSettings, @escaping KeyFetching) async -> CheckerVerdict
    ) {
        (self.name, self.about, self.options, self.rules) = (name, about, options, rules)
        (self.complaint, self.check, self.fetchingCheck) = (complaint, check, fetchingCheck)
    }

    /// Creates the checker of a client whose rules need no key.
    ///
    /// - Parameters:
    ///   - vendor: the id of the vendor.
    ///   - standardMargin: how long before `exp` the client treats a token as expiring, by default; `nil` for clients
    ///     that make no such distinction.
    ///   - facts: the rules' facts about a token at a moment; the duration is how long before `exp` it counts as
    ///     expiring.
    ///   - result: the client's result for the problems that its rules found, in its own terms.
    package init<Facts>(
        name: String, of vendor: String, about: String, standardMargin: Duration? = nil, rules list: RuleList<Facts>,
        facts: @escaping @Sendable (CompactToken, Moment, Duration) -> Facts,
        result: @escaping @Sendable (Facts, [Refusal<Facts.Failure>]) -> JSONObject
    ) {
        let check: @Sendable (CompactToken, Moment, CheckerSettings) -> CheckerVerdict = { token, moment, settings in
            var facts = facts(token, moment, settings.margin ?? standardMargin ?? .zero)
            let outcomes = list.outcomes(on: &facts)
            let problems = list.refusals(on: facts, outcomes)
            return CheckerVerdict(
                isUsable: problems.isEmpty, result: result(facts, problems),
                findings: list.findings(on: facts, outcomes))
        }
        self.init(
            name: name, about: about, takes: standardMargin == nil ? [] : [.nearExpiry],
            rules: list.listing(of: vendor, about: name), complaint: { _ in nil }, check: check
        ) { token, moment, settings, _ in check(token, moment, settings) }
    }

    /// Judges a token without any request.
    package func verdict(
        on token: CompactToken, at moment: Moment, _ settings: CheckerSettings = CheckerSettings()
    ) -> CheckerVerdict {
        check(token, moment, settings)
    }

    /// Judges a token; a client that looks keys up may fetch them.
    package func verdict(
        on token: CompactToken, at moment: Moment, _ settings: CheckerSettings = CheckerSettings(),
        fetching fetch: @escaping KeyFetching
    ) async -> CheckerVerdict {
        await fetchingCheck(token, moment, settings, fetch)
    }
}

package struct CheckerVerdict: Sendable {
    /// Whether it would send or trust it.
    package let isUsable: Bool
    /// The result in one line for people; `nil` where ``result`` says it all.
    package let summary: String?
    /// The result in the client's own terms, an object.
    package let result: JSONObject
    package let findings: [Finding]
    /// Whether the findings belong to the answer for programs.
    package let showsFindings: Bool

    package init(
        isUsable: Bool, summary: String? = nil, result: JSONObject, findings: [Finding], showsFindings: Bool = true
    ) {
        (self.isUsable, self.summary, self.result) = (isUsable, summary, result)
        (self.findings, self.showsFindings) = (findings, showsFindings)
    }

    /// The verdict when only this client was asked, for programs.
    package var answer: JSON {
        var answer = result
        if showsFindings { answer["findings"] = .array(findings.map(\.json)) }
        return .object(answer)
    }

    /// The verdict of the named client, for programs.
    package func json(of name: String) -> JSON {
        [
            "client": .string(name), "usable": .bool(isUsable), "result": .object(result),
            "findings": .array(findings.map(\.json)),
        ]
    }
}

/// A setting that a checker may take, by its name on the command line.
package enum CheckerOption: String, Sendable, CaseIterable {
    case issuer
    case audience
    case nonce
    case clientID = "cid"
    case scopes = "scp"
    case leeway
    case expiry = "exp"
    case issuedAt = "iat"
    case type = "typ"
    case claims = "claim"
    case jwk
    case rsaKey = "rsa-key"
    case profile
    case nearExpiry = "near-expiry"
}

/// What a checker judges by besides the token and the moment; `nil` leaves a choice to the client.
public struct CheckerSettings: Sendable {
    /// The `iss` claim; keys may be looked up there.
    package var issuer: String?
    /// The `aud` claim, or a member of it.
    package var audience: String?
    package var nonce: String?
    /// The `cid` claim, which names the client.
    package var clientID: String?
    /// The scopes that must be granted, separated by blanks.
    package var scopes: String?
    /// The header's `typ`.
    package var type: String?
    /// The grace for times, in seconds.
    package var leeway: Int?
    /// Whether `exp` is judged.
    package var checksExpiry: Bool?
    /// Whether `iat` is judged.
    package var checksIssuedAt: Bool?
    /// Further claims and the texts that they must be.
    package var claims: [(name: String, value: String)] = []
    /// The key, or those of which the token names one.
    package var key: CheckerKey?
    /// Whether the client behaves as documented or as observed.
    package var profile: BehaviourProfile
    /// How long before `exp` a token counts as expiring.
    package var margin: Duration?

    /// Creates settings that leave everything else to the client.
    package init(key: CheckerKey? = nil, profile: BehaviourProfile = .documented, margin: Duration? = nil) {
        (self.key, self.profile, self.margin) = (key, profile, margin)
    }
}

package enum CheckerKey: Sendable {
    /// A JWK, which may turn out unusable.
    case jwk(JSON)
    /// An RSA key; the token need not name it.
    case rsa(VerificationKey)
    /// Keys of which the token names one, such as those that a sandbox publishes.
    case set([VerificationKey])
}
