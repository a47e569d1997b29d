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

    package init() {}

    func setAside(_ part: Part, insteadOfAllAfter count: Int) {
        parts.removeSubrange(count...)
        parts.append(part)
    }
}

/// The elements of a list in a fixture or in JSON; each node is created on demand, since a list may be long.
package struct FixtureElements: RandomAccessCollection, ExpressibleByArrayLiteral {
    private enum Content {
        case yaml([YAMLNode])
        case json([JSON], FixturePath)
        case places([FixtureNode])
    }

    private let file: String
    private let content: Content
    private var salvage: Salvage?

    init(file: String, _ elements: [YAMLNode]) {
        self.file = file
        content = .yaml(elements)
    }

    init(file: String, _ elements: [JSON], at path: FixturePath, _ salvage: Salvage?) {
        self.file = file
        self.salvage = salvage
        content = .json(elements, path)
    }

    package init(arrayLiteral elements: FixtureNode...) {
        file = ""
        content = .places(elements)
    }

    /// The position of the first element.
    package var startIndex: Int { 0 }

    /// The position after the last element.
    package var endIndex: Int {
        switch content {
        case .yaml(let elements): elements.count
        case .json(let elements, _): elements.count
        case .places(let elements): elements.count
        }
    }

    package subscript(position: Int) -> FixtureNode {
        switch content {
        case .yaml(let elements): FixtureNode(file: file, .yaml(elements[position], name: nil))
        case .json(let elements, let path):
            FixtureNode(file: file, .json(elements[position], .element(position, of: path)), salvage)
        case .places(let elements): elements[position]
        }
    }
}
