public import Tokens

/// Findings that are not created yet.
///
/// A class, since lists of findings are copied around, and existentials are expensive to copy.
@usableFromInline
protocol UnreadFindings: AnyObject, Sendable {
    /// The findings of all rules; always the same.
    var findings: [Finding] { get }
    var hasRemarks: Bool { get }
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

    @usableFromInline var hasRemarks: Bool { outcomes.noted != 0 }

    /// The token is kept as it came and in decoded form.
    @usableFromInline var byteCount: Int {
        MemoryLayout<Facts>.size + 128 + MemoryLayout<Finding>.stride * explained.capacity
            + (facts.compact.map { 512 + 2 * $0.bytes.count } ?? 0)
    }
}
