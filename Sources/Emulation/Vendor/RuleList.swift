public import Tokens

/// The outcomes of a list of rules: one bit per rule in each of three sets.
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
    public func findings(on facts: Facts, _ outcomes: RuleOutcomes) -> [Finding] {
        findings(on: facts, outcomes, explained: [])
    }

    /// The findings of rules with these outcomes.
    ///
    /// - Parameter explained: the findings that were created at once.
    @usableFromInline
    func findings(on facts: Facts, _ outcomes: RuleOutcomes, explained: [Finding]) -> [Finding] {
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

    /// The refusals of all broken rules, in order.
    public func refusals(on facts: Facts, _ outcomes: RuleOutcomes) -> [Refusal<Facts.Failure>] {
        rules.indices.filter { outcomes.failed & 1 << UInt64($0) != 0 }.compactMap { rules[$0].refusal(facts) }
    }

    /// The rules as lists show them.
    ///
    /// - Parameters:
    ///   - vendor: the id of the vendor, which prefixes the rules' ids.
    ///   - subject: what the rules judge, such as a kind of token.
    package func listing(of vendor: String, about subject: String) -> [RuleListing] {
        rules.map { rule in
            RuleListing(
                id: "\(vendor).\(rule.id)", subject: subject, check: rule.check, expects: "\(rule.expected)",
                source: rule.source, evidence: rule.evidence, failures: rule.failures.map { $0.rawValue })
        }
    }
}

/// One rule as lists show it.
public struct RuleListing: Sendable, Hashable {
    /// The stable id, such as `vendor.check`.
    package let id: String
    /// What the list judges, such as a kind of token.
    package let subject: String
    /// The name in findings.
    package let check: String
    /// What the rule expects.
    package let expects: String
    /// The document that says so.
    package let source: String?
    /// Where the rule is known from.
    package let evidence: Evidence
    /// The failures that a broken rule causes; empty for rules that only make remarks.
    package let failures: [String]
}
