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

    @inlinable
    public init() { list = FindingList() }

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
    public mutating func note(_ finding: consuming Finding) { list.append(finding) }

    package mutating func note(
        _ check: String, expected: Fact? = nil, found: Fact? = nil, note: String? = nil, source: String? = nil
    ) {
        self.note(Finding(check, .noted, expected: expected, found: found, note: note, source: source))
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

/// Findings in order: single ones, whole lists kept as they are, and those of rules that hold, which are created on
/// reading.
public struct FindingList: Sendable {
    @usableFromInline
    enum Entry: Sendable {
        case one(Finding)
        case several([Finding])
        case unread(any UnreadFindings)
    }

    @usableFromInline var entries: [Entry] = []
    /// An estimate of the bytes that the entries hold besides themselves.
    @usableFromInline var keptBytes = 0

    @inlinable
    public init() {}

    /// The findings in order.
    public var all: [Finding] {
        var all: [Finding] = []
        for entry in entries {
            switch entry {
            case .one(let finding): all.append(finding)
            case .several(let findings): all += findings
            case .unread(let unread): all += unread.findings
            }
        }
        return all
    }

    /// The same with the failures that the rules may cause.
    package var judged: [JudgedFinding] {
        entries.flatMap { entry -> [JudgedFinding] in
            switch entry {
            case .one(let finding): [JudgedFinding(finding: finding, failures: [], token: nil)]
            case .several(let findings): findings.map { JudgedFinding(finding: $0, failures: [], token: nil) }
            case .unread(let unread): unread.judged
            }
        }
    }

    /// The first failed one; findings of rules that hold are not even created.
    public var firstFailed: Finding? {
        for entry in entries {
            let failed: Finding? =
                switch entry {
                case .one(let finding): finding.outcome == .failed ? finding : nil
                case .several(let findings): findings.first { $0.outcome == .failed }
                case .unread(let unread): unread.explained.first { $0.outcome == .failed }
                }
            if let failed { return failed }
        }
        return nil
    }

    /// Those that only remark on something; findings of rules without a remark are not even created.
    var noted: [Finding] {
        entries.flatMap { entry -> [Finding] in
            let candidates =
                switch entry {
                case .one(let finding): [finding]
                case .several(let findings): findings
                case .unread(let unread): unread.hasRemarks ? unread.findings : []
                }
            return candidates.filter { $0.outcome == .noted }
        }
    }

    @inlinable
    public mutating func append(_ finding: consuming Finding) {
        makeRoom()
        entries.append(.one(finding))
    }

    /// Adds findings without copying any of them.
    @inlinable
    public mutating func append(_ findings: [Finding]) {
        makeRoom()
        entries.append(.several(findings))
        keptBytes += MemoryLayout<Finding>.stride * findings.capacity
    }

    /// Adds findings that are created on reading.
    @usableFromInline
    mutating func append(_ unread: any UnreadFindings) {
        makeRoom()
        entries.append(.unread(unread))
        keptBytes += unread.byteCount
    }

    /// Reserves room for a usual exchange, instead of growing repeatedly.
    @inlinable
    mutating func makeRoom() {
        if entries.isEmpty { entries.reserveCapacity(4) }
    }

    /// An estimate of the memory that the list holds, in bytes; shared lists count in full.
    var byteCount: Int { MemoryLayout<Entry>.stride * entries.capacity + keptBytes }
}

/// A finding, the failures that its rule may cause, and the token that was judged.
public struct JudgedFinding: Sendable {
    package var finding: Finding
    package var failures: [String]
    let token: CompactToken?

    @usableFromInline
    init(finding: Finding, failures: [String], token: CompactToken?) {
        (self.finding, self.failures, self.token) = (finding, failures, token)
    }
}

/// What a check needs that only the real server has, when its call is judged here.
public enum OutsideNeed: Sendable {
    /// A record: that it is missing here says nothing about there.
    case record
    /// What happened before: that nothing is remembered here says nothing about there.
    case history
    case key
    /// A setting of the account, where another account stands in for it.
    case account
}

extension JudgedFinding {
    /// Leaves the finding only as far as it holds for the real server, too.
    ///
    /// - Parameters:
    ///   - keys: keys of the real server, by which alone its tokens are then judged.
    ///   - isGenuine: whether the fixtures have the real server's own keys.
    ///   - isStandIn: whether another account stands in for that of the call.
    package mutating func judgeBeyond(
        _ need: OutsideNeed?, _ keys: [VerificationKey], isGenuine: Bool, isStandIn: Bool
    ) {
        switch need {
        // A call that has nothing there names no record at all.
        case .record where finding.outcome == .failed && finding.found != .absent || finding.outcome == .noted:
            leaveOpen("It is not in these fixtures; the real server may have it.")
        case .history where finding.outcome == .passed || finding.outcome == .noted:
            leaveOpen("Only the real server knows what happened before.")
        case .key:
            if let token, finding.outcome != .passed, !keys.isEmpty {
                finding = token.signature(by: keys, like: finding)
            } else if finding.outcome == .failed, !isGenuine || isStandIn, finding.note == CompactToken.strangeKey {
                leaveOpen("No key of the real server is known: --key FILE or --secret-file FILE names one.")
            }
        case .account where isStandIn && finding.outcome != .noted:
            leaveOpen("Only the real server has the settings of this account.")
        case .record, .history, .account, nil: break
        }
    }

    /// Says that it cannot be judged here, and why.
    package mutating func leaveOpen(_ note: String) { (finding.outcome, finding.note) = (.notJudged, note) }
}

extension CompactToken {
    /// The finding of a signature by the first key that fits, or by the last one that the algorithm suits.
    fileprivate func signature(by keys: [VerificationKey], like finding: Finding) -> Finding {
        var judged = finding
        for key in keys {
            guard let algorithm = namedAlgorithm(among: Algorithm.allCases.filter(key.algorithms.contains)) else {
                continue
            }
            let own = signature(by: key, algorithm: algorithm)
            (judged.outcome, judged.expected, judged.found, judged.note) = (
                own.outcome, own.expected, own.found, own.note
            )
            if own.outcome == .passed { break }
        }
        return judged
    }
}

/// Findings that are not created yet.
///
/// A class, since lists of findings are copied around, and existentials are expensive to copy.
@usableFromInline
protocol UnreadFindings: AnyObject, Sendable {
    /// The findings of all rules; always the same.
    var findings: [Finding] { get }
    /// The same with the failures that the rules may cause.
    var judged: [JudgedFinding] { get }
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

    @usableFromInline var judged: [JudgedFinding] { list.judged(on: facts, outcomes, explained: explained) }

    @usableFromInline var hasRemarks: Bool { outcomes.noted != 0 }

    /// The token is kept as it came and in decoded form.
    @usableFromInline var byteCount: Int {
        MemoryLayout<Facts>.size + 128 + MemoryLayout<Finding>.stride * explained.capacity
            + (facts.compact.map { 512 + 2 * $0.bytes.count } ?? 0)
    }
}
