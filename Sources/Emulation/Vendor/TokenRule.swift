public import JSON
public import Tokens

/// One rule of a vendor, as a value: its name, what it expects, its source, what follows when it is broken, and its
/// judgement of the facts. All code that judges, lists or shows the rule reads this value.
public struct TokenRule<Facts: RuleFacts>: Sendable {
    /// Judges the facts; `nil` when the rule does not apply.
    ///
    /// The facts are passed in place, and no judgement changes them: they are large, and a copy per rule would cost
    /// more than the rule. What was found is only reported into an existing finding: without one, `finding?.found = …`
    /// does not even evaluate its right side.
    public typealias Judgement = @Sendable (inout Facts, inout Finding?) -> Finding.Outcome?

    public typealias Condition = @Sendable (inout Facts) -> Bool

    /// The stable name in the vendor's list; the check's name unless two rules share one.
    public let id: String
    /// The name in findings, in kebab-case.
    public let check: String
    /// What the rule expects, as far as it does not depend on the token.
    public let expected: Fact
    public let source: String?
    public let evidence: Evidence
    /// The failures that a broken rule may cause; empty for rules that only make remarks.
    public let failures: [Facts.Failure]
    @usableFromInline let judgement: Judgement
    /// The same for a rule that reads only the token, apart from its ``condition``.
    @usableFromInline let ownJudgement: TokenCheck.Judgement?
    /// Whether such a rule applies; `nil` if it always does.
    @usableFromInline let condition: Condition?
    /// Selects the failure, with its body's parameters.
    @usableFromInline let refusal: @Sendable (Facts) -> Refusal<Facts.Failure>?

    /// Creates a rule that causes one failure, or none.
    ///
    /// - Parameter id: required only when another rule of the vendor has a check with the same name.
    public init(
        _ check: String, id: String? = nil, expects expected: Fact, source: String?,
        _ evidence: Evidence = .documented, orFail failure: Facts.Failure? = nil,
        _ judgement: @escaping Judgement
    ) {
        self.init(
            check, id: id, expects: expected, source: source, evidence, orFail: failure.map { [$0] } ?? [],
            by: { _ in failure.map { Refusal($0) } }, judge: judgement)
    }

    /// Creates a rule whose facts determine the failure, or the parameters of its body.
    public init(
        _ check: String, id: String? = nil, expects expected: Fact, source: String?,
        _ evidence: Evidence = .documented, orFail failures: [Facts.Failure],
        by refusal: @escaping @Sendable (Facts) -> Refusal<Facts.Failure>?, judge judgement: @escaping Judgement
    ) {
        self.init(
            check, id: id, expects: expected, source: source, evidence, orFail: failures, by: refusal, nil, judgement)
    }

    @usableFromInline
    init(
        _ check: String, id: String?, expects expected: Fact, source: String?, _ evidence: Evidence,
        orFail failures: [Facts.Failure], by refusal: @escaping @Sendable (Facts) -> Refusal<Facts.Failure>?,
        _ ownJudgement: TokenCheck.Judgement?, if condition: Condition? = nil, _ judgement: @escaping Judgement
    ) {
        self.id = id ?? check
        self.check = check
        self.expected = expected
        (self.source, self.evidence, self.failures, self.refusal) = (source, evidence, failures, refusal)
        (self.ownJudgement, self.condition, self.judgement) = (ownJudgement, condition, judgement)
    }

    /// Creates a rule that reads only the token.
    ///
    /// - Parameter name: the name in findings, when a request has several tokens; the check's by default.
    @inlinable
    public init(
        _ check: TokenCheck, named name: String? = nil, id: String? = nil, _ evidence: Evidence = .documented,
        orFail failure: Facts.Failure? = nil
    ) {
        self.init(
            check, named: name, id: id, evidence, orFail: failure.map { [$0] } ?? [],
            by: { _ in failure.map { Refusal($0) } })
    }

    /// Creates a rule that reads only the token, and whose facts determine the failure, or the parameters of its body.
    ///
    /// - Parameters:
    ///   - name: the name in findings, when a request has several tokens; the check's by default.
    ///   - explain: adds to the finding what the facts reveal.
    @inlinable
    public init(
        _ check: TokenCheck, named name: String? = nil, id: String? = nil, _ evidence: Evidence = .documented,
        orFail failures: [Facts.Failure], by refusal: @escaping @Sendable (Facts) -> Refusal<Facts.Failure>?,
        explain: @escaping @Sendable (Facts, inout Finding) -> Void = { _, _ in }
    ) {
        let judge = check.judge
        self.init(
            name ?? check.name, id: id, expects: check.expected ?? .absent, source: check.source, evidence,
            orFail: failures, by: refusal, judge
        ) { facts, finding in
            guard let token = facts.compact else { return nil }
            let outcome = judge(token, &finding)
            if var explained = finding, let outcome {
                explained.outcome = outcome
                explain(facts, &explained)
                finding = explained
            }
            return outcome
        }
    }

    /// The rules of a token's form.
    ///
    /// - Parameters:
    ///   - prefix: what the names in findings begin with, when a request has several tokens.
    ///   - foreign: what was sent in place of a token, if known; reported with the first fault.
    @inlinable
    public static func structure(
        orFail failure: Facts.Failure, named prefix: String = "",
        calling foreign: @escaping @Sendable (Facts) -> String? = { _ in nil }
    ) -> [TokenRule] {
        TokenCheck.structure.map { check in
            TokenRule(check, named: prefix + check.name, orFail: [failure], by: { _ in Refusal(failure) }) {
                facts, finding in
                if finding.outcome == .failed, check.name == facts.compact?.firstFault, let note = foreign(facts) {
                    finding.note = note
                }
            }
        }
    }

    /// The rule limited to facts that satisfy a condition; it does not apply to others.
    @inlinable
    public func when(_ applies: @escaping Condition) -> TokenRule {
        let judgement = judgement
        var condition = applies
        if let earlier = self.condition { condition = { earlier(&$0) && applies(&$0) } }
        return TokenRule(
            check, id: id, expects: expected, source: source, evidence, orFail: failures, by: refusal, ownJudgement,
            if: condition
        ) { applies(&$0) ? judgement(&$0, &$1) : nil }
    }

    /// The rule for callers who get another answer when it is broken; a remark stays one.
    ///
    /// - Parameter prefix: what its id then begins with, since another list has the rule as it is.
    public func failing(with failure: Facts.Failure, ids prefix: String) -> TokenRule {
        let isRemark = failures.isEmpty
        return TokenRule(
            check, id: prefix + id, expects: expected, source: source, evidence, orFail: isRemark ? [] : [failure],
            by: { _ in isRemark ? nil : Refusal(failure) }, ownJudgement, if: condition, judgement)
    }

    public func outcome(on facts: Facts) -> Finding.Outcome? {
        var (facts, nothing): (Facts, Finding?) = (facts, nil)
        return judgement(&facts, &nothing)
    }

    /// The finding of the rule; `nil` when it does not apply to the facts.
    public func finding(on facts: Facts) -> Finding? {
        let blank = Finding(check, .notJudged, expected: expected, source: source)
        var (facts, judged): (Facts, Finding?) = (facts, blank)
        guard let outcome = judgement(&facts, &judged) else { return nil }
        var finding = judged ?? blank
        finding.outcome = outcome
        return finding
    }
}

extension Finding? {
    /// Takes over a finding made elsewhere.
    ///
    /// - Returns: its outcome.
    public mutating func take(_ finding: Finding?) -> Finding.Outcome? {
        if self != nil, let finding { self = finding }
        return finding?.outcome
    }
}

/// The input of a vendor's rules: a token, what is known of its sender, the moment, switches.
///
/// While nothing fails, the journal keeps these facts instead of findings, and derives the findings on reading.
public protocol RuleFacts: Sendable {
    /// The failures of broken rules.
    associatedtype Failure: VendorFailure
    /// The token; `nil` when none was presented.
    var compact: CompactToken? { get }
    /// The field `Authorization` of the request; `nil` when there is no request, or the rules ignore the field.
    var bearer: BearerToken? { get }
    /// Drops data that only explains failures, so that a journal does not keep old states and requests alive.
    mutating func dropExplanations()
}

extension Vendor where Credentials: RuleFacts {
    /// A rule of the vendor for what its calls bring along.
    public typealias CallRule = TokenRule<Credentials>
}

extension RuleFacts {
    /// By default, there is no request.
    public var bearer: BearerToken? { nil }

    /// By default, there is nothing large to drop.
    @inlinable
    public mutating func dropExplanations() {}
}

// Short forms of rules: most consist of a name, a sentence, a source, a failure and one comparison.

extension TokenRule {
    /// Creates a rule that expects what a sentence says, and causes one failure.
    @inlinable
    public init(
        _ check: String, _ expected: String, _ source: String, _ evidence: Evidence = .documented,
        orFail failure: Facts.Failure, _ judgement: @escaping Judgement
    ) {
        self.init(check, expects: .text(expected), source: source, evidence, orFail: failure, judgement)
    }
}

extension Finding? {
    /// Reports what was found, which is only evaluated for a finding that is read, and whether it is right.
    @inlinable
    public mutating func judge(_ found: @autoclosure () -> Fact?, _ isRight: Bool) -> Finding.Outcome {
        self?.found = found()
        return isRight ? .passed : .failed
    }
}

extension CompactToken {
    /// Judges a claim by its value, which is `nil` when it is absent; the rule does not apply to a token without claims.
    @inlinable
    public func claim(_ name: String, _ finding: inout Finding?, _ isRight: (JSON?) -> Bool) -> Finding.Outcome? {
        guard let claims else { return nil }
        return finding.judge(claims[name].map(Fact.json) ?? .absent, isRight(claims[name]))
    }
}

// MARK: - Tokens signed by secrets

/// The facts about a token that a secret must have signed.
public protocol SecretFacts: RuleFacts {
    var moment: Moment { get }
    /// How long after its end, and before its beginning, a token is accepted; by default not at all.
    var leewaySeconds: Int { get }
    /// The secret; `nil` as long as none is known.
    var secret: SecretKey? { get }
    /// Secrets of others, one of which may have signed the token by mistake; by default none.
    var otherSecrets: [SecretKey] { get }
}

extension SecretFacts {
    @inlinable public var leewaySeconds: Int { 0 }
    @inlinable public var otherSecrets: [SecretKey] { [] }

    /// The mistake that explains an invalid signature.
    @inlinable public var mistake: SignatureDiagnosis? {
        secret.flatMap { secret in compact?.mistake(with: secret) { otherSecrets } }
    }

    /// Judges whether the token has not expired.
    @inlinable
    public func expiry(_ finding: inout Finding?) -> Finding.Outcome? {
        compact?.expiry(at: moment.unixSeconds, TimeRules(leeway: Double(leewaySeconds)), &finding)
    }

    /// Judges whether `nbf` has been reached, if it is present.
    @inlinable
    public func beginning(_ finding: inout Finding?) -> Finding.Outcome? {
        let rules = TimeRules(leeway: Double(leewaySeconds), required: false)
        return compact?.notBefore(at: moment.unixSeconds, rules, &finding)
    }
}

extension TokenRule where Facts: SecretFacts {
    /// The rules that the secret has signed the token, and that nobody mistook it.
    ///
    /// - Parameter unjudged: the source of the finding while no secret is known.
    @inlinable
    public static func signature(
        _ expected: String, _ source: String, unjudged: String? = nil, orFail failure: Facts.Failure
    ) -> [TokenRule] {
        [
            TokenRule("signature", expected, source, orFail: failure) { facts, finding in
                guard let token = facts.compact else { return nil }
                guard let secret = facts.secret else {
                    finding?.expected = nil
                    finding?.source = unjudged
                    finding?.note = "No key is known to judge it by."
                    return .notJudged
                }
                let outcome = token.signature(by: secret, &finding)
                if outcome == .failed, finding != nil, let mistake = facts.mistake {
                    finding?.note = mistake.description
                }
                return outcome
            },
            TokenRule("secret-mistake", expects: .text("the secret as it is"), source: nil, .ours) { facts, finding in
                finding.take(facts.mistake?.finding)
            },
        ]
    }
}
