public import Tokens

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

    /// Creates an empty list.
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
