public import Tokens

/// Every check that was made for an exchange, and the failure of the first one that did not hold.
///
/// A vendor records its checks in the order in which its server decides, so the first failed finding is the answer and
/// the rest is what the journal can tell beyond it.
public struct Findings<Failure: VendorFailure>: Sendable {
    /// The findings in the order of the vendor's checks.
    public private(set) var all: [Finding] = []
    /// The failure that the first failed finding leads to; `nil` while every check held.
    public private(set) var failure: Failure?

    /// No findings yet.
    public init() {
        all.reserveCapacity(16)
    }

    /// Records a finding; if it failed and is the first to fail, `failure` is the answer.
    public mutating func add(_ finding: Finding, orFail failure: Failure) {
        all.append(finding)
        if finding.outcome == .failed, self.failure == nil { self.failure = failure }
    }

    /// Records several findings that lead to the same failure.
    public mutating func add(_ findings: [Finding], orFail failure: Failure) {
        for finding in findings { add(finding, orFail: failure) }
    }

    /// Records something worth telling that cannot fail.
    public mutating func note(_ finding: Finding) {
        all.append(finding)
    }
}
