package import JSON

/// A record of a sandbox, as a store holds it.
package struct StateRow: Sendable, Hashable {
    package struct Name: Sendable, Hashable {
        /// The list that it belongs to, such as `state/VENDOR/users`.
        package let part: String
        /// Its name in the list; empty for a part that is no list, such as the clock.
        package let key: String

        package init(part: String, key: String = "") { (self.part, self.key) = (part, key) }
    }

    package let name: Name
    /// Its place in the list. Overwriting a row keeps its place.
    package var rank: Int
    package let document: [UInt8]

    package init(_ name: Name, rank: Int = 0, document: [UInt8]) {
        (self.name, self.rank, self.document) = (name, rank, document)
    }
}

/// What has changed in a sandbox since it was last written.
package struct StateRows: Sendable {
    /// Whether all earlier rows are deleted first.
    package var isAnew = false
    /// The lists whose earlier rows are all deleted first.
    package var emptied: [String] = []
    package var removed: [StateRow.Name] = []
    /// The rows to insert, or to write over those of the same name.
    package var written: [StateRow] = []

    package init() {}

    var count: Int { emptied.count + removed.count + written.count }
    package var isEmpty: Bool { !isAnew && emptied.isEmpty && removed.isEmpty && written.isEmpty }

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

/// What a store has of a sandbox, where no record tracks it: what was last written of each list that is no table, and
/// of each part that is no list.
package struct StateLedger: Sendable {
    fileprivate struct Entry: Sendable {
        let key: String
        let hash: Int
    }

    fileprivate var lists: [String: [Entry]] = [:]
    fileprivate var singles: [StateRow.Name: Int] = [:]
    fileprivate var lastRank = 0
    /// Whether the store has these rows and no others. If not, all of them are rewritten.
    package fileprivate(set) var isTrue = true

    package init(_ rows: [StateRow] = []) {
        for row in rows {
            let hash = row.document.hashValue
            if row.name.key.isEmpty {
                singles[row.name] = hash
            } else {
                lists[row.name.part, default: []].append(Entry(key: row.name.key, hash: hash))
            }
            lastRank = max(lastRank, row.rank)
        }
    }

    package mutating func distrust() { isTrue = false }

    /// Whether the store never had a row.
    package var isEmpty: Bool { lastRank == 0 }
}

/// Collects the rows of a sandbox, in one pass over its state.
public final class RowWriter {
    package enum Pass {
        /// Tables begin to note their changes; nothing is written.
        case marking
        case changes
        /// Everything is written, of a copy whose tables note nothing.
        case everything
    }

    let pass: Pass
    package private(set) var rows = StateRows()
    package private(set) var ledger: StateLedger

    package init(_ pass: Pass, _ ledger: StateLedger = StateLedger()) {
        (self.pass, self.ledger) = (pass, ledger)
        if pass == .everything { rows.isAnew = true }
    }

    /// The name of a record in a list; a part that is no list has the empty one. It has no NUL, which databases reject.
    static func key(_ text: some CustomStringConvertible) -> String { ":" + escaped(text.description, "\0", "%00") }

    /// A name as a step of a path.
    static func component(_ key: String) -> String { escaped(key, "/", "%2F") }

    private static func escaped(_ text: String, _ sign: Unicode.Scalar, _ escape: String) -> String {
        guard text.unicodeScalars.contains(where: { $0 == sign || $0 == "%" }) else { return text }
        return text.unicodeScalars.reduce(into: "") { $0 += $1 == sign ? escape : $1 == "%" ? "%25" : String($1) }
    }

    func put(_ name: StateRow.Name, _ document: [UInt8]) {
        ledger.lastRank += 1
        rows.written.append(StateRow(name, rank: ledger.lastRank, document: document))
    }

    func remove(_ name: StateRow.Name) { if pass == .changes { rows.removed.append(name) } }
    func empty(_ part: String) { if pass == .changes { rows.emptied.append(part) } }

    /// From now on the table of that part tracks which of its records have changed.
    func forgetList(_ part: String) { ledger.lists[part] = nil }

    private func hash(of name: StateRow.Name) -> Int? {
        if let hash = ledger.singles[name] { return hash }
        // Read from a store, it could have been a record of a list.
        guard !name.key.isEmpty, let index = ledger.lists[name.part]?.firstIndex(where: { $0.key == name.key }) else {
            return nil
        }
        ledger.singles[name] = ledger.lists[name.part]?.remove(at: index).hash
        return ledger.singles[name]
    }

    /// Writes a part that is no list, if it differs from the stored one; `nil` removes it.
    package func single(_ name: StateRow.Name, _ json: JSON?) {
        let (known, document) = (hash(of: name), json?.bytes)
        if document?.hashValue == known { return }
        ledger.singles[name] = document?.hashValue
        if let document { put(name, document) } else { remove(name) }
    }

    /// Writes a list whose records have no names, if it differs from the stored one.
    ///
    /// Records added at the end or removed anywhere are written or removed one by one; after any other change the whole
    /// list is rewritten.
    package func list(_ part: String, _ elements: [JSON]) {
        let documents = elements.map(\.bytes)
        let (hashes, known) = (documents.map(\.hashValue), ledger.lists[part] ?? [])
        if known.lazy.map({ $0.hash }).elementsEqual(hashes) { return }
        let present = Set(hashes)
        var kept = known.filter { present.contains($0.hash) }
        if kept.lazy.map({ $0.hash }).elementsEqual(hashes.prefix(kept.count)) {
            for gone in known where !present.contains(gone.hash) { remove(StateRow.Name(part: part, key: gone.key)) }
        } else {
            empty(part)
            kept = []
        }
        for (document, hash) in zip(documents, hashes).dropFirst(kept.count) {
            let key = Self.key(ledger.lastRank + 1)
            put(StateRow.Name(part: part, key: key), document)
            kept.append(StateLedger.Entry(key: key, hash: hash))
        }
        ledger.lists[part] = kept
    }

    /// Whether the store has rows, or gets some.
    var hasRows: Bool { !ledger.isEmpty }
}
