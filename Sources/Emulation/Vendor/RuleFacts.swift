public import Tokens

/// The input of a vendor's rules: a token, what is known of its sender, the moment, switches.
///
/// While nothing fails, the journal keeps these facts instead of findings, and derives the findings on reading.
public protocol RuleFacts: Sendable {
    /// The failures of broken rules.
    associatedtype Failure: VendorFailure
    /// The token; `nil` when none was presented.
    var compact: CompactToken? { get }
    /// The field `Authorization` of the request; `nil` when there is no request, or the rules ignore the field.
    var bearer: BearerToken? { get }
    /// Drops data that only explains failures, so that a journal does not keep old states and requests alive.
    mutating func dropExplanations()
}

extension RuleFacts {
    /// By default, there is no request.
    public var bearer: BearerToken? { nil }

    /// By default, there is nothing large to drop.
    @inlinable
    public mutating func dropExplanations() {}
}
