package import JSON

/// A record of a sandbox, as a store holds it.
package struct StateRow: Sendable, Hashable {
    /// What tells the rows of a sandbox apart.
    package struct Name: Sendable, Hashable {
        /// The list that it belongs to, such as `state/VENDOR/users`.
        package let part: String
        /// Its name in the list; empty for whatever is no list, such as the clock.
        package let key: String

        package init(part: String, key: String = "") { (self.part, self.key) = (part, key) }
    }

    package let name: Name
    /// Its place in the list. What is written over a row leaves the place as it was.
    package var rank: Int
    package let document: [UInt8]

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

    package init() {}

    package var isEmpty: Bool { !isAnew && emptied.isEmpty && removed.isEmpty && written.isEmpty }

    /// Adds what changed after that.
    package mutating func append(_ later: StateRows) {
        guard !later.isAnew, !isEmpty else {
            self = later
            return
        }
        let (emptied, removed) = (Set(later.emptied), Set(later.removed))
        written.removeAll { emptied.contains($0.name.part) || removed.contains($0.name) }
        self.emptied += later.emptied
        self.removed += later.removed
        var places: [StateRow.Name: Int] = [:]
        for (place, row) in written.enumerated() { places[row.name] = place }
        for row in later.written {
            if let place = places[row.name] {
                written[place] = StateRow(row.name, rank: written[place].rank, document: row.document)
            } else {
                written.append(row)
            }
        }
    }
}

// MARK: - Documents

extension StateRow {
    /// One document of all rows, in which each list is an array and each other part a member.
    ///
    /// - Parameter setAside: receives the rows whose documents are not JSON.
    package static func document(of rows: [StateRow], settingAside setAside: (StateRow) -> Void) -> JSON {
        let root = Branch()
        for row in rows {
            guard let json = try? JSON.parse(row.document, maximumDepth: JSON.keptDepth) else {
                setAside(row)
                continue
            }
            var branch = root
            for step in row.name.part.split(separator: "/") { branch = branch[String(step)] }
            if !row.name.key.isEmpty { branch = branch[RowWriter.component(row.name.key)] }
            branch.json = json
        }
        return root.document
    }

    /// A part of the document while it grows.
    private final class Branch {
        var json: JSON?
        private var names: [String] = []
        private var branches: [String: Branch] = [:]

        subscript(name: String) -> Branch {
            if let branch = branches[name] { return branch }
            let branch = Branch()
            names.append(name)
            branches[name] = branch
            return branch
        }

        var document: JSON {
            guard let first = names.first else { return json ?? [:] }
            // A list's records have names that no member has.
            if first.hasPrefix(RowWriter.key("")) { return .array(names.compactMap { branches[$0]?.document }) }
            var object = json?.object ?? [:]
            for name in names { object[name] = branches[name]?.document }
            return .object(object)
        }
    }
}
