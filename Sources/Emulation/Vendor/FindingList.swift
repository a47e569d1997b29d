public import Tokens

/// Findings in order: single ones, whole lists that are kept as they came, and those of rules that hold, which are made when
/// somebody reads them.
public struct FindingList: Sendable {
    @usableFromInline
    enum Entry: Sendable {
        case one(Finding)
        case several([Finding])
        case unread(any UnreadFindings)
    }

    @usableFromInline var entries: [Entry] = []
    /// An estimate of the bytes that the entries keep besides themselves.
    @usableFromInline var keptBytes = 0

    /// No findings.
    @inlinable
    public init() {}

    /// The findings, one after another.
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

    /// The first that failed; those that hold are not even made.
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

    /// Adds a finding.
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

    /// Adds findings that are made when somebody reads them.
    @usableFromInline
    mutating func append(_ unread: any UnreadFindings) {
        makeRoom()
        entries.append(.unread(unread))
        keptBytes += unread.byteCount
    }

    /// Room for what an exchange usually has, instead of growing again and again.
    @inlinable
    mutating func makeRoom() {
        if entries.isEmpty { entries.reserveCapacity(4) }
    }

    /// An estimate of the memory that the list keeps, in bytes; shared lists count in full.
    var byteCount: Int { MemoryLayout<Entry>.stride * entries.capacity + keptBytes }
}
