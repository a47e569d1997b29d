public import JSON

/// The records of a state that could not be read, so that they cost nothing but themselves.
///
/// One reading has it; nobody else sees it meanwhile.
public final class Salvage {
    /// A record that was set aside.
    public struct Part: Sendable, Hashable {
        /// Where it stood, such as `sandboxes[0].state.VENDOR.users[3]`.
        public let path: String
        /// What was found there and what would be right, with the place.
        public let problem: String
        /// The record, as it stood there.
        public let value: JSON
    }

    /// The records, in the order in which they stood.
    public private(set) var parts: [Part] = []

    /// Nothing was set aside yet.
    public init() {}

    func setAside(_ part: Part, insteadOfAllAfter count: Int) {
        parts.removeSubrange(count...)
        parts.append(part)
    }
}
