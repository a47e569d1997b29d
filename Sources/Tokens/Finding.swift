public import JSON

/// One check of a token and how it came out.
///
/// Cheap to make: names and sources are literals, and what was expected and found is kept as values. Nothing is
/// rendered until somebody reads it, since a server makes ten of these for each of its requests.
public struct Finding: Sendable, Hashable {
    /// How a check came out.
    public enum Outcome: String, Sendable, Hashable {
        /// The token does what the rule asks.
        case passed
        /// The token breaks the rule.
        case failed
        /// Worth a remark, but no reason to refuse.
        case noted
        /// The rule lacks its input, such as a claim that is absent or a payload that cannot be read.
        case notJudged = "not-judged"
    }

    /// What was checked; names with a variable part are put together only when they are read.
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

    /// What was asked of a member.
    enum Rule: String, Sendable, Hashable {
        case present
        case equals
    }

    private let subject: Subject

    /// How it came out.
    public var outcome: Outcome
    /// What the rule asks for.
    public var expected: Fact?
    /// What the token has.
    public var found: Fact?
    /// One sentence for people where a sentence helps: why it matters, what to do.
    public var note: String?
    /// Which document says so.
    public var source: String?

    /// A check of that name, in kebab-case.
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

    /// The finding of a judgement, with what it tells.
    init(
        _ subject: Subject, expected: Fact? = nil, source: String?, _ judge: (inout Finding?) -> Outcome
    ) {
        let blank = Finding(subject, .notJudged, expected: expected, source: source)
        var told: Finding? = blank
        let outcome = judge(&told)
        self = told ?? blank
        self.outcome = outcome
    }

    /// The stable name of the check, in kebab-case around the name of a member: `parts`, `claim-exp-present`.
    public var check: String { subject.name }

    /// The same finding, a failure turned into a remark: for rules that a vendor states but does not enforce.
    public var noted: Finding {
        var finding = self
        if outcome == .failed { finding.outcome = .noted }
        return finding
    }

    /// The same finding, saying why in this sentence: a diagnosis tells more than that a rule is broken.
    ///
    /// A failure with its diagnosis in it is what people read as the reason; a remark next to it is read by those who open
    /// the list of findings.
    public func because(_ note: String) -> Finding {
        Finding(subject, outcome, expected: expected, found: found, note: note, source: source)
    }

    /// The finding for programs; members without a value are left out.
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
    /// The finding in one line for people.
    public var description: String {
        var text = "\(check): "
        let (expected, found) = outcome == .failed ? Fact.toldApart(expected, found) : (expected, found)
        // What fails is read by itself, in a log line: there the sentence begins with what was found.
        if outcome != .failed { text += outcome.rawValue + (expected == nil && found == nil ? "" : ", ") }
        text += [found.map { "found \($0)" }, expected.map { "expected \($0)" }].compactMap(\.self).joined(
            separator: "; ")
        if outcome == .failed, expected == nil, found == nil { text += "failed" }
        if let note { text += ". \(note)" }
        if let source { text += " [\(source)]" }
        return text
    }
}
