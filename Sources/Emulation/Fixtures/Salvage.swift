package import JSON

/// The records of a state that could not be read, so that nothing else is lost.
///
/// Each reading has its own; it is not shared.
package final class Salvage {
    /// A record that was set aside.
    package struct Part: Sendable, Hashable {
        /// Where it stood, such as `sandboxes[0].state.VENDOR.users[3]`.
        package let path: String
        /// What was found there and what would be right, with the position.
        package let problem: String
        /// The record, unchanged.
        package let value: JSON

        package init(path: String, problem: String, value: JSON) {
            (self.path, self.problem, self.value) = (path, problem, value)
        }
    }

    /// The records, in their original order.
    package private(set) var parts: [Part] = []

    /// Creates an empty collection.
    package init() {}

    func setAside(_ part: Part, insteadOfAllAfter count: Int) {
        parts.removeSubrange(count...)
        parts.append(part)
    }
}
