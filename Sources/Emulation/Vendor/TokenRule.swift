public import Tokens

/// What a vendor's rules look at: a token, what is known of its sender, the moment, switches.
///
/// While nothing fails, the journal keeps these facts in the place of findings, which are made of them when somebody reads.
public protocol RuleFacts: Sendable {
    /// What a broken rule leads to.
    associatedtype Failure: VendorFailure
    /// The token; `nil` when none was presented.
    var compact: CompactToken? { get }
    /// The field `Authorization` of the request; `nil` when there is no request, or the rules do not look there.
    var bearer: BearerToken? { get }
    /// Lets go of what only explains failures, so that a journal does not keep old states and requests alive.
    mutating func dropExplanations()
}

extension RuleFacts {
    /// Facts that come without a request.
    public var bearer: BearerToken? { nil }

    /// Facts that hold nothing large.
    @inlinable
    public mutating func dropExplanations() {}
}

/// One rule of a vendor, as a value: its name, what it expects, who says so, what follows when it is broken, and one
/// judgement of the facts. Whatever judges, lists or shows the rule reads this value.
public struct TokenRule<Facts: RuleFacts>: Sendable {
    /// Judges the facts; `nil` where the rule has nothing to do with them.
    ///
    /// The facts come in place, and no judgement changes them: they are wide, and a copy for each rule would cost more than
    /// the rule. What was found is told only where there is a finding to tell it: `finding?.found = …` does nothing otherwise, not
    /// even work out what it would say.
    public typealias Judgement = @Sendable (inout Facts, inout Finding?) -> Finding.Outcome?

    /// The stable name in the vendor's list; that of the check unless two rules share one.
    public let id: String
    /// The name that findings carry, in kebab-case.
    public let check: String
    /// What the rule asks for, as far as the token does not decide it.
    public let expected: Fact
    /// Which document says so.
    public let source: String?
    /// Where the rule is known from.
    public let evidence: Evidence
    /// What a broken rule may lead to; none for rules that only remark on something.
    public let failures: [Facts.Failure]
    @usableFromInline let judgement: Judgement
    /// The same of a rule that asks nothing but the token.
    @usableFromInline let ownJudgement: TokenCheck.Judgement?
    /// Which of the failures, and the values of its body's parameters.
    @usableFromInline let refusal: @Sendable (Facts) -> Refusal<Facts.Failure>?

    /// A rule that leads to one failure, or to none.
    ///
    /// - Parameter id: only where another rule of the vendor has a check of that name.
    public init(
        _ check: String, id: String? = nil, expects expected: Fact, source: String?,
        _ evidence: Evidence = .documented, orFail failure: Facts.Failure? = nil,
        _ judgement: @escaping Judgement
    ) {
        self.init(
            check, id: id, expects: expected, source: source, evidence, orFail: failure.map { [$0] } ?? [],
            by: { _ in failure.map { Refusal($0) } }, judge: judgement)
    }

    /// A rule whose facts decide which failure it leads to, or what the failure's body says.
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

    /// A rule that asks nothing but the token.
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
    /// - Parameter stranger: what was sent in the place of a token, where it is known: that is told of the first fault.
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

    /// The rule where facts want it; it has nothing to do with others.
    @inlinable
    public func when(_ applies: @escaping @Sendable (inout Facts) -> Bool) -> TokenRule {
        let judgement = judgement
        return TokenRule(
            check, id: id, expects: expected, source: source, evidence, orFail: failures, by: refusal
        ) { applies(&$0) ? judgement(&$0, &$1) : nil }
    }

    /// How the rule comes out; what was found is not even looked at.
    public func outcome(on facts: Facts) -> Finding.Outcome? {
        var (facts, nothing): (Facts, Finding?) = (facts, nil)
        return judgement(&facts, &nothing)
    }

    /// What the rule finds; `nil` where it has nothing to do with the facts.
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
    /// Tells what somebody else has found.
    ///
    /// - Returns: its outcome.
    public mutating func take(_ finding: Finding?) -> Finding.Outcome? {
        if self != nil, let finding { self = finding }
        return finding?.outcome
    }
}

/// How a list of rules came out: a bit for each rule in each of four sets.
public struct RuleOutcomes: Sendable, Hashable {
    /// ours: a list has at most so many rules, which the making of it checks.
    static let mostRules = 64

    @usableFromInline var told: UInt64 = 0
    @usableFromInline var failed: UInt64 = 0
    @usableFromInline var noted: UInt64 = 0

    /// Those whose findings are made at once: of a refused call the broken ones and the remarks, which may tell why.
    @usableFromInline var explained: UInt64 { failed == 0 ? 0 : failed | noted }

    /// Nothing was judged yet.
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

    /// The place of the first rule that is broken.
    @inlinable public var firstFailure: Int? { failed == 0 ? nil : failed.trailingZeroBitCount }
}

/// Has rules judge facts; what is found is told to nobody.
@usableFromInline
typealias RuleWalk<Facts> =
    @Sendable (
        inout Facts, CompactToken?, _ nothing: inout Finding?, inout RuleOutcomes
    ) -> Void

/// The rules of a vendor for one kind of caller, in the order of its checks.
///
/// An object, since each exchange keeps it until somebody reads what its rules found.
public final class RuleList<Facts: RuleFacts>: Sendable {
    /// The rules.
    public let rules: [TokenRule<Facts>]
    @usableFromInline let walk: RuleWalk<Facts>
    @usableFromInline let laterWalk: RuleWalk<Facts>

    /// A list of these rules.
    ///
    /// - Parameter later: rules that look at facts which are found only after the others were judged.
    public init(_ rules: [TokenRule<Facts>], later: [TokenRule<Facts>] = []) {
        self.rules = rules + later
        precondition(self.rules.count <= RuleOutcomes.mostRules, "a list has at most \(RuleOutcomes.mostRules) rules")
        walk = Self.walk(along: self.rules[..<rules.count])
        laterWalk = Self.walk(along: self.rules[rules.count...])
    }

    /// How each rule comes out.
    @inlinable
    public func outcomes(on facts: inout Facts) -> RuleOutcomes {
        var outcomes = RuleOutcomes()
        judgeFirst(&facts, &outcomes)
        judgeLater(&facts, &outcomes)
        return outcomes
    }

    /// How each rule comes out but for the later ones.
    @inlinable
    public func judgeFirst(_ facts: inout Facts, _ outcomes: inout RuleOutcomes) {
        // No judgement tells anything where there is nothing to tell it, so one serves all.
        var nothing: Finding?
        walk(&facts, facts.compact, &nothing, &outcomes)
    }

    /// How each of the later rules comes out.
    @inlinable
    public func judgeLater(_ facts: inout Facts, _ outcomes: inout RuleOutcomes) {
        var nothing: Finding?
        laterWalk(&facts, facts.compact, &nothing, &outcomes)
    }

    /// Judgements in closures that hold them, since to call one out of an array means to retain and release it each time.
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

    /// What the rules find that came out so.
    ///
    /// - Parameter explained: what those found that was made at once.
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

    /// What those rules found whose findings are made at once.
    @usableFromInline
    func explained(on facts: Facts, _ outcomes: RuleOutcomes) -> [Finding] {
        var (left, explained): (UInt64, [Finding]) = (outcomes.explained, [])
        while left != 0 {
            if let finding = rules[left.trailingZeroBitCount].finding(on: facts) { explained.append(finding) }
            left &= left - 1
        }
        return explained
    }

    /// What the rules find.
    public func findings(on facts: Facts) -> [Finding] { rules.compactMap { $0.finding(on: facts) } }

    /// What all rules lead to that came out broken.
    func refusals(on facts: Facts, _ outcomes: RuleOutcomes) -> [Refusal<Facts.Failure>] {
        rules.indices.filter { outcomes.failed & 1 << UInt64($0) != 0 }.compactMap { rules[$0].refusal(facts) }
    }

    /// The rules as lists show them.
    ///
    /// - Parameters:
    ///   - vendor: the id of the vendor, with which ids of rules begin.
    ///   - subject: what the rules are about, such as a kind of token.
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
    /// What the list is about, such as a kind of token.
    public let subject: String
    /// The name that findings carry.
    public let check: String
    /// What the rule asks for.
    public let expects: String
    /// Which document says so.
    public let source: String?
    /// Where the rule is known from.
    public let evidence: Evidence
    /// The failures that a broken rule leads to; none for rules that only remark on something.
    public let failures: [String]
}

/// Findings that nobody has made yet.
///
/// An object, since lists of findings are copied about, and what may be any value is costly to copy.
@usableFromInline
protocol UnreadFindings: AnyObject, Sendable {
    /// What each rule found; always the same.
    var findings: [Finding] { get }
    /// Those that were made at once, among them all that failed.
    var explained: [Finding] { get }
    /// An estimate of the memory that is kept for them, in bytes.
    var byteCount: Int { get }
}

/// Rules with the facts that they judged, whose findings are made when somebody reads them, but for those of a refused call
/// that what is not kept may explain.
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

    /// The token is kept as it came and once more decoded.
    @usableFromInline var byteCount: Int {
        MemoryLayout<Facts>.size + 128 + MemoryLayout<Finding>.stride * explained.capacity
            + (facts.compact.map { 512 + 2 * $0.bytes.count } ?? 0)
    }
}
