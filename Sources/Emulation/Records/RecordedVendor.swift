public import JSON
import Synchronization

/// A vendor that describes its state once, as records; export and import follow from that.
package protocol RecordedVendor: Vendor {
    /// Lists the members of the state in export order; what is read overlays the state.
    func code(_ state: inout State, _ coder: inout RecordCoder)

    /// Whether the state may have changed since it was last written, told without a pass over it; by default, always.
    func hasNews(_ state: State) -> Bool
}

extension RecordedVendor {
    package func hasNews(_ state: State) -> Bool { true }

    package func export(_ state: State, _ extent: StateExtent) -> JSON? {
        var coder = RecordCoder(writing: extent)
        var state = state
        code(&state, &coder)
        return extent == .whole || coder.hasChanges ? .object(coder.written) : nil
    }

    package func write(_ state: inout State, to rows: RowWriter) {
        guard rows.pass != .changes || hasNews(state) else {
            // A debug build looks nevertheless, so that every test checks what the vendor says.
            return assert(pass(over: &state, rows) == 0, "\(Self.identity.id) has changed without news of it")
        }
        _ = pass(over: &state, rows)
    }

    /// Writes what has changed, and returns how many rows that is.
    private func pass(over state: inout State, _ rows: RowWriter) -> Int {
        let known = rows.rows.count
        var coder = RecordCoder(writing: rows, at: Self.rowName)
        code(&state, &coder)
        coder.finishRows()
        return rows.rows.count - known
    }

    package func state(
        importing node: FixtureNode, _ extent: StateExtent, over current: State
    ) throws(FixtureProblem) -> State {
        var lister = RecordCoder(listing: .export(extent))
        var state = initialState
        code(&state, &lister)
        var coder = RecordCoder(reading: try node.mapping(lister.names), .export(extent))
        state = current
        code(&state, &coder)
        if let problem = coder.problem { throw problem }
        return state
    }
}

/// How much of a vendor's state a sandbox keeps besides the fixtures.
public struct StateSize: Sendable, Hashable {
    public var records: Int
    /// An estimate, which must be cheap to get.
    public var bytes: Int

    @inlinable
    public init(records: Int = 0, bytes: Int = 0) { (self.records, self.bytes) = (records, bytes) }

    /// The most that a sandbox keeps of each vendor (ours).
    ///
    /// A request that adds to a full state is undone and refused, so that no client can fill the memory: with 413,
    /// which covers more than a server is able to keep (RFC 9110 section 15.5.14). Waiting (429) would not help.
    @inlinable public static var most: StateSize { StateSize(records: 100_000, bytes: 256 << 20) }

    @inlinable public var isFull: Bool { records >= Self.most.records || bytes >= Self.most.bytes }

    @inlinable
    public static func += (sum: inout StateSize, other: StateSize) { sum = sum + other }

    @inlinable
    public static func + (one: StateSize, other: StateSize) -> StateSize {
        StateSize(records: one.records + other.records, bytes: one.bytes + other.bytes)
    }

    @inlinable
    public static func - (one: StateSize, other: StateSize) -> StateSize {
        StateSize(records: one.records - other.records, bytes: one.bytes - other.bytes)
    }
}

/// The bytes of uploaded files in all sandboxes of a server.
@usableFromInline
final class UploadTotal: Sendable {
    /// The most that they keep together (ours); whoever uploads more is refused as by a full sandbox.
    static let most = 128 << 20

    private let count = Atomic(0)

    var bytes: Int { count.load(ordering: .relaxed) }
    @usableFromInline var isFull: Bool { bytes >= Self.most }

    @usableFromInline
    func add(_ bytes: Int) { count.add(bytes, ordering: .relaxed) }
}

extension Vendor {
    @inlinable
    public func size(of state: State) -> StateSize { StateSize() }

    @inlinable
    public func uploads(in state: State) -> Int? { nil }

    /// A copy of a full state, to undo what is added to it; only then, since it makes the next change copy the tables.
    @inlinable
    func fullCopy(of state: State, among uploads: UploadTotal) -> State? {
        size(of: state).isFull || self.uploads(in: state) != nil && uploads.isFull ? state : nil
    }

    /// Undoes what was added to a full state, or to uploads of which there are enough.
    ///
    /// - Returns: why it was undone; `nil` if nothing was added.
    @usableFromInline
    func undo(_ state: inout State, since full: State, among uploads: UploadTotal) -> String? {
        if uploads.isFull, let before = self.uploads(in: full), self.uploads(in: state) ?? 0 > before {
            state = full
            return "the uploads of all sandboxes have \(uploads.bytes) bytes; expected fewer than \(UploadTotal.most) "
                + "before anything is added: delete or reset sandboxes that are no longer used"
        }
        let (before, now) = (size(of: full), size(of: state))
        guard before.isFull, now.records > before.records || now.bytes > before.bytes else { return nil }
        state = full
        let most = StateSize.most
        return "the sandbox keeps \(before.records) records of \(before.bytes) bytes of \(Self.identity.title); "
            + "expected fewer than \(most.records) of \(most.bytes) before anything is added"
    }
}

extension RecordTable {
    /// What requests added to the records of the fixtures.
    @inlinable public var size: StateSize {
        guard !overlay.isEmpty else { return StateSize() }
        return StateSize(records: overlay[0].added.count, bytes: overlay[0].byteCount - base.untouched.byteCount)
    }

    /// The table with the changes of another one, as if they had been made to these fixtures.
    package func with(changesOf other: RecordTable) -> RecordTable {
        var table = self
        for key in other.removed { table.remove(key) }
        for record in other.changed { table.put(record) }
        table.count(from: other.lastNumber)
        return table
    }
}

extension RecordTable where Record: CodedRecord {
    /// Sets the parts of a record that depend on other data, before its own members are read.
    package typealias Preparation = (inout Record, FixtureMapping) throws(FixtureProblem) -> Void

    /// Reads the records of lists as those of one, checked against each other.
    ///
    /// - Parameters:
    ///   - known: records of an earlier state, which supply what a list omits.
    ///   - complaint: what is wrong with a record for the state as a whole.
    package static func list(
        _ nodes: [FixtureNode], _ form: RecordForm, known: RecordTable? = nil, atMost limit: Int = .max,
        prepare: Preparation = { _, _ in }, complaint: (Record) -> String? = { _ in nil }
    ) throws(FixtureProblem) -> [Record] {
        var records: [Record] = []
        var (keys, names): (Set<Key>, Set<Record.Name>) = ([], [])
        let members = Record.memberNames(form)
        for node in nodes {
            try node.forEachRecord(atMost: limit) { (node) throws(FixtureProblem) in
                var record = Record()
                try record.read(node, members, form, prepare: prepare)
                if let complaint = complaint(record) { throw node.problem(complaint) }
                guard !keys.contains(record.key) else { throw node.problem(record.clash(over: nil)) }
                for name in record.names where names.contains(name) { throw node.problem(record.clash(over: name)) }
                keys.insert(record.key)
                names.formUnion(record.names)
                if let known = known?[record.key] { record.keepSecrets(of: known, fromWhole: form.extent == .whole) }
                records.append(record)
            }
        }
        return records
    }
}

extension FixtureMapping {
    /// The records of a list in the accounts, checked against each other.
    ///
    /// - Parameter complaint: what is wrong with a record, given other accounts.
    package func records<Record: KeyedRecord & CodedRecord>(
        _ name: String, _ fixtures: VendorFixtures, prepare: RecordTable<Record>.Preparation = { _, _ in },
        complaint: (Record) -> String? = { _ in nil }
    ) throws(FixtureProblem) -> [Record] {
        try RecordTable.list([try required(name)], .fixture(fixtures), prepare: prepare, complaint: complaint)
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
            try RecordTable.list([node], form, known: known, atMost: limit, prepare: prepare, complaint: complaint)
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
        read: (FixtureNode) throws(FixtureProblem) -> Int = { (node) throws(FixtureProblem) in
            try node.int(in: 0...Ordinal.largest)
        }
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

package protocol RecordValue {
    static func read(_ node: FixtureNode) throws(FixtureProblem) -> Self
    var written: JSON { get }
}

extension String: RecordValue {
    package static func read(_ node: FixtureNode) throws(FixtureProblem) -> String { try node.string() }
    package var written: JSON { .string(self) }
}

extension ExactText: RecordValue {
    package static func read(_ node: FixtureNode) throws(FixtureProblem) -> ExactText { ExactText(try node.string()) }
    package var written: JSON { json }
}

extension Int: RecordValue {
    package static func read(_ node: FixtureNode) throws(FixtureProblem) -> Int { try node.int() }
    package var written: JSON { JSON(self) }
}

/// In quotes: not every JSON reader accepts 64-bit numbers.
extension UInt64: RecordValue {
    package static func read(_ node: FixtureNode) throws(FixtureProblem) -> UInt64 {
        guard let number = UInt64(try node.string()) else {
            throw node.problem("expected a whole number in quotes, such as “12”")
        }
        return number
    }

    package var written: JSON { .string(String(self)) }
}

extension Double: RecordValue {
    package static func read(_ node: FixtureNode) throws(FixtureProblem) -> Double { try node.number() }
    package var written: JSON { .number(JSONNumber(self)) }
}

extension Bool: RecordValue {
    package static func read(_ node: FixtureNode) throws(FixtureProblem) -> Bool { try node.bool() }
    package var written: JSON { .bool(self) }
}

extension Moment: RecordValue {
    package static func read(_ node: FixtureNode) throws(FixtureProblem) -> Moment { try node.moment() }
    /// The Unix seconds, which read back as the same moment.
    package var written: JSON { .number(JSONNumber(unixSeconds)) }
}

extension Array: RecordValue where Element: RecordValue {
    package static func read(_ node: FixtureNode) throws(FixtureProblem) -> [Element] {
        try node.elements().map(Element.read)
    }

    package var written: JSON { .array(map(\.written)) }
}

/// JSON from a client, kept unchanged.
extension JSON: RecordValue {
    package static func read(_ node: FixtureNode) throws(FixtureProblem) -> JSON { try node.verbatim() }
    package var written: JSON { self }
}

/// A record inside another one, with its secrets.
extension RecordValue where Self: CodedRecord {
    package static func read(_ node: FixtureNode) throws(FixtureProblem) -> Self {
        var record = Self()
        try record.read(node, .export(.changes))
        return record
    }

    package var written: JSON { json(.changes) }
}

extension RecordValue where Self: RawRepresentable<String> & CaseIterable {
    package static func read(_ node: FixtureNode) throws(FixtureProblem) -> Self { try node.choice(of: Self.self) }
    package var written: JSON { .string(rawValue) }
}
