public import JSON
public import Tokens

// Short forms of rules: most consist of a name, a sentence, a source, a failure and one comparison.

extension TokenRule {
    /// Creates a rule that expects what a sentence says, and causes one failure.
    @inlinable
    public init(
        _ check: String, _ expected: String, _ source: String, _ evidence: Evidence = .documented,
        orFail failure: Facts.Failure, _ judgement: @escaping Judgement
    ) {
        self.init(
            check, expects: .text(expected), source: source, evidence, orFail: failure, judgement)
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
