import Emulation
import JSON

struct BloomreachState: Sendable {
    var projects: [String: BloomreachRecords]
    var content: BloomreachContentState

    init(_ accounts: BloomreachAccounts, _ content: BloomreachContent) {
        projects = accounts.customers.mapValues(BloomreachRecords.init(customers:))
        self.content = content.initialState
    }

    var size: StateSize {
        projects.values.reduce(into: StateSize(bytes: content.byteCount)) { $0 += $1.size }
    }

    func customers(of project: BloomreachProject) -> BloomreachCustomerStore {
        projects[project.token]?.customers ?? BloomreachCustomerStore()
    }

    func customer(_ ids: BloomreachIDs, of project: BloomreachProject) -> BloomreachCustomer? {
        projects[project.token]?.customers.customer(ids)
    }

    /// The customer whose inbox the ids name: only customers with a hard id have one, so a cookie does not count
    /// (documented, reference page of the app inbox).
    func inboxOwner(_ ids: BloomreachIDs, in project: BloomreachProject) -> BloomreachCustomerKey? {
        projects[project.token]?.customers.customer(hard: ids)
            .map { BloomreachCustomerKey(project: project.token, number: $0.number) }
    }

    mutating func change<Value>(_ project: String, _ change: (inout BloomreachRecords) -> Value) -> Value {
        change(&projects[project, default: BloomreachRecords()])
    }

    /// Merges a customer into another one and removes the first.
    mutating func merge(_ number: Int, into other: Int, in project: String) {
        change(project) { $0.customers.merge(number, into: other) }
        content.merge(
            from: BloomreachCustomerKey(project: project, number: number),
            into: BloomreachCustomerKey(project: project, number: other))
    }

    mutating func remove(_ customer: BloomreachCustomerKey) {
        change(customer.project) { $0.customers.remove(customer.number) }
        content.forget(customer)
    }

    /// Removes a customer's hard ids, properties and inbox; events and cookies stay (ours).
    mutating func anonymize(_ customer: BloomreachCustomerKey) {
        change(customer.project) { $0.customers.anonymize(customer.number) }
        content.anonymize(customer)
    }

    /// The content of another state, for those of its customers that exist here too.
    ///
    /// Customers are matched by their first id: their numbers may differ under other fixtures.
    func content(of start: BloomreachState) -> BloomreachContentState {
        var numbers: [BloomreachCustomerKey: BloomreachCustomerKey] = [:]
        for (token, records) in start.projects {
            for (old, _, number) in projects[token]?.customers.matches(with: records.customers) ?? [] {
                numbers[BloomreachCustomerKey(project: token, number: old.number)] = number.map {
                    BloomreachCustomerKey(project: token, number: $0)
                }
            }
        }
        return start.content.renumbered { numbers[$0] }
    }
}

struct BloomreachRecords: Sendable {
    var customers = BloomreachCustomerStore()
    private var newestClicks = BloomreachNewest()
    private var newestSelfChecks = BloomreachNewest()

    init(customers: BloomreachCustomerStore = BloomreachCustomerStore()) { self.customers = customers }

    /// Clicks without a customer, as events, oldest first.
    var clicks: [BloomreachEvent] {
        newestClicks.all.enumerated().map { index, click in
            BloomreachEvent(
                type: click["type"]?.string ?? "", timestamp: click["timestamp"]?.number?.double ?? 0,
                properties: click["properties"]?.object ?? [:], sequence: index)
        }
    }

    /// Bodies of self-checks, oldest first.
    var selfChecks: [JSON] { newestSelfChecks.all }

    var isQuiet: Bool { newestClicks.texts.isEmpty && newestSelfChecks.texts.isEmpty }

    /// What calls added; the newest clicks and self-checks count by their bytes only.
    var size: StateSize { customers.size + StateSize(bytes: newestClicks.byteCount + newestSelfChecks.byteCount) }

    mutating func add(click: BloomreachEvent) { newestClicks.append(click.json) }

    mutating func add(selfCheck: JSON) { newestSelfChecks.append(selfCheck) }
}

/// The newest records from requests, kept as text: as values they would take several times the memory.
struct BloomreachNewest: Sendable {
    /// The number of records to keep (ours).
    static let capacity = 1000

    private(set) var texts: [[UInt8]] = []
    private(set) var byteCount = 0

    /// The records, oldest first.
    var all: [JSON] { texts.compactMap(JSON.init(kept:)) }

    mutating func append(_ value: JSON) {
        texts.append(value.bytes)
        byteCount += texts[texts.count - 1].count + 48
        if texts.count > Self.capacity { byteCount -= texts.removeFirst().count + 48 }
    }
}

/// State as JSON. Customers have the same members as in `accounts.yaml`, plus those that only calls change.
extension Bloomreach: RecordedVendor {
    func size(of state: State) -> StateSize { state.size }

    func code(_ state: inout State, _ coder: inout RecordCoder) {
        if coder.isWritingRows { return writeRows(of: &state, &coder) }
        let (extent, current) = (coder.extent ?? .changes, state)
        let projects = coder.elements { exported(current, extent) }
        if extent == .whole, coder.isReading { state.projects = [:] }
        var seen: Set<String> = []
        coder.list("projects", of: BloomreachProjectRecord.self, projects, isRequired: true) { project in
            guard let known = accounts.project(project.token) else {
                let hint = Nearest.hint(to: project.token, among: accounts.projects.map(\.token))
                return "no project has the token \(project.token)\(hint)"
            }
            if !seen.insert(project.token).inserted { return "project \(project.token) occurs twice" }
            let start = initialState.customers(of: known)
            let changes = project.changes(since: start)
            var records = project.records
            records.customers =
                extent == .whole ? start.replaced(by: changes) : state.customers(of: known).with(changes)
            state.projects[project.token] = records
            return nil
        }
        codeContent(of: &state, &coder, since: extent == .whole ? nil : coder.isReading ? current : initialState)
    }

    /// - Parameter start: the state whose content is overlaid, or left out; `nil` for all content.
    private func codeContent(of state: inout State, _ coder: inout RecordCoder, since start: State?) {
        let start = start.map { state.content(of: $0) }
        let known = coder.isReading ? start ?? BloomreachContentState() : state.content
        let record = BloomreachContentRecord(known, since: start, of: state)
        let changes = start == nil ? .some(record.json(.changes)) : record.changes
        let written = coder.isReading ? JSON?.none : changes
        coder.note(isChanged: written != nil)
        var read = record
        coder.member("content", &read, or: record, write: { _ in written ?? .null }) { (node) throws(FixtureProblem) in
            var read = record
            if try !node.json().isNull { try read.read(node, .export(.changes)) }
            return read
        }
        if coder.isReading { state.content = read.content }
    }

    /// Writes the rows of each project, where calls changed it.
    private func writeRows(of state: inout State, _ coder: inout RecordCoder) {
        coder.nested("projects", keys: accounts.projects.map(\.token)) { token, coder in
            let start = initialState.projects[token]?.customers ?? BloomreachCustomerStore()
            state.change(token) { records in
                let changes = records.customers.codeRows(&coder, since: start)
                coder.note(isChanged: !changes.isEmpty(since: start) || !records.isQuiet)
                var record = BloomreachProjectRecord(token, records, changes)
                record.code(&coder)
            }
        }
        var content = BloomreachContentRecord(state.content, since: state.content(of: initialState), of: state)
        coder.nested("content") { content.code(&$0) }
    }

    private func exported(_ state: State, _ extent: StateExtent) -> [JSON] {
        accounts.projects.compactMap { project in
            let records = state.projects[project.token] ?? BloomreachRecords()
            let start = extent == .changes ? initialState.customers(of: project) : BloomreachCustomerStore()
            let changes = BloomreachChanges(of: records.customers, since: start, isExport: true)
            if extent == .changes, changes.isEmpty(since: start), records.isQuiet { return nil }
            return BloomreachProjectRecord(project.token, records, changes).json(extent)
        }
    }

    func adopt(_ state: State, startedFrom old: Bloomreach) -> State {
        var adopted = initialState
        for project in accounts.projects {
            guard let records = state.projects[project.token] else { continue }
            let changes = BloomreachChanges(of: records.customers, since: old.initialState.customers(of: project))
            var fresh = records
            fresh.customers = initialState.customers(of: project).with(changes)
            adopted.projects[project.token] = fresh
        }
        let content = state.content.following(
            adopted.content(of: initialState), insteadOf: adopted.content(of: old.initialState))
        let projects = adopted.projects
        adopted.content = content.renumbered { projects[$0.project]?.customers[$0.number] == nil ? nil : $0 }
        return adopted
    }
}

private struct BloomreachProjectRecord: CodedRecord {
    private(set) var token = ""
    /// All records; when read, the customers are only those in the list.
    private(set) var records = BloomreachRecords()
    private var changes = BloomreachChanges()

    init() {}

    init(_ token: String, _ records: BloomreachRecords, _ changes: BloomreachChanges) {
        (self.token, self.records, self.changes) = (token, records, changes)
    }

    mutating func code(_ coder: inout RecordCoder) {
        coder.member("token", &token)
        // Their rows are written already.
        if !coder.isWritingRows { codeCustomers(&coder) }
        let isPart = coder.extent == .changes
        coder.member("removed", &changes.removed, or: [], write: { isPart ? .array($0.map(\.json)) : JSON?.none }) {
            (node) throws(FixtureProblem) in
            var removed: [BloomreachID] = []
            try node.forEachRecord { (node) throws(FixtureProblem) in removed += try BloomreachID.list(node) }
            return removed
        }
        let clicks = coder.elements { records.clicks.map(\.json) }
        coder.list("clicks", of: BloomreachEvent.self, clicks, atMost: BloomreachNewest.capacity) {
            records.add(click: $0)
            return nil
        }
        let checks = coder.elements { records.selfChecks }
        coder.list("self_checks", checks, atMost: BloomreachNewest.capacity) { (node) throws(FixtureProblem) in
            records.add(selfCheck: .object(try node.jsonObject()))
        }
        coder.member("last_number", &changes.lastNumber, or: 0, in: 0...Ordinal.largest)
        coder.member("last_sequence", &changes.lastSequence, or: 0, in: 0...Ordinal.largest)
    }

    private mutating func codeCustomers(_ coder: inout RecordCoder) {
        let listed = coder.elements { changes.customers.map { $0.customer.record(name: $0.name) } }
        coder.list("customers", of: BloomreachCustomerRecord.self, listed, isRequired: true) { record in
            var number = 0
            if let complaint = records.customers.add(record, as: &number) { return complaint }
            if let customer = records.customers[number] {
                changes.customers.append(BloomreachChanges.Changed(customer: customer, name: record.name))
            }
            return nil
        }
    }

    /// The records read, as changes to the fixtures.
    func changes(since start: BloomreachCustomerStore) -> BloomreachChanges {
        let customers = records.customers
        var changes = changes
        changes.customers.sort { $0.customer.number < $1.customer.number }
        changes.lastNumber = max(customers.lastNumber, changes.lastNumber, start.lastNumber)
        changes.lastSequence = max(customers.lastSequence, changes.lastSequence)
        return changes
    }
}

/// The changes that calls made to a project's customers from the fixtures.
///
/// Applied to customers of other fixtures, they give the state as if the calls had run on those. A fixture customer is
/// matched by its first id; numbers already issued stay, since sync tokens contain them.
struct BloomreachChanges: Sendable {
    struct Changed: Sendable {
        let customer: BloomreachCustomer
        /// The customer's first id in the fixtures; `nil` if a call created the customer.
        let name: BloomreachID?
    }

    /// Customers created or changed by calls, by number.
    var customers: [Changed] = []
    /// The first ids of removed fixture customers.
    var removed: [BloomreachID] = []
    /// The numbers of unchanged fixture customers.
    var numbers: [BloomreachID: Int] = [:]
    var lastNumber = 0
    var lastSequence = 0

    init() {}

    /// The changes since `start`.
    ///
    /// - Parameters:
    ///   - isExport: an export lists no numbers of unchanged customers, so another number than in the fixtures counts
    ///     as a change.
    ///   - withCreated: whether customers are listed that calls created.
    init(
        of current: BloomreachCustomerStore, since start: BloomreachCustomerStore, isExport: Bool = false,
        withCreated: Bool = true
    ) {
        (lastNumber, lastSequence) = (current.lastNumber, current.lastSequence)
        var claimed: Set<Int> = []
        for (old, name, number) in current.matches(with: start) {
            guard let number, let customer = current[number] else {
                removed.append(name)
                continue
            }
            claimed.insert(number)
            if customer == old.numbered(number), !isExport || number == old.number {
                numbers[name] = number
            } else {
                customers.append(Changed(customer: customer, name: name))
            }
        }
        if withCreated {
            customers += current.all.filter { !claimed.contains($0.number) }.map { Changed(customer: $0, name: nil) }
        }
        customers.sort { $0.customer.number < $1.customer.number }
    }

    func isEmpty(since start: BloomreachCustomerStore) -> Bool {
        customers.isEmpty && removed.isEmpty && lastNumber == start.lastNumber && lastSequence == start.lastSequence
    }
}

extension BloomreachCustomerStore {
    /// The customers with the changes applied. If both claim an id, the changes win.
    func with(_ changes: BloomreachChanges) -> BloomreachCustomerStore {
        let replaced = Set(changes.removed + changes.customers.compactMap(\.name))
        var taken = Set(changes.customers.map(\.customer.number)).union(changes.numbers.values)
        var fresh = max(lastNumber, changes.lastNumber)
        var (customers, renumbered): (BloomreachCustomerStore, [BloomreachCustomer]) = (self, [])
        for customer in all {
            guard customer.name.map({ !replaced.contains($0) }) ?? true else {
                customers.remove(customer.number)
                continue
            }
            var number = customer.number
            if let known = customer.name.flatMap({ changes.numbers[$0] }) {
                number = known
            } else if !taken.insert(number).inserted {
                fresh = Ordinal.free(after: fresh, taken.contains)
                number = fresh
                taken.insert(number)
            }
            if number == customer.number { continue }
            customers.remove(customer.number)
            renumbered.append(customer.numbered(number))
        }
        for customer in renumbered + changes.customers.map(\.customer) { customers.put(customer) }
        customers.count(from: fresh, max(lastSequence, changes.lastSequence))
        return customers
    }

    /// The customers of a whole export, without any others.
    func replaced(by whole: BloomreachChanges) -> BloomreachCustomerStore {
        var customers = self
        customers.removeAll()
        for changed in whole.customers { customers.put(changed.customer) }
        customers.count(from: whole.lastNumber, whole.lastSequence)
        return customers
    }
}
