/// A record of a sandbox, as a store holds it.
package struct StateRow: Sendable, Hashable {
    /// What tells the rows of a sandbox apart.
    package struct Name: Sendable, Hashable {
        /// The list that it belongs to, such as `okta/users`.
        package let part: String
        /// Its name in the list; empty for whatever is no list, such as the clock.
        package let key: String

        /// Creates a name.
        package init(part: String, key: String = "") { (self.part, self.key) = (part, key) }
    }

    /// The list and the name in it.
    package let name: Name
    /// Its place in the list. What is written over a row leaves the place as it was.
    package var rank: Int
    /// The record as JSON.
    package let document: [UInt8]

    /// Creates a row.
    package init(_ name: Name, rank: Int = 0, document: [UInt8]) {
        (self.name, self.rank, self.document) = (name, rank, document)
    }
}

/// What has changed in a sandbox since it was last written.
package struct StateRows: Sendable {
    /// Whether all earlier rows go first.
    package var isAnew = false
    /// The lists of which all earlier rows go first.
    package var emptied: [String] = []
    /// The rows that go.
    package var removed: [StateRow.Name] = []
    /// The rows that come, or replace those of their names.
    package var written: [StateRow] = []

    /// Creates no change.
    package init() {}

    /// Whether nothing has changed.
    package var isEmpty: Bool { !isAnew && emptied.isEmpty && removed.isEmpty && written.isEmpty }
}
