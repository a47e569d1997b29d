public import JSON
public import Tokens

/// Rules by which a vendor's client judges a token before it sends it: no server, no key, no state.
public struct TokenChecker: Sendable {
    /// The name, for `token verify --as NAME`.
    public let name: String
    /// Who judges so, in a line.
    public let about: String
    /// How far before `exp` a client takes a token for nearly over, unless somebody says otherwise; `nil` for clients that
    /// make no such difference.
    public let standardMargin: Duration?
    /// Its rules, in the order of its checks.
    public let rules: [RuleListing]
    let check: @Sendable (CompactToken, Moment, Duration) -> CheckerVerdict

    /// A checker.
    ///
    /// - Parameters:
    ///   - vendor: the id of the vendor.
    ///   - facts: what the rules look at, of a token at a moment; the duration is how far before `exp` it is nearly over.
    ///   - result: what the client makes of the problems that its rules have found, in its own terms.
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
    /// - Parameter margin: how far before `exp` it is nearly over; `nil` for the client's own.
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

    /// A verdict of these parts.
    public init(isUsable: Bool, result: JSONObject, findings: [Finding]) {
        self.isUsable = isUsable
        self.result = result
        self.findings = findings
    }

    /// The verdict of the client of that name, for programs.
    public func json(of name: String) -> JSON {
        [
            "client": .string(name), "usable": .bool(isUsable), "result": .object(result),
            "findings": .array(findings.map(\.json)),
        ]
    }
}
