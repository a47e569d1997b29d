package import JSON

/// A record that says once how it stands in fixtures and exports.
package protocol CodedRecord: Sendable {
    /// A record that says nothing yet, to be read into.
    init()

    /// Names the members in the order in which they are written; what ``RecordCoder`` reads is set.
    mutating func code(_ coder: inout RecordCoder)
}

extension CodedRecord {
    /// The record as an export of that extent has it.
    package func json(_ extent: StateExtent) -> JSON {
        var coder = RecordCoder(writing: extent)
        var record = self
        record.code(&coder)
        return .object(coder.written)
    }

    /// Whether both would be exported alike, texts compared by their bytes.
    package func isExported(like other: Self, _ extent: StateExtent) -> Bool { json(extent) == other.json(extent) }

    /// Reads a list of records one after another.
    ///
    /// - Parameter take: takes one, or says what is wrong with it.
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

    /// The names of all members that may stand there.
    static func memberNames(_ form: RecordForm) -> [String] {
        var coder = RecordCoder(listing: form)
        var record = Self()
        record.code(&coder)
        return coder.names
    }

    /// Reads into the record what stands there.
    package mutating func read(_ node: FixtureNode, _ form: RecordForm) throws(FixtureProblem) {
        try read(node, Self.memberNames(form), form)
    }

    /// Reads into the record what stands there.
    ///
    /// - Parameter prepare: sets what follows from elsewhere, before the members are read.
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
