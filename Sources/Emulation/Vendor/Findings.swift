public import JSON
public import Tokens

/// Every check that was made for an exchange, and the failure of the first one that did not hold.
///
/// A vendor records its checks in the order in which its server decides, so the first failed finding is the answer and
/// the rest is what the journal can tell beyond it.
///
/// Inlinable, so that a vendor's own target compiles the walk along its rules for its own facts.
public struct Findings<Failure: VendorFailure>: Sendable {
    @usableFromInline var list: FindingList
    @usableFromInline var first: Failure?
    @usableFromInline var parameters: JSONObject = [:]

    /// The findings in the order of the vendor's checks.
    public var all: [Finding] { list.all }
    /// The failure that the first failed finding leads to; `nil` while every check held.
    @inlinable public var failure: Failure? { first }
    /// That failure with the values that its finding gave for the parameters of its body.
    @inlinable public var refusal: Refusal<Failure>? { first.map { Refusal($0, parameters) } }

    /// No findings yet.
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

    /// Records a finding that, if it is the first to fail, also says what the failure's body declares as parameters.
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
        // By index: a search with a closure copies every finding that it passes.
        if first == nil, findings.indices.contains(where: { findings[$0].outcome == .failed }) { first = failure }
        list.append(findings)
    }

    /// Walks a list of rules and records how each came out.
    ///
    /// Findings are made when somebody reads them, but for those that tell why a call is refused: what explains them is not kept.
    @inlinable
    public mutating func judge<Facts>(
        _ facts: consuming Facts, by list: RuleList<Facts>
    ) where Facts.Failure == Failure {
        let outcomes = list.outcomes(on: &facts)
        record(facts, outcomes, by: list)
    }

    /// Records how rules came out.
    @inlinable
    public mutating func record<Facts>(
        _ facts: consuming Facts, _ outcomes: RuleOutcomes, by list: RuleList<Facts>
    ) where Facts.Failure == Failure {
        if first == nil, let place = outcomes.firstFailure, let refusal = list.rules[place].refusal(facts) {
            (first, parameters) = (refusal.failure, refusal.parameters)
        }
        self.list.append(UnreadRules(list, facts, outcomes))
    }

    /// Records something worth telling that cannot fail.
    @inlinable
    public mutating func note(_ finding: consuming Finding) {
        list.append(finding)
    }

    /// Records what is worth telling, whatever came of it.
    public mutating func note(_ findings: [Finding]) {
        if !findings.isEmpty { list.append(findings) }
    }

    /// Forgets what was recorded since the list was this one, for a handler that runs again.
    @inlinable
    mutating func rewind(to earlier: FindingList) {
        list = earlier
        // A handler runs only when nothing failed before it.
        (first, parameters) = (nil, [:])
    }
}
