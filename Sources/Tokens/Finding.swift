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

    /// A check with that name; the judgement fills in what it expected and found.
    package init(_ check: String, source: String?, _ judge: (inout Finding?) -> Outcome) {
        var finding: Finding? = Finding(check, .notJudged, source: source)
        let outcome = judge(&finding)
        self = finding ?? Finding(check, .notJudged, source: source)
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
    package var remark: String { "\(check): \(note ?? found.map { "found \($0)" } ?? outcome.rawValue)" }

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
        let (expected, found) = outcome == .failed ? Fact.distinguished(expected, found) : (expected, found)
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
        let (expected, found) = outcome == .failed ? Fact.distinguished(expected, found) : (expected, found)
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

/// What a check expected or found, as a value that becomes text only when read.
///
/// Large cases are indirect, so that findings stay cheap to copy.
public enum Fact: Sendable, Hashable {
    case text(String)
    case json(JSON)
    /// A time in Unix seconds.
    case time(Double)
    /// A later time, in Unix seconds.
    case timeAfter(Double)
    /// That time or an earlier one, in Unix seconds.
    case timeUpTo(Double)
    /// At most that many bytes.
    case bytesUpTo(Int)
    case seconds(Double)
    case count(Int)
    /// One of several texts.
    case anyOf([String])
    case algorithm(Algorithm)
    case algorithms([Algorithm])
    /// Names that are misplaced or repeated.
    case repeated([String])
    case types(ValueTypes)
    indirect case key(KeyKind, id: String?, Algorithm)
    case absent
    /// Nothing, in words that say what is missing: `no Authorization header`.
    case nothing(String)
    case encoding(Base64URL.Fault)
    indirect case syntax(JSONError)
}

extension Fact: CustomStringConvertible {
    /// The fact for people; a time as a number and in RFC 3339.
    public var description: String {
        switch self {
        case .text(let text): text.isEmpty ? "an empty text" : text
        case .json(let value): value.text
        case .time(let seconds): "\(JSONNumber((seconds * 1000).rounded(.down) / 1000)) (\(UnixTime.text(of: seconds)))"
        case .timeAfter(let seconds): "later than \(Fact.time(seconds))"
        case .bytesUpTo(let count): "at most \(count) bytes"
        case .timeUpTo(let seconds): "no later than \(Fact.time(seconds))"
        case .seconds(let seconds): "\(JSONNumber(seconds)) s"
        case .count(let count): String(count)
        case .anyOf(let texts): texts.joined(separator: " or ")
        case .algorithm(let algorithm): algorithm.rawValue
        case .algorithms(let algorithms): algorithms.map(\.rawValue).joined(separator: " or ")
        case .repeated(let names): names.joined(separator: ", ")
        case .types(let types): types.description
        case .key(let kind, let id, let algorithm):
            "\(algorithm.rawValue) by \(kind)" + (id.map { " “\($0)”" } ?? "")
        case .absent: "nothing"
        case .nothing(let words): words
        case .encoding(let fault): fault.description
        case .syntax(let error): error.description
        }
    }

    /// The fact for programs: token values as they are, counts as numbers, lists as arrays, nothing as null, other
    /// facts as text.
    public var json: JSON {
        switch self {
        case .json(let value): value
        case .count(let count): JSON(count)
        case .anyOf(let texts): .array(texts.map(JSON.string))
        case .algorithms(let algorithms): .array(algorithms.map { .string($0.rawValue) })
        case .absent, .nothing: nil
        case .repeated(let names): .array(names.map(JSON.string))
        case .text, .time, .timeAfter, .timeUpTo, .seconds, .bytesUpTo, .encoding, .syntax, .types, .key, .algorithm:
            .string(description)
        }
    }
}

/// A rule that needs only the token, as a value: its name, what it expects, its source, and its judgement.
public struct TokenCheck: Sendable {
    /// Judges a token; `nil` where the rule does not apply.
    ///
    /// What was found is only reported into an existing finding: without one, `finding?.found = …` does not even
    /// evaluate its right side.
    public typealias Judgement = @Sendable (CompactToken, inout Finding?) -> Finding.Outcome?

    let subject: Finding.Subject
    /// What the rule requires.
    public let expected: Fact?
    /// The document that states it.
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
    /// What a check finds in the token; `nil` where it does not apply.
    public func finding(_ check: TokenCheck) -> Finding? {
        let blank = Finding(check.subject, .notJudged, expected: check.expected, source: check.source)
        var judged: Finding? = blank
        guard let outcome = check.judge(self, &judged) else { return nil }
        var finding = judged ?? blank
        finding.outcome = outcome
        return finding
    }
}

/// The outcomes of a list of rules: one bit per rule in each of three sets.
public struct RuleOutcomes: Sendable, Hashable {
    /// ours: the maximum length of a list, checked on its creation.
    package static let mostRules = 64

    /// The rules that applied.
    @usableFromInline package internal(set) var applied: UInt64 = 0
    /// The broken ones.
    @usableFromInline package internal(set) var failed: UInt64 = 0
    /// Those that made a remark.
    @usableFromInline package internal(set) var noted: UInt64 = 0

    /// The rules whose findings are created at once: for a refused call, the broken ones and the remarks, which may say
    /// why.
    @inlinable package var explained: UInt64 { failed == 0 ? 0 : failed | noted }

    /// Creates outcomes without any judgement.
    @inlinable
    public init() {}

    @inlinable
    package static func bit(of place: Int) -> UInt64 { 1 << UInt64(place) }

    /// Notes the outcome of a rule; `nil` if it did not apply.
    @inlinable
    package mutating func note(_ outcome: Finding.Outcome?, _ bit: UInt64) {
        guard let outcome else { return }
        applied |= bit
        switch outcome {
        case .failed: failed |= bit
        case .noted: noted |= bit
        case .passed, .notJudged: break
        }
    }

    /// Takes over the outcomes of these rules.
    @inlinable
    package mutating func take(_ other: RuleOutcomes, of rules: UInt64) {
        applied |= other.applied & rules
        failed |= other.failed & rules
        noted |= other.noted & rules
    }

    /// The index of the first broken rule.
    @inlinable public var firstFailure: Int? { failed == 0 ? nil : failed.trailingZeroBitCount }
}
