public import JSON
public import Tokens

/// Every check made for an exchange, and the failure of the first one that did not hold.
///
/// A vendor records its checks in the order in which its server decides. So the first failed finding determines the
/// answer, and the rest is additional information for the journal.
///
/// Inlinable, so that a vendor's own target compiles the walk over its rules for its own facts.
public struct Findings<Failure: VendorFailure>: Sendable {
    @usableFromInline var list: FindingList
    @usableFromInline var first: Failure?
    @usableFromInline var parameters: JSONObject = [:]

    /// The findings in the order of the vendor's checks.
    public var all: [Finding] { list.all }
    /// The failure that the first failed finding leads to; `nil` while every check held.
    @inlinable public var failure: Failure? { first }
    /// That failure with the body parameters that its finding provided.
    @inlinable public var refusal: Refusal<Failure>? { first.map { Refusal($0, parameters) } }

    /// Creates empty findings.
    @inlinable
    public init() {
        list = FindingList()
    }

    /// Records a finding; if it failed and is the first to fail, `failure` is the answer.
    @inlinable
    public mutating func add(_ finding: consuming Finding, orFail failure: Failure) {
        if finding.outcome == .failed, first == nil { first = failure }
        list.append(finding)
    }

    /// Records a finding that also provides the body parameters of its failure, in case it is the first to fail.
    @inlinable
    public mutating func add(
        _ finding: consuming Finding, orFail failure: Failure, with parameters: @autoclosure () -> JSONObject
    ) {
        if finding.outcome == .failed, first == nil { (first, self.parameters) = (failure, parameters()) }
        list.append(finding)
    }

    /// Records several findings that lead to the same failure.
    @inlinable
    public mutating func add(_ findings: [Finding], orFail failure: Failure) {
        // By index: a search with a closure would copy every finding it visits.
        if first == nil, findings.indices.contains(where: { findings[$0].outcome == .failed }) { first = failure }
        list.append(findings)
    }

    /// Walks a list of rules and records each outcome.
    ///
    /// Findings are created on reading, except those that explain a refusal: the data behind them is not kept.
    @inlinable
    public mutating func judge<Facts>(
        _ facts: consuming Facts, by list: RuleList<Facts>
    ) where Facts.Failure == Failure {
        let outcomes = list.outcomes(on: &facts)
        record(facts, outcomes, by: list)
    }

    @inlinable
    public mutating func record<Facts>(
        _ facts: consuming Facts, _ outcomes: RuleOutcomes, by list: RuleList<Facts>
    ) where Facts.Failure == Failure {
        if first == nil, let place = outcomes.firstFailure, let refusal = list.rules[place].refusal(facts) {
            (first, parameters) = (refusal.failure, refusal.parameters)
        }
        self.list.append(UnreadRules(list, facts, outcomes))
    }

    /// Records a remark that cannot fail.
    @inlinable
    public mutating func note(_ finding: consuming Finding) {
        list.append(finding)
    }

    /// Records remarks, whatever their outcomes.
    public mutating func note(_ findings: [Finding]) {
        if !findings.isEmpty { list.append(findings) }
    }

    /// Drops everything recorded after that list, for a handler that runs again.
    @inlinable
    mutating func rewind(to earlier: FindingList) {
        list = earlier
        // A handler runs only when nothing has failed before it.
        (first, parameters) = (nil, [:])
    }
}
