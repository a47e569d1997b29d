public import JSON

/// One check of a token and its outcome.
///
/// Cheap to create: names and sources are literals, expected and found are values. A server makes ten of these per
/// request, so text is rendered only when read.
public struct Finding: Sendable, Hashable {
    public enum Outcome: String, Sendable, Hashable {
        /// The token satisfies the rule.
        case passed
        /// The token violates the rule.
        case failed
        /// Worth a remark, but no reason to reject.
        case noted
        /// The rule's input is missing, such as an absent claim or an unreadable payload.
        case notJudged = "not-judged"
    }

    /// What was checked; names with a variable part are composed only when read.
    enum Subject: Sendable, Hashable {
        case named(String)
        case headerMember(String, Rule)
        case claim(String, Rule)

        var name: String {
            switch self {
            case .named(let name): name
            case .headerMember(let name, let rule): "header-\(name)-\(rule.rawValue)"
            case .claim(let name, let rule): "claim-\(name)-\(rule.rawValue)"
            }
        }
    }

    /// What is required of a member.
    enum Rule: String, Sendable, Hashable {
        case present
        case equals
    }

    private let subject: Subject

    public var outcome: Outcome
    /// What the rule requires.
    public var expected: Fact?
    public var found: Fact?
    /// A sentence for people: why it matters, what to do.
    public var note: String?
    /// The document that states the rule.
    public var source: String?

    /// A check with that name, in kebab-case.
    public init(
        _ check: String, _ outcome: Outcome, expected: Fact? = nil, found: Fact? = nil, note: String? = nil,
        source: String? = nil
    ) {
        self.init(.named(check), outcome, expected: expected, found: found, note: note, source: source)
    }

    init(
        _ subject: Subject, _ outcome: Outcome, expected: Fact? = nil, found: Fact? = nil, note: String? = nil,
        source: String? = nil
    ) {
        self.subject = subject
        self.outcome = outcome
        self.expected = expected
        self.found = found
        self.note = note
        self.source = source
    }

    init(
        _ subject: Subject, expected: Fact? = nil, source: String?, _ judge: (inout Finding?) -> Outcome
    ) {
        let blank = Finding(subject, .notJudged, expected: expected, source: source)
        var told: Finding? = blank
        let outcome = judge(&told)
        self = told ?? blank
        self.outcome = outcome
    }

    /// The stable name of the check, in kebab-case except for member names: `parts`, `claim-exp-present`.
    public var check: String { subject.name }

    /// The same finding with a failure turned into a remark, for rules that a vendor states but does not enforce.
    public var noted: Finding {
        var finding = self
        if outcome == .failed { finding.outcome = .noted }
        return finding
    }

    /// What a remark says, in one line: its note, or what was found.
    package var remark: String {
        "\(check): \(note ?? found.map { "found \($0)" } ?? outcome.rawValue)"
    }

    /// The same finding with a note that explains it.
    ///
    /// People read a failure's note as its reason; a separate remark is seen only by those who open the list of
    /// findings.
    public func because(_ note: String) -> Finding {
        Finding(subject, outcome, expected: expected, found: found, note: note, source: source)
    }

    /// The finding for programs; members without a value are omitted.
    public var json: JSON {
        var object: JSONObject = ["check": .string(check), "outcome": .string(outcome.rawValue)]
        let (expected, found) = outcome == .failed ? Fact.toldApart(expected, found) : (expected, found)
        object["expected"] = expected?.json
        object["found"] = found?.json
        object["note"] = note.map(JSON.string)
        object["source"] = source.map(JSON.string)
        return .object(object)
    }
}

extension Finding: CustomStringConvertible {
    public var description: String {
        var text = "\(check): "
        let (expected, found) = outcome == .failed ? Fact.toldApart(expected, found) : (expected, found)
        // A failure is shown alone in a log line, so its sentence starts with what was found.
        if outcome != .failed { text += outcome.rawValue + (expected == nil && found == nil ? "" : ", ") }
        text += [found.map { "found \($0)" }, expected.map { "expected \($0)" }].compactMap(\.self).joined(
            separator: "; ")
        if outcome == .failed, expected == nil, found == nil { text += "failed" }
        if let note { text += ". \(note)" }
        if let source { text += " [\(source)]" }
        return text
    }
}
