public import Tokens

/// Judges a subject by rules, without creating findings.
///
/// - Parameter own: what is known of the rules that read only the token.
@usableFromInline
typealias RuleWalk<Subject> =
    @Sendable (
        inout Subject, _ own: RuleOutcomes, _ nothing: inout Finding?, inout RuleOutcomes
    ) -> Void

/// The rules of a vendor for one kind of caller, in the order of its checks.
///
/// Most rules read only the token. They are judged once per token, since clients send the same one many times; the
/// others are judged in each exchange.
///
/// A class, since each exchange keeps it until its findings are read.
public final class RuleList<Facts: RuleFacts>: Sendable {
    @usableFromInline
    struct Part: Sendable {
        /// The rules that read only the token, and apply to every request.
        @usableFromInline let own: UInt64
        /// Judges by the others.
        @usableFromInline let walk: RuleWalk<Facts>
    }

    public let rules: [TokenRule<Facts>]
    @usableFromInline let first: Part
    @usableFromInline let later: Part
    /// Judges by all rules that read only the token; `nil` if there are none.
    private let ownWalk: RuleWalk<CompactToken>?

    /// Creates a list of these rules.
    ///
    /// - Parameter later: rules about facts that are established only after the others were judged.
    public init(_ rules: [TokenRule<Facts>], later: [TokenRule<Facts>] = []) {
        self.rules = rules + later
        precondition(self.rules.count <= RuleOutcomes.mostRules, "a list has at most \(RuleOutcomes.mostRules) rules")
        first = Self.part(self.rules[..<rules.count])
        self.later = Self.part(self.rules[rules.count...])
        // Loops, since generic code would have to look up the types of a `compactMap` at run time.
        var ownSteps: [Step<CompactToken>] = []
        for (place, rule) in self.rules.enumerated() {
            if let step = Self.ownStep(rule, RuleOutcomes.bit(of: place)) { ownSteps.append(step) }
        }
        ownWalk = ownSteps.isEmpty ? nil : Self.walk(along: ownSteps[...])
    }

    @inlinable
    public func outcomes(on facts: inout Facts) -> RuleOutcomes {
        var outcomes = RuleOutcomes()
        let own = ownOutcomes(on: facts.compact)
        judge(&facts, by: first, own, &outcomes)
        judge(&facts, by: later, own, &outcomes)
        return outcomes
    }

    /// The outcome of each rule except the later ones.
    @inlinable
    public func judgeFirst(_ facts: inout Facts, _ outcomes: inout RuleOutcomes) {
        judge(&facts, by: first, ownOutcomes(on: facts.compact), &outcomes)
    }

    @inlinable
    public func judgeLater(_ facts: inout Facts, _ outcomes: inout RuleOutcomes) {
        judge(&facts, by: later, ownOutcomes(on: facts.compact), &outcomes)
    }

    @inlinable
    func judge(_ facts: inout Facts, by part: Part, _ own: RuleOutcomes, _ outcomes: inout RuleOutcomes) {
        outcomes.take(own, of: part.own)
        // Without a finding, no judgement reports anything, so all can share one.
        var nothing: Finding?
        part.walk(&facts, own, &nothing, &outcomes)
    }

    @usableFromInline
    func ownOutcomes(on token: CompactToken?) -> RuleOutcomes {
        guard let token, let ownWalk else { return RuleOutcomes() }
        return token.outcomes(by: self) {
            var (token, nothing, outcomes): (CompactToken, Finding?, RuleOutcomes) = (token, nil, RuleOutcomes())
            ownWalk(&token, RuleOutcomes(), &nothing, &outcomes)
            return outcomes
        }
    }

    private static func part(_ rules: ArraySlice<TokenRule<Facts>>) -> Part {
        let own = rules.indices.reduce(0 as UInt64) { own, place in
            let isOwn = rules[place].ownJudgement != nil && rules[place].condition == nil
            return isOwn ? own | RuleOutcomes.bit(of: place) : own
        }
        var steps: [Step<Facts>] = []
        for place in rules.indices {
            if let step = step(rules[place], RuleOutcomes.bit(of: place)) { steps.append(step) }
        }
        return Part(own: own, walk: walk(along: steps[...]))
    }

    /// A judgement in a list. Closures themselves would be wrapped there, to fit any type.
    private struct Step<Subject> {
        let judge: RuleWalk<Subject>
    }

    /// Judgements captured in closures: calling them from an array would retain and release each one every time.
    private static func walk<Subject>(along steps: ArraySlice<Step<Subject>>) -> RuleWalk<Subject> {
        func part(_ number: Int, of count: Int) -> RuleWalk<Subject> {
            let (start, total) = (steps.startIndex, steps.count)
            return walk(along: steps[(start + number * total / count)..<(start + (number + 1) * total / count)])
        }
        switch steps.count {
        case 0: return { _, _, _, _ in }
        case 1: return steps[steps.startIndex].judge
        case 2, 3:
            let (first, second) = (part(0, of: 2), part(1, of: 2))
            return {
                first(&$0, $1, &$2, &$3)
                second(&$0, $1, &$2, &$3)
            }
        default:
            let (first, second, third, fourth) = (part(0, of: 4), part(1, of: 4), part(2, of: 4), part(3, of: 4))
            return {
                first(&$0, $1, &$2, &$3)
                second(&$0, $1, &$2, &$3)
                third(&$0, $1, &$2, &$3)
                fourth(&$0, $1, &$2, &$3)
            }
        }
    }

    /// Judges by a rule in each exchange; `nil` for a rule that is judged once per token.
    private static func step(_ rule: TokenRule<Facts>, _ bit: UInt64) -> Step<Facts>? {
        guard rule.ownJudgement != nil else {
            let judgement = rule.judgement
            return Step { facts, _, nothing, outcomes in outcomes.note(judgement(&facts, &nothing), bit) }
        }
        guard let applies = rule.condition else { return nil }
        return Step { facts, own, _, outcomes in
            if applies(&facts) { outcomes.take(own, of: bit) }
        }
    }

    private static func ownStep(_ rule: TokenRule<Facts>, _ bit: UInt64) -> Step<CompactToken>? {
        guard let judge = rule.ownJudgement else { return nil }
        return Step { token, _, nothing, outcomes in outcomes.note(judge(token, &nothing), bit) }
    }

    /// The findings of rules with these outcomes.
    ///
    /// - Parameter explained: the findings that were created at once.
    public func findings(on facts: Facts, _ outcomes: RuleOutcomes, explained: [Finding] = []) -> [Finding] {
        judged(on: facts, outcomes, explained: explained).map(\.finding)
    }

    /// The same with the failures that each rule may cause; of a broken one, the failure that it causes.
    @usableFromInline
    func judged(on facts: Facts, _ outcomes: RuleOutcomes, explained: [Finding]) -> [JudgedFinding] {
        var explained = explained[...]
        return rules.indices.compactMap { place in
            let (rule, bit) = (rules[place], RuleOutcomes.bit(of: place))
            guard outcomes.applied & bit != 0 else { return nil }
            let known = outcomes.explained & bit != 0 ? explained.popFirst() : nil
            return (known ?? rule.finding(on: facts)).map { finding in
                let caused = finding.outcome == .failed ? rule.refusal(facts).map { [$0.failure] } : nil
                return JudgedFinding(
                    finding: finding, failures: (caused ?? rule.failures).map(\.rawValue), token: facts.compact)
            }
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

    public func findings(on facts: Facts) -> [Finding] { rules.compactMap { $0.finding(on: facts) } }

    /// The refusals of all broken rules, in order.
    public func refusals(on facts: Facts, _ outcomes: RuleOutcomes) -> [Refusal<Facts.Failure>] {
        rules.indices.filter { outcomes.failed & RuleOutcomes.bit(of: $0) != 0 }.compactMap { rules[$0].refusal(facts) }
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

public struct RuleListing: Sendable, Hashable {
    /// The stable id, such as `vendor.check`.
    package let id: String
    /// What the list judges, such as a kind of token.
    package let subject: String
    /// The name in findings.
    package let check: String
    package let expects: String
    package let source: String?
    package let evidence: Evidence
    /// The failures that a broken rule causes; empty for rules that only make remarks.
    package let failures: [String]
}
