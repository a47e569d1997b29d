package import JSON

package enum RecordForm: Sendable {
    /// The vendor's fixtures, which contain secrets and refer to files beside them.
    case fixture(VendorFixtures)
    /// An action at that moment; the record has the members of a fixture.
    case order(Moment)
    case export(StateExtent)

    /// How much of a state is exported; `nil` for fixtures and actions.
    package var extent: StateExtent? { if case .export(let extent) = self { extent } else { nil } }
}

/// Reads or writes a record, member by member: one description serves both, so that what is written can be read.
///
/// After the first problem, nothing more is read; a description continues with what it has and need not check.
package struct RecordCoder {
    private enum Work {
        /// Collects the names of members, so that any other can be refused.
        case listing
        case reading(FixtureMapping)
        case writing
        /// Writes what has changed, row by row.
        case rows(RowWriter)
    }

    private let work: Work
    private let row: StateRow.Name
    package let form: RecordForm
    private var object = JSONObject()
    private var lastNames: [String] = []
    private(set) var names: [String] = []
    private(set) var problem: FixtureProblem?
    /// Whether anything was written that differs from the fixtures.
    private(set) var hasChanges = false

    private init(_ work: Work, _ form: RecordForm, at row: StateRow.Name = StateRow.Name(part: "")) {
        (self.work, self.form, self.row) = (work, form, row)
    }

    init(listing form: RecordForm) { self.init(.listing, form) }
    init(reading mapping: FixtureMapping, _ form: RecordForm) { self.init(.reading(mapping), form) }
    init(writing extent: StateExtent) { self.init(.writing, .export(extent)) }
    init(writing rows: RowWriter, at row: StateRow.Name) { self.init(.rows(rows), .export(.changes), at: row) }

    /// Whether it is reading, without a problem so far.
    package var isReading: Bool { if case .reading = work { problem == nil } else { false } }

    /// How much of a state is exported; `nil` for fixtures and actions.
    package var extent: StateExtent? { form.extent }

    /// Writes these members after all others, in this order.
    package mutating func writesLast(_ names: String...) { lastNames = names }

    var written: JSONObject {
        var written = object
        for name in lastNames {
            guard let value = written[name] else { continue }
            written[name] = nil
            written.append(name, value)
        }
        return written
    }

    // MARK: - Members

    /// A member of any kind; required when it has no default.
    ///
    /// - Parameter write: returns the member; `nil` omits it.
    package mutating func member<Value>(
        _ name: String, _ value: inout Value, or standard: Value?, write: (Value) -> JSON?,
        read: (FixtureNode) throws(FixtureProblem) -> Value
    ) {
        switch work {
        case .listing: names.append(name)
        case .writing: if let json = write(value) { object.append(name, json) }
        case .rows(let writer):
            if writer.pass != .marking, let json = write(value) { object.append(name, json) }
        case .reading(let mapping):
            guard problem == nil else { return }
            do throws(FixtureProblem) {
                if let node = mapping[name] {
                    value = try read(node)
                } else if let standard {
                    value = standard
                } else {
                    _ = try mapping.required(name)
                }
            } catch {
                problem = error
            }
        }
    }

    /// A member that is always written, and required when it has no default.
    package mutating func member<Value: RecordValue>(_ name: String, _ value: inout Value, or standard: Value? = nil) {
        member(name, &value, or: standard, write: { $0.written }, read: Value.read)
    }

    /// A member that is omitted when it has its default value.
    package mutating func member<Value: RecordValue & Equatable>(
        _ name: String, _ value: inout Value, omitting standard: Value
    ) {
        // A plain nil would become a null.
        member(name, &value, or: standard, write: { $0 == standard ? JSON?.none : $0.written }, read: Value.read)
    }

    package mutating func member<Value: RecordValue>(_ name: String, _ value: inout Value?) {
        member(name, &value, or: .some(nil), write: { $0?.written }, read: Value.read)
    }

    /// A member that an export includes only when it must contain secrets.
    package mutating func secret<Value: RecordValue>(_ name: String, _ value: inout Value?) {
        let isShown = extent != .whole
        member(name, &value, or: .some(nil), write: { isShown ? $0?.written : nil }, read: Value.read)
    }

    /// When something ends, which may be after the clock's range.
    package mutating func end(_ name: String, _ value: inout Moment) {
        member(name, &value, or: nil, write: { $0.written }) { (node) throws(FixtureProblem) in try node.keptMoment() }
    }

    /// When something ends that may be without end.
    package mutating func end(_ name: String, _ value: inout Moment?) {
        member(name, &value, or: .some(nil), write: { $0?.written }) { (node) throws(FixtureProblem) in
            try node.keptMoment()
        }
    }

    package mutating func member(
        _ name: String, _ value: inout Int, or standard: Int? = nil, in range: ClosedRange<Int>
    ) {
        member(name, &value, or: standard, write: { JSON($0) }) { (node) throws(FixtureProblem) in
            try node.int(in: range)
        }
    }

    /// A whole number in a range, which may be missing.
    package mutating func member(_ name: String, _ value: inout Int?, in range: ClosedRange<Int>) {
        member(name, &value, or: .some(nil), write: { $0?.written }) { (node) throws(FixtureProblem) in
            try node.int(in: range)
        }
    }

    // MARK: - Lists

    /// Elements of a list, created only when writing.
    package func elements(_ elements: () -> [JSON]) -> [JSON] {
        switch work {
        case .writing: elements()
        case .rows(let writer): writer.pass == .marking ? [] : elements()
        case .listing, .reading: []
        }
    }

    /// A list whose elements are independent records: an unreadable one does not affect the others.
    package mutating func list(
        _ name: String, _ elements: [JSON], isRequired: Bool = false, atMost limit: Int = .max,
        read: (FixtureNode) throws(FixtureProblem) -> Void
    ) {
        list(name, elements, isRequired) { (node) throws(FixtureProblem) in
            try node.forEachRecord(atMost: limit, read)
        }
    }

    private mutating func list(
        _ name: String, _ elements: [JSON], _ isRequired: Bool, read: (FixtureNode) throws(FixtureProblem) -> Void
    ) {
        if !elements.isEmpty { hasChanges = true }
        var nothing: Void = ()
        let rows = rowWriter
        if let rows, rows.pass != .marking { rows.list(part(name), elements) }
        member(
            name, &nothing, or: isRequired ? nil : .some(()), write: { .array(rows == nil ? elements : []) }, read: read
        )
    }

    /// A list of records that are taken one by one.
    ///
    /// - Parameter take: takes a record, or returns what is wrong with it.
    package mutating func list<Record: CodedRecord>(
        _ name: String, of type: Record.Type, _ elements: [JSON], isRequired: Bool = false, atMost limit: Int = .max,
        take: (Record) -> String?
    ) {
        let form = form
        list(name, elements, isRequired) { (node) throws(FixtureProblem) in
            try Record.read(node, form, atMost: limit, take: take)
        }
    }

    /// A list of records; if it is optional and absent, it reads as empty.
    ///
    /// - Parameter complaint: what is wrong with a record, given those before it.
    package mutating func list<Record: CodedRecord>(
        _ name: String, _ records: inout [Record], isRequired: Bool = false, atMost limit: Int = .max,
        complaint: (Record) -> String? = { _ in nil }
    ) {
        var read: [Record] = []
        let elements = self.elements { records.map { $0.json(extent ?? .changes) } }
        list(name, of: Record.self, elements, isRequired: isRequired, atMost: limit) { record in
            if let complaint = complaint(record) { return complaint }
            read.append(record)
            return nil
        }
        if isReading { records = read }
    }

    // MARK: - Checks

    /// Refuses the record being read unless a condition holds.
    package mutating func check(_ isRight: @autoclosure () -> Bool, or complaint: @autoclosure () -> String) {
        check(isRight() ? nil : complaint())
    }

    /// Refuses the record being read if there is a complaint about it.
    package mutating func check(_ complaint: @autoclosure () -> String?) {
        guard isReading, case .reading(let mapping) = work, let complaint = complaint() else { return }
        problem = mapping.node.problem(complaint)
    }

    /// Works on the mapping being read; problems are reported at its position.
    package mutating func reading(_ body: (FixtureMapping) throws(FixtureProblem) -> Void) {
        guard isReading, case .reading(let mapping) = work else { return }
        do throws(FixtureProblem) { try body(mapping) } catch { problem = error }
    }

    /// Notes that a state differs from the fixtures, though no record says so.
    package mutating func note(isChanged: Bool) { if isChanged { hasChanges = true } }
}

// MARK: - Rows

extension RecordCoder {
    private var rowWriter: RowWriter? { if case .rows(let writer) = work { writer } else { nil } }

    private func part(_ name: String) -> String {
        let (part, key) = (row.part, row.key)
        return (key.isEmpty ? part : "\(part)/\(RowWriter.component(key))") + "/" + name
    }

    /// Whether rows are written: large records of lists are then written by ``nested(_:keys:_:)``.
    package var isWritingRows: Bool { rowWriter != nil }

    /// The rows of an object that has lists; only while rows are written.
    package mutating func nested(_ name: String, _ code: (inout RecordCoder) -> Void) {
        object.append(name, .null)
        nested(StateRow.Name(part: part(name)), code)
    }

    /// The rows of the records in a list that have lists themselves; only while rows are written.
    package mutating func nested(_ name: String, keys: [String], _ code: (String, inout RecordCoder) -> Void) {
        object.append(name, [])
        for key in keys { nested(StateRow.Name(part: part(name), key: RowWriter.key(key))) { code(key, &$0) } }
    }

    private mutating func nested(_ row: StateRow.Name, _ code: (inout RecordCoder) -> Void) {
        guard let rowWriter else { return }
        var coder = RecordCoder(writing: rowWriter, at: row)
        code(&coder)
        if coder.finishRows() { hasChanges = true }
    }

    /// Writes what is in no list.
    ///
    /// - Returns: whether there is anything.
    @discardableResult
    mutating func finishRows() -> Bool {
        guard let rowWriter, rowWriter.pass != .marking else { return false }
        rowWriter.single(row, hasChanges ? .object(written) : nil)
        return hasChanges
    }

    /// The records of a table that differ from the fixtures, row by row; only while rows are written.
    package mutating func rows<Record: KeyedRecord>(
        _ name: String, _ table: inout RecordTable<Record>, write: (Record) -> JSON
    ) {
        guard let rowWriter else { return }
        let part = part(name)
        func put(_ record: Record) {
            rowWriter.put(StateRow.Name(part: part, key: RowWriter.key(record.key)), write(record).bytes)
        }
        if rowWriter.pass == .marking {
            rowWriter.forgetList(part)
            return table.follow()
        }
        object.append(name, [])
        if table.hasChanged { hasChanges = true }
        guard rowWriter.pass == .changes, let trail = table.takeTrail() else {
            // A table that replaced another one.
            rowWriter.empty(part)
            if rowWriter.pass == .changes { table.follow() }
            return table.changed.forEach(put)
        }
        for key in trail.keys {
            let record = table.changed(key)
            if record == nil || trail.removed.contains(key) {
                rowWriter.remove(StateRow.Name(part: part, key: RowWriter.key(key)))
            }
            if let record { put(record) }
        }
    }
}

/// A record that describes its form in fixtures and exports once.
package protocol CodedRecord: Sendable {
    init()

    /// Lists the members in writing order; ``RecordCoder`` sets the ones it reads.
    mutating func code(_ coder: inout RecordCoder)
}

extension CodedRecord {
    /// The record as written in an export of that extent.
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
