package import JSON

/// Where records stand that are read or written.
package enum RecordForm: Sendable {
    /// The vendor's fixtures, which hold secrets and name files beside them.
    case fixture(VendorFixtures)
    case export(StateExtent)

    /// How much of a state is exported; `nil` in fixtures.
    package var extent: StateExtent? { if case .export(let extent) = self { extent } else { nil } }
}

/// Reads a record or writes it, member by member: one description serves both, so that what is written can be read.
///
/// After the first problem nothing more is read; a description goes on with what it has, and need not look.
package struct RecordCoder {
    private enum Work {
        /// The names of members are gathered, so that any other can be refused.
        case listing
        case reading(FixtureMapping)
        case writing
    }

    private let work: Work
    package let form: RecordForm
    private var object = JSONObject()
    private var lastNames: [String] = []
    private(set) var names: [String] = []
    private(set) var problem: FixtureProblem?
    /// Whether anything was written that the fixtures do not give.
    private(set) var hasChanges = false

    init(listing form: RecordForm) { (work, self.form) = (.listing, form) }

    init(reading mapping: FixtureMapping, _ form: RecordForm) { (work, self.form) = (.reading(mapping), form) }

    init(writing extent: StateExtent) { (work, form) = (.writing, .export(extent)) }

    /// Whether something is read just now, and has been right so far.
    package var isReading: Bool { if case .reading = work { problem == nil } else { false } }

    package var extent: StateExtent? { form.extent }

    /// Has members be written behind all others, in this order.
    package mutating func writesLast(_ names: String...) { lastNames = names }

    /// The members that were written.
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

    /// A member of any kind; required where there is no standard.
    ///
    /// - Parameter write: the member; `nil` leaves it out.
    package mutating func member<Value>(
        _ name: String, _ value: inout Value, or standard: Value?, write: (Value) -> JSON?,
        read: (FixtureNode) throws(FixtureProblem) -> Value
    ) {
        switch work {
        case .listing: names.append(name)
        case .writing: if let json = write(value) { object.append(name, json) }
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

    /// A member that is always written, and required where there is no standard.
    package mutating func member<Value: RecordValue>(_ name: String, _ value: inout Value, or standard: Value? = nil) {
        member(name, &value, or: standard, write: { $0.written }, read: Value.read)
    }

    /// A member that is left out where it has its standard value.
    package mutating func member<Value: RecordValue & Equatable>(
        _ name: String, _ value: inout Value, omitting standard: Value
    ) {
        // Not nil alone, which would be a null.
        member(name, &value, or: standard, write: { $0 == standard ? JSON?.none : $0.written }, read: Value.read)
    }

    /// A member that may be absent.
    package mutating func member<Value: RecordValue>(_ name: String, _ value: inout Value?) {
        member(name, &value, or: .some(nil), write: { $0?.written }, read: Value.read)
    }

    /// A member that an export shows only where it must hold secrets.
    package mutating func secret<Value: RecordValue>(_ name: String, _ value: inout Value?) {
        let isShown = extent != .whole
        member(name, &value, or: .some(nil), write: { isShown ? $0?.written : nil }, read: Value.read)
    }

    package mutating func member(
        _ name: String, _ value: inout Int, or standard: Int? = nil, in range: ClosedRange<Int>
    ) {
        member(name, &value, or: standard, write: { JSON($0) }) { (node) throws(FixtureProblem) in
            try node.int(in: range)
        }
    }

    package mutating func member(_ name: String, _ value: inout Int?, in range: ClosedRange<Int>) {
        member(name, &value, or: .some(nil), write: { $0?.written }) { (node) throws(FixtureProblem) in
            try node.int(in: range)
        }
    }

    // MARK: - Lists

    /// Elements of a list, made only where they are written.
    package func elements(_ elements: () -> [JSON]) -> [JSON] { if case .writing = work { elements() } else { [] } }

    /// A list whose elements are records of their own: one that cannot be read costs no other.
    package mutating func list(
        _ name: String, _ elements: [JSON], isRequired: Bool = false, atMost limit: Int = .max,
        read: (FixtureNode) throws(FixtureProblem) -> Void
    ) {
        if !elements.isEmpty { hasChanges = true }
        var nothing: Void = ()
        member(name, &nothing, or: isRequired ? nil : .some(()), write: { .array(elements) }) {
            (node) throws(FixtureProblem) in try node.forEachRecord(atMost: limit, read)
        }
    }

    /// A list of records that are taken one after another.
    ///
    /// - Parameter take: takes one that was read, or says what is wrong with it.
    package mutating func list<Record: CodedRecord>(
        _ name: String, of type: Record.Type, _ elements: [JSON], isRequired: Bool = false, atMost limit: Int = .max,
        take: (Record) -> String?
    ) {
        if !elements.isEmpty { hasChanges = true }
        let form = form
        var nothing: Void = ()
        member(name, &nothing, or: isRequired ? nil : .some(()), write: { .array(elements) }) {
            (node) throws(FixtureProblem) in try Record.read(node, form, atMost: limit, take: take)
        }
    }

    /// A list of records, empty where it may be absent.
    ///
    /// - Parameter complaint: what is wrong with a record among those before it.
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

    /// Refuses the record that is read unless something is so.
    package mutating func check(_ isRight: @autoclosure () -> Bool, or complaint: @autoclosure () -> String) {
        guard isReading, case .reading(let mapping) = work, !isRight() else { return }
        problem = mapping.node.problem(complaint())
    }

    /// Does something with the record that is read, at whose place problems are.
    package mutating func reading(_ body: (FixtureMapping) throws(FixtureProblem) -> Void) {
        guard isReading, case .reading(let mapping) = work else { return }
        do throws(FixtureProblem) {
            try body(mapping)
        } catch {
            problem = error
        }
    }

    /// Notes that a state is not what the fixtures give, though no record says so.
    package mutating func note(isChanged: Bool) { if isChanged { hasChanges = true } }
}
