/// The outcomes of a list of rules: one bit per rule in each of three sets.
public struct RuleOutcomes: Sendable, Hashable {
    /// ours: the maximum length of a list, checked on its creation.
    package static let mostRules = 64

    /// The rules that had something to say.
    @usableFromInline package internal(set) var told: UInt64 = 0
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
        told |= bit
        switch outcome {
        case .failed: failed |= bit
        case .noted: noted |= bit
        case .passed, .notJudged: break
        }
    }

    /// Takes over the outcomes of these rules.
    @inlinable
    package mutating func take(_ other: RuleOutcomes, of rules: UInt64) {
        told |= other.told & rules
        failed |= other.failed & rules
        noted |= other.noted & rules
    }

    /// The index of the first broken rule.
    @inlinable public var firstFailure: Int? { failed == 0 ? nil : failed.trailingZeroBitCount }
}
