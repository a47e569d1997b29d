/// A rule that asks nothing but a token, as a value: its name, what it expects, who says so, and its one judgement.
public struct TokenCheck: Sendable {
    /// Judges a token; `nil` where the rule has nothing to do with it.
    ///
    /// What was found is told only where there is a finding to tell it: `finding?.found = …` does nothing otherwise, not
    /// even work out what it would say.
    public typealias Judgement = @Sendable (CompactToken, inout Finding?) -> Finding.Outcome?

    let subject: Finding.Subject
    /// What the rule asks for.
    public let expected: Fact?
    /// Which document says so.
    public let source: String?
    public let judge: Judgement

    init(_ subject: Finding.Subject, expected: Fact?, source: String?, _ judge: @escaping Judgement) {
        (self.subject, self.expected, self.source, self.judge) = (subject, expected, source, judge)
    }

    package init(_ name: String, expected: Fact?, source: String?, _ judge: @escaping Judgement) {
        self.init(.named(name), expected: expected, source: source, judge)
    }

    /// The stable name, which findings carry.
    public var name: String { subject.name }
}

extension CompactToken {
    /// What a check finds in the token; `nil` where it has nothing to do with it.
    public func finding(_ check: TokenCheck) -> Finding? {
        let blank = Finding(check.subject, .notJudged, expected: check.expected, source: check.source)
        var told: Finding? = blank
        guard let outcome = check.judge(self, &told) else { return nil }
        var finding = told ?? blank
        finding.outcome = outcome
        return finding
    }
}
