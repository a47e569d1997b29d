public import JSON
public import Tokens

/// A vendor client's rules for judging a token before sending it: no server, no key, no state.
public struct TokenChecker: Sendable {
    /// The name, for `token verify --as NAME`.
    public let name: String
    /// The client that judges this way, in one line.
    public let about: String
    /// How long before `exp` the client treats a token as expiring, by default; `nil` for clients that make no such
    /// distinction.
    public let standardMargin: Duration?
    /// Its rules, in the order of its checks.
    public let rules: [RuleListing]
    let check: @Sendable (CompactToken, Moment, Duration) -> CheckerVerdict

    /// Creates a checker.
    ///
    /// - Parameters:
    ///   - vendor: the id of the vendor.
    ///   - facts: the rules' facts about a token at a moment; the duration is how long before `exp` it counts as
    ///     expiring.
    ///   - result: the client's result for the problems that its rules found, in its own terms.
    public init<Facts>(
        name: String, of vendor: String, about: String, standardMargin: Duration? = nil, rules list: RuleList<Facts>,
        facts: @escaping @Sendable (CompactToken, Moment, Duration) -> Facts,
        result: @escaping @Sendable (Facts, [Refusal<Facts.Failure>]) -> JSONObject
    ) {
        self.name = name
        self.about = about
        self.standardMargin = standardMargin
        rules = list.listing(of: vendor, about: name)
        check = { token, moment, margin in
            var facts = facts(token, moment, margin)
            let outcomes = list.outcomes(on: &facts)
            let problems = list.refusals(on: facts, outcomes)
            return CheckerVerdict(
                isUsable: problems.isEmpty, result: result(facts, problems),
                findings: list.findings(on: facts, outcomes))
        }
    }

    /// Judges a token.
    ///
    /// - Parameter margin: how long before `exp` it counts as expiring; `nil` for the client's default.
    public func verdict(on token: CompactToken, at moment: Moment, margin: Duration? = nil) -> CheckerVerdict {
        check(token, moment, margin ?? standardMargin ?? .zero)
    }
}

/// What a client would do with a token.
public struct CheckerVerdict: Sendable {
    /// Whether it would send it.
    public let isUsable: Bool
    /// The result in the client's own terms, an object.
    public let result: JSONObject
    /// Every check.
    public let findings: [Finding]

    /// Creates a verdict from its parts.
    public init(isUsable: Bool, result: JSONObject, findings: [Finding]) {
        self.isUsable = isUsable
        self.result = result
        self.findings = findings
    }

    /// The verdict of the named client, for programs.
    public func json(of name: String) -> JSON {
        [
            "client": .string(name), "usable": .bool(isUsable), "result": .object(result),
            "findings": .array(findings.map(\.json)),
        ]
    }
}
