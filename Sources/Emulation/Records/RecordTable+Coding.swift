public import JSON

extension RecordTable where Record: CodedRecord {
    /// Sets the parts of a record that depend on other data, before its own members are read.
    package typealias Preparation = (inout Record, FixtureMapping) throws(FixtureProblem) -> Void

    /// Reads a list of records, checked against each other.
    ///
    /// - Parameters:
    ///   - known: records of an earlier state, which supply what a list omits.
    ///   - complaint: what is wrong with a record for the state as a whole.
    package static func list(
        _ node: FixtureNode, _ form: RecordForm, known: RecordTable? = nil, atMost limit: Int = .max,
        prepare: Preparation = { _, _ in }, complaint: (Record) -> String? = { _ in nil }
    ) throws(FixtureProblem) -> [Record] {
        var records: [Record] = []
        var (keys, names): (Set<Key>, Set<Record.Name>) = ([], [])
        let members = Record.memberNames(form)
        try node.forEachRecord(atMost: limit) { (node) throws(FixtureProblem) in
            var record = Record()
            try record.read(node, members, form, prepare: prepare)
            if let complaint = complaint(record) { throw node.problem(complaint) }
            guard !keys.contains(record.key) else { throw node.problem(record.clash(over: nil)) }
            if let name = record.names.first(where: names.contains) { throw node.problem(record.clash(over: name)) }
            keys.insert(record.key)
            names.formUnion(record.names)
            if let known = known?[record.key] { record.keepSecrets(of: known, leftOutBy: form.extent) }
            records.append(record)
        }
        return records
    }
}

extension RecordCoder {
    /// The records of a table: all, or those that requests added or changed. What is read overlays the table.
    ///
    /// - Parameters:
    ///   - bound: how many records are allowed besides those of the fixtures.
    ///   - read: reads the records of a list, checked against each other; it receives the original table.
    /// - Returns: the keys that were read, in order.
    @discardableResult
    package mutating func table<Record: KeyedRecord>(
        _ name: String, _ table: inout RecordTable<Record>, isRequired: Bool = true, within bound: RecordBound? = nil,
        write: (Record, StateExtent) -> JSON,
        read: (FixtureNode, RecordTable<Record>) throws(FixtureProblem) -> [Record]
    ) -> [Record.Key] {
        let extent = extent ?? .changes
        if isWritingRows {
            rows(name, &table) { write($0, extent) }
            return []
        }
        guard isReading else {
            let elements = self.elements { (extent == .whole ? table.all : table.changed).map { write($0, extent) } }
            list(name, elements) { _ in }
            return []
        }
        var records: [Record] = []
        reading { (mapping) throws(FixtureProblem) in
            let known = table
            if extent == .whole { table.removeAll() }
            guard let node = isRequired ? try mapping.required(name) : mapping[name] else { return }
            records = try read(node, known)
            let made = records.count { !known.isOfFixtures($0.key) }
            if let bound, made > bound.count {
                throw mapping.node.problem(
                    "\(name): \(made) of them are not in the fixtures; at most \(bound.count) are kept")
            }
            for record in records { table.put(record) }
        }
        return records.map { $0.key }
    }

    /// The records of a table, which describe their own reading and writing.
    @discardableResult
    package mutating func table<Record: KeyedRecord & CodedRecord>(
        _ name: String, _ table: inout RecordTable<Record>, isRequired: Bool = true, within bound: RecordBound? = nil,
        atMost limit: Int = .max,
        prepare: RecordTable<Record>.Preparation = { _, _ in }, complaint: (Record) -> String? = { _ in nil }
    ) -> [Record.Key] {
        let form = form
        return self.table(name, &table, isRequired: isRequired, within: bound, write: { $0.json($1) }) {
            (node, known) throws(FixtureProblem) in
            try RecordTable.list(
                node, form, known: known, atMost: limit, prepare: prepare, complaint: complaint)
        }
    }

    /// The keys of fixture records that were removed from a table.
    package mutating func removals<Record: KeyedRecord>(
        _ name: String, _ table: inout RecordTable<Record>, isRequired: Bool = true
    ) where Record.Key: RecordValue {
        var read: [Record.Key] = []
        list(name, elements { table.removed.map(\.written) }, isRequired: isRequired) { (node) throws(FixtureProblem) in
            read.append(try Record.Key.read(node))
        }
        for key in read { table.remove(key) }
    }

    /// The largest number that a table has issued; it keeps the fixtures' numbers from being issued again.
    package mutating func lastNumber<Record: KeyedRecord>(
        _ name: String, _ table: inout RecordTable<Record>, isRequired: Bool = false,
        read: (FixtureNode) throws(FixtureProblem) -> Int
    ) {
        var number = table.lastNumber
        note(isChanged: number != table.untouched.lastNumber)
        member(name, &number, or: isRequired ? nil : 0, write: { $0.written }, read: read)
        if isReading { table.count(from: number) }
    }
}

extension RecordTable where Key == ExactText {
    @inlinable
    public subscript(text: String) -> Record? { self[ExactText(text)] }

    package mutating func remove(_ text: String) { remove(ExactText(text)) }
}
