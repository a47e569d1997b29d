package import JSON

/// A record that describes its form in fixtures and exports once.
package protocol CodedRecord: Sendable {
    init()

    /// Lists the members in writing order; ``RecordCoder`` sets the ones it reads.
    mutating func code(_ coder: inout RecordCoder)
}

extension CodedRecord {
    package func json(_ extent: StateExtent) -> JSON {
        var coder = RecordCoder(writing: extent)
        var record = self
        record.code(&coder)
        return .object(coder.written)
    }

    /// The record as written in an export of changes; `nil` if it notes none.
    package var changes: JSON? {
        var coder = RecordCoder(writing: .changes)
        var record = self
        record.code(&coder)
        return coder.hasChanges ? .object(coder.written) : nil
    }

    /// Whether both would be exported identically, with strings compared by their bytes.
    package func isExported(like other: Self, _ extent: StateExtent) -> Bool { json(extent) == other.json(extent) }

    /// Reads a list of records one by one.
    ///
    /// - Parameter take: takes a record, or returns what is wrong with it.
    package static func read(
        _ list: FixtureNode, _ form: RecordForm, atMost limit: Int = .max, take: (Self) -> String?
    ) throws(FixtureProblem) {
        let names = memberNames(form)
        try list.forEachRecord(atMost: limit) { (node) throws(FixtureProblem) in
            var record = Self()
            try record.read(node, names, form)
            if let complaint = take(record) { throw node.problem(complaint) }
        }
    }

    /// The names of all members allowed in that form.
    static func memberNames(_ form: RecordForm) -> [String] {
        var coder = RecordCoder(listing: form)
        var record = Self()
        record.code(&coder)
        return coder.names
    }

    package mutating func read(_ node: FixtureNode, _ form: RecordForm) throws(FixtureProblem) {
        try read(node, Self.memberNames(form), form)
    }

    /// Reads the node into the record.
    ///
    /// - Parameter prepare: sets values that depend on other data, before the members are read.
    mutating func read(
        _ node: FixtureNode, _ names: [String], _ form: RecordForm,
        prepare: (inout Self, FixtureMapping) throws(FixtureProblem) -> Void = { _, _ in }
    ) throws(FixtureProblem) {
        let mapping = try node.mapping(names)
        try prepare(&self, mapping)
        var coder = RecordCoder(reading: mapping, form)
        code(&coder)
        if let problem = coder.problem { throw problem }
    }
}
