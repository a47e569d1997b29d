import Emulation
import JSON

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

/// A customer as in `accounts.yaml`; exports add its number.
struct BloomreachCustomerRecord: CodedRecord {
    var number: Int?
    var ids: [BloomreachID] = []
    var cookies: [String] = []
    var properties = JSONObject()
    var events: [BloomreachEvent] = []
    /// The customer's first id in the fixtures; `nil` if a call created the customer.
    var name: BloomreachID?

    mutating func code(_ coder: inout RecordCoder) {
        coder.member("number", &number, in: 0...Ordinal.largest)
        coder.member("ids", &ids, or: [], write: { BloomreachIDs(hard: $0).json }, read: BloomreachID.list)
        coder.check(ids.count <= BloomreachIDs.maximum, or: "a customer has at most \(BloomreachIDs.maximum) hard ids")
        coder.member("cookies", &cookies, or: [], write: { .array($0.map(JSON.string)) }) {
            (node) throws(FixtureProblem) in
            try node.elements(atMost: BloomreachCustomer.maximumCookies).map { (node) throws(FixtureProblem) in
                try node.id()
            }
        }
        coder.object("properties", &properties)
        coder.list("events", &events)
        coder.member("of", &name, or: .some(nil), write: { $0?.json }) { (node) throws(FixtureProblem) in
            try BloomreachID.list(node).first
        }
    }
}

extension BloomreachCustomer {
    /// The customer in the form that ``BloomreachCustomerStore/add(_:as:)`` reads.
    ///
    /// - Parameter name: its first id in the fixtures, if it has one and it matters.
    func record(name: BloomreachID? = nil) -> JSON {
        BloomreachCustomerRecord(
            number: number, ids: ids.hard, cookies: cookies, properties: properties,
            events: events.entries.map(\.event), name: name
        ).json(.changes)
    }
}

extension RecordCoder {
    /// An object as a client sent it; empty if absent.
    mutating func object(_ name: String, _ value: inout JSONObject) {
        member(name, &value, or: [:], write: { .object($0) }) { (node) throws(FixtureProblem) in try node.jsonObject() }
    }
}

extension BloomreachID {
    init(cookie: String) { self.init(name: Self.cookie, value: cookie) }

    /// Reads ids by name.
    static func list(_ node: FixtureNode) throws(FixtureProblem) -> [BloomreachID] {
        try node.members().map { (id) throws(FixtureProblem) in BloomreachID(name: id.name, value: try id.value.id()) }
    }
}

extension FixtureNode {
    /// A valid number of a customer or an event.
    func ordinal() throws(FixtureProblem) -> Int { try int(in: 0...Ordinal.largest) }

    /// The value of an id: a non-empty text.
    fileprivate func id() throws(FixtureProblem) -> String {
        let text = try string()
        guard !text.isEmpty else { throw problem("an id is a string that is not empty") }
        return text
    }

    /// The object here, as a client sent it.
    func jsonObject() throws(FixtureProblem) -> JSONObject {
        guard let object = try verbatim().object else { throw problem("expected a mapping") }
        return object
    }
}
