import Emulation
import JSON

/// What calls changed of the content of a sandbox: inboxes, read flags.
struct BloomreachContentState: Sendable {
    init(_ content: BloomreachContent) {}

    /// A customer has become part of another one and is gone.
    mutating func merge(from customer: BloomreachCustomerKey, into other: BloomreachCustomerKey) {}

    /// A customer was removed, or made anonymous.
    mutating func forget(customer: BloomreachCustomerKey) {}

    /// What is remembered, as ``importing(_:_:_:)`` reads it; `nil` for nothing.
    func export(_ extent: StateExtent) -> JSON? { nil }

    /// Reads an export: in the place of this state, or laid over it. Without one, a whole import leaves nothing.
    func importing(
        _ node: FixtureNode?, _ extent: StateExtent, _ content: BloomreachContent
    ) throws(FixtureProblem) -> BloomreachContentState { self }

    /// The state under other fixtures; customers keep their numbers.
    func adopted(by content: BloomreachContent, startedFrom old: BloomreachContent) -> BloomreachContentState { self }
}
