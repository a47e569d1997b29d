public import Tokens

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

extension RuleFacts {
    /// By default, there is no request.
    public var bearer: BearerToken? { nil }

    /// By default, there is nothing large to drop.
    @inlinable
    public mutating func dropExplanations() {}
}

/// One rule of a vendor, as a value: its name, what it expects, who says so, what follows when it is broken, and its
/// judgement of the facts. All code that judges, lists or shows the rule reads this value.
public struct TokenRule<Facts: RuleFacts>: Sendable {
    /// Judges the facts; `nil` when the rule does not apply.
    ///
    /// The facts are passed in place, and no judgement changes them: they are large, and a copy per rule would cost
    /// more than the rule. What was found is only reported into an existing finding: without one, `finding?.found = …`
    /// does not even evaluate its right side.
    public typealias Judgement = @Sendable (inout Facts, inout Finding?) -> Finding.Outcome?

    /// The stable name in the vendor's list; the check's name unless two rules share one.
    public let id: String
    /// The name in findings, in kebab-case.
    public let check: String
    /// What the rule expects, as far as it does not depend on the token.
    public let expected: Fact
    /// The document that says so.
    public let source: String?
    /// Where the rule is known from.
    public let evidence: Evidence
    /// The failures that a broken rule may cause; empty for rules that only make remarks.
    public let failures: [Facts.Failure]
    @usableFromInline let judgement: Judgement
    /// The same for a rule that reads only the token.
    @usableFromInline let ownJudgement: TokenCheck.Judgement?
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
        _ ownJudgement: TokenCheck.Judgement?, _ judgement: @escaping Judgement
    ) {
        self.id = id ?? check
        self.check = check
        self.expected = expected
        self.source = source
        self.evidence = evidence
        self.failures = failures
        self.refusal = refusal
        self.ownJudgement = ownJudgement
        self.judgement = judgement
    }

    /// Creates a rule that reads only the token.
    @inlinable
    public init(
        _ check: TokenCheck, id: String? = nil, _ evidence: Evidence = .documented,
        orFail failure: Facts.Failure? = nil
    ) {
        let judge = check.judge
        self.init(
            check.name, id: id, expects: check.expected ?? .absent, source: check.source, evidence,
            orFail: failure.map { [$0] } ?? [], by: { _ in failure.map { Refusal($0) } }, judge
        ) { facts, finding in
            guard let token = facts.compact else { return nil }
            return judge(token, &finding)
        }
    }

    /// The rules of a token's form.
    ///
    /// - Parameter stranger: what was sent in place of a token, if known; reported with the first fault.
    @inlinable
    public static func structure(
        orFail failure: Facts.Failure, calling stranger: @escaping @Sendable (Facts) -> String? = { _ in nil }
    ) -> [TokenRule] {
        TokenCheck.structure.map { check in
            let judge = check.judge
            return TokenRule(
                check.name, id: nil, expects: check.expected ?? .absent, source: check.source, .documented,
                orFail: [failure], by: { _ in Refusal(failure) }, judge
            ) { facts, finding in
                guard let token = facts.compact else { return nil }
                let outcome = judge(token, &finding)
                if outcome == .failed, finding != nil, check.name == token.firstFault, let note = stranger(facts) {
                    finding?.note = note
                }
                return outcome
            }
        }
    }

    /// The rule limited to facts that satisfy a condition; it does not apply to others.
    @inlinable
    public func when(_ applies: @escaping @Sendable (inout Facts) -> Bool) -> TokenRule {
        let judgement = judgement
        return TokenRule(
            check, id: id, expects: expected, source: source, evidence, orFail: failures, by: refusal
        ) { applies(&$0) ? judgement(&$0, &$1) : nil }
    }

    /// The outcome of the rule, without a finding.
    public func outcome(on facts: Facts) -> Finding.Outcome? {
        var (facts, nothing): (Facts, Finding?) = (facts, nil)
        return judgement(&facts, &nothing)
    }

    /// The finding of the rule; `nil` when it does not apply to the facts.
    public func finding(on facts: Facts) -> Finding? {
        let blank = Finding(check, .notJudged, expected: expected, source: source)
        var (facts, told): (Facts, Finding?) = (facts, blank)
        guard let outcome = judgement(&facts, &told) else { return nil }
        var finding = told ?? blank
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

/// The outcomes of a list of rules: one bit per rule in each of four sets.
public struct RuleOutcomes: Sendable, Hashable {
    /// ours: the maximum length of a list, checked on creation.
    static let mostRules = 64

    @usableFromInline var told: UInt64 = 0
    @usableFromInline var failed: UInt64 = 0
    @usableFromInline var noted: UInt64 = 0

    /// The rules whose findings are created at once: for a refused call, the broken ones and the remarks, which may say
    /// why.
    @usableFromInline var explained: UInt64 { failed == 0 ? 0 : failed | noted }

    /// Creates outcomes without any judgement.
    @inlinable
    public init() {}

    mutating func note(_ outcome: Finding.Outcome?, _ bit: UInt64) {
        guard let outcome else { return }
        told |= bit
        switch outcome {
        case .failed: failed |= bit
        case .noted: noted |= bit
        case .passed, .notJudged: break
        }
    }

    /// The index of the first broken rule.
    @inlinable public var firstFailure: Int? { failed == 0 ? nil : failed.trailingZeroBitCount }
}

/// Judges facts by rules, without creating findings.
@usableFromInline
typealias RuleWalk<Facts> =
    @Sendable (
        inout Facts, CompactToken?, _ nothing: inout Finding?, inout RuleOutcomes
    ) -> Void

/// The rules of a vendor for one kind of caller, in the order of its checks.
///
/// A class, since each exchange keeps it until its findings are read.
public final class RuleList<Facts: RuleFacts>: Sendable {
    /// The rules.
    public let rules: [TokenRule<Facts>]
    @usableFromInline let walk: RuleWalk<Facts>
    @usableFromInline let laterWalk: RuleWalk<Facts>

    /// Creates a list of these rules.
    ///
    /// - Parameter later: rules about facts that are established only after the others were judged.
    public init(_ rules: [TokenRule<Facts>], later: [TokenRule<Facts>] = []) {
        self.rules = rules + later
        precondition(self.rules.count <= RuleOutcomes.mostRules, "a list has at most \(RuleOutcomes.mostRules) rules")
        walk = Self.walk(along: self.rules[..<rules.count])
        laterWalk = Self.walk(along: self.rules[rules.count...])
    }

    /// The outcome of each rule.
    @inlinable
    public func outcomes(on facts: inout Facts) -> RuleOutcomes {
        var outcomes = RuleOutcomes()
        judgeFirst(&facts, &outcomes)
        judgeLater(&facts, &outcomes)
        return outcomes
    }

    /// The outcome of each rule except the later ones.
    @inlinable
    public func judgeFirst(_ facts: inout Facts, _ outcomes: inout RuleOutcomes) {
        // Without a finding, no judgement reports anything, so all can share one.
        var nothing: Finding?
        walk(&facts, facts.compact, &nothing, &outcomes)
    }

    /// The outcome of each later rule.
    @inlinable
    public func judgeLater(_ facts: inout Facts, _ outcomes: inout RuleOutcomes) {
        var nothing: Finding?
        laterWalk(&facts, facts.compact, &nothing, &outcomes)
    }

    /// Judgements captured in closures: calling them from an array would retain and release each one every time.
    private static func walk(along rules: ArraySlice<TokenRule<Facts>>) -> RuleWalk<Facts> {
        guard rules.count > 1 else { return step(rules) }
        let middle = rules.startIndex + rules.count / 2
        let (first, second) = (walk(along: rules[..<middle]), walk(along: rules[middle...]))
        return {
            first(&$0, $1, &$2, &$3)
            second(&$0, $1, &$2, &$3)
        }
    }

    private static func step(_ rules: ArraySlice<TokenRule<Facts>>) -> RuleWalk<Facts> {
        guard let rule = rules.first else { return { _, _, _, _ in } }
        let (judgement, bit) = (rule.judgement, 1 << UInt64(rules.startIndex) as UInt64)
        if let judge = rule.ownJudgement {
            return { _, token, nothing, outcomes in
                if let token { outcomes.note(judge(token, &nothing), bit) }
            }
        }
        return { facts, _, nothing, outcomes in outcomes.note(judgement(&facts, &nothing), bit) }
    }

    /// The findings of rules with these outcomes.
    ///
    /// - Parameter explained: the findings that were created at once.
    @usableFromInline
    func findings(on facts: Facts, _ outcomes: RuleOutcomes, explained: [Finding] = []) -> [Finding] {
        var explained = explained[...]
        return rules.indices.compactMap { place in
            let bit: UInt64 = 1 << UInt64(place)
            guard outcomes.told & bit != 0 else { return nil }
            return outcomes.explained & bit != 0
                ? explained.popFirst() ?? rules[place].finding(on: facts) : rules[place].finding(on: facts)
        }
    }

    /// The findings that are created at once.
    @usableFromInline
    func explained(on facts: Facts, _ outcomes: RuleOutcomes) -> [Finding] {
        var (left, explained): (UInt64, [Finding]) = (outcomes.explained, [])
        while left != 0 {
            if let finding = rules[left.trailingZeroBitCount].finding(on: facts) { explained.append(finding) }
            left &= left - 1
        }
        return explained
    }

    /// The findings of all rules.
    public func findings(on facts: Facts) -> [Finding] { rules.compactMap { $0.finding(on: facts) } }

    /// The refusals of all broken rules.
    func refusals(on facts: Facts, _ outcomes: RuleOutcomes) -> [Refusal<Facts.Failure>] {
        rules.indices.filter { outcomes.failed & 1 << UInt64($0) != 0 }.compactMap { rules[$0].refusal(facts) }
    }

    /// The rules as lists show them.
    ///
    /// - Parameters:
    ///   - vendor: the id of the vendor, which prefixes the rules' ids.
    ///   - subject: what the rules judge, such as a kind of token.
    public func listing(of vendor: String, about subject: String) -> [RuleListing] {
        rules.map { rule in
            RuleListing(
                id: "\(vendor).\(rule.id)", subject: subject, check: rule.check, expects: "\(rule.expected)",
                source: rule.source, evidence: rule.evidence, failures: rule.failures.map(\.rawValue))
        }
    }
}

/// One rule as lists show it.
public struct RuleListing: Sendable, Hashable {
    /// The stable id, such as `vendor.check`.
    public let id: String
    /// What the list judges, such as a kind of token.
    public let subject: String
    /// The name in findings.
    public let check: String
    /// What the rule expects.
    public let expects: String
    /// The document that says so.
    public let source: String?
    /// Where the rule is known from.
    public let evidence: Evidence
    /// The failures that a broken rule causes; empty for rules that only make remarks.
    public let failures: [String]
}

/// Findings that are not created yet.
///
/// A class, since lists of findings are copied around, and existentials are expensive to copy.
@usableFromInline
protocol UnreadFindings: AnyObject, Sendable {
    /// The findings of all rules; always the same.
    var findings: [Finding] { get }
    /// The findings that were created at once, including all failed ones.
    var explained: [Finding] { get }
    /// An estimate of the memory that they hold, in bytes.
    var byteCount: Int { get }
}

/// Rules with the facts they judged. The findings are created on reading, except those of a refused call that need data
/// that is not kept.
@usableFromInline
final class UnreadRules<Facts: RuleFacts>: UnreadFindings {
    @usableFromInline let list: RuleList<Facts>
    @usableFromInline let facts: Facts
    @usableFromInline let outcomes: RuleOutcomes
    @usableFromInline let explained: [Finding]

    @inlinable
    init(_ list: RuleList<Facts>, _ facts: consuming Facts, _ outcomes: RuleOutcomes) {
        explained = outcomes.failed == 0 ? [] : list.explained(on: facts, outcomes)
        facts.dropExplanations()
        (self.list, self.facts, self.outcomes) = (list, facts, outcomes)
    }

    @usableFromInline var findings: [Finding] { list.findings(on: facts, outcomes, explained: explained) }

    /// The token is kept as it came and in decoded form.
    @usableFromInline var byteCount: Int {
        MemoryLayout<Facts>.size + 128 + MemoryLayout<Finding>.stride * explained.capacity
            + (facts.compact.map { 512 + 2 * $0.bytes.count } ?? 0)
    }
}
