public import Tokens

/// Findings in order: single ones, and whole lists that are kept as they came, since many exchanges may share them.
///
/// They are strung together when somebody reads them.
public struct FindingList: Sendable {
    @usableFromInline
    enum Entry: Sendable {
        case one(Finding)
        case several([Finding])
    }

    @usableFromInline var entries: [Entry] = []

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
            }
        }
        return all
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
    }

    /// Room for what an exchange usually has, instead of growing again and again.
    @inlinable
    mutating func makeRoom() {
        if entries.isEmpty { entries.reserveCapacity(12) }
    }

    /// An estimate of the memory that the list keeps, in bytes; shared lists count in full.
    var byteCount: Int {
        entries.reduce(MemoryLayout<Entry>.stride * entries.capacity) { sum, entry in
            switch entry {
            case .one: sum
            case .several(let findings): sum + MemoryLayout<Finding>.stride * findings.capacity
            }
        }
    }
}
