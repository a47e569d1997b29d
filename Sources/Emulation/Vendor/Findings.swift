public import Tokens

/// Every check that was made for an exchange, and the failure of the first one that did not hold.
///
/// A vendor records its checks in the order in which its server decides, so the first failed finding is the answer and
/// the rest is what the journal can tell beyond it.
///
/// Inlinable, since a vendor adds some twenty findings to each exchange.
public struct Findings<Failure: VendorFailure>: Sendable {
    @usableFromInline var entries: [Finding]
    @usableFromInline var first: Failure?

    /// The findings in the order of the vendor's checks.
    @inlinable public var all: [Finding] { entries }
    /// The failure that the first failed finding leads to; `nil` while every check held.
    @inlinable public var failure: Failure? { first }

    /// No findings yet.
    @inlinable
    public init() {
        entries = []
        entries.reserveCapacity(32)
    }

    /// Records a finding; if it failed and is the first to fail, `failure` is the answer.
    @inlinable
    public mutating func add(_ finding: consuming Finding, orFail failure: Failure) {
        if finding.outcome == .failed, first == nil { first = failure }
        entries.append(finding)
    }

    /// Records several findings that lead to the same failure.
    @inlinable
    public mutating func add(_ findings: [Finding], orFail failure: Failure) {
        if first == nil, findings.contains(where: { $0.outcome == .failed }) { first = failure }
        entries.append(contentsOf: findings)
    }

    /// Records something worth telling that cannot fail.
    @inlinable
    public mutating func note(_ finding: consuming Finding) {
        entries.append(finding)
    }

    /// Forgets what was recorded behind the first `count` findings, for a handler that runs again.
    @inlinable
    mutating func rewind(to count: Int) {
        entries.removeSubrange(count...)
        // A handler runs only when nothing failed before it.
        first = nil
    }
}
