import Emulation
import JSON

struct BloomreachCustomerStore: Sendable {
    /// By number, indexed by every id.
    private var table: RecordTable<BloomreachCustomer>
    /// The sequence number of the latest event.
    private(set) var lastSequence = 0

    /// The initial customers, shared by all sandboxes.
    init(fixtures customers: [BloomreachCustomer] = []) { table = RecordTable(fixtures: customers) }

    /// The customers of a project in `accounts.yaml`, numbered in file order; all sandboxes share them.
    init(_ project: FixtureNode, _ fixtures: VendorFixtures) throws(FixtureProblem) {
        self.init()
        guard let list = try project.members().first(where: { $0.name == "customers" })?.value else { return }
        var number = 0
        try BloomreachCustomerRecord.read(list, .fixture(fixtures)) { add($0, as: &number) }
        table = RecordTable(fixtures: table.all)
    }

    var lastNumber: Int { table.lastNumber }

    var size: StateSize { table.size }

    // MARK: - Finding

    var all: [BloomreachCustomer] { table.all }

    subscript(number: Int) -> BloomreachCustomer? { table[number] }

    func owner(of id: BloomreachID) -> Int? { table.key(named: id) }

    func owner(ofCookie cookie: String) -> Int? { owner(of: BloomreachID(cookie: cookie)) }

    /// The customer that ids name for a reader: by hard ids, `registered` first, else by cookie. Changes nothing.
    func customer(_ ids: BloomreachIDs) -> BloomreachCustomer? {
        customer(hard: ids) ?? ids.cookie.flatMap(owner(ofCookie:)).flatMap { table[$0] }
    }

    func customer(hard ids: BloomreachIDs) -> BloomreachCustomer? {
        ids.hard.lazy.compactMap(owner(of:)).first.flatMap { table[$0] }
    }

    // MARK: - Whole records

    /// Replaces the customer with the same number, and takes over its ids from other customers.
    mutating func put(_ customer: BloomreachCustomer) {
        remove(customer.number)
        for id in customer.names { if let other = owner(of: id) { edit(other) { $0.take(away: id) } } }
        lastSequence = customer.events.entries.reduce(lastSequence) { max($0, $1.sequence) }
        table.store(customer)
    }

    /// The fixtures' customers with the numbers they have here, matched by first id; `nil` for a removed one.
    func matches(with start: BloomreachCustomerStore) -> [(old: BloomreachCustomer, name: BloomreachID, number: Int?)] {
        let all = start.all
        var claimed: Set<Int> = []
        // Customers with hard ids first: a cookie may have moved to one of them.
        return (all.filter { !$0.isAnonymous } + all.filter(\.isAnonymous)).compactMap { old in
            old.name.map { name in (old, name, owner(of: name).flatMap { claimed.insert($0).inserted ? $0 : nil }) }
        }
    }

    /// Continues customer numbers and event sequence from here, unless they are already higher.
    mutating func count(from number: Int, _ sequence: Int) {
        table.count(from: number)
        lastSequence = max(lastSequence, sequence)
    }

    // MARK: - Changing

    /// Adds a listed customer, unless its number or an id is already taken.
    ///
    /// - Parameter number: the number it gets.
    /// - Returns: why it was not added.
    mutating func add(_ record: BloomreachCustomerRecord, as number: inout Int) -> String? {
        number = record.number ?? table.nextNumber()
        if table[number] != nil { return "another customer has the number \(number)" }
        var customer = BloomreachCustomer(number: number)
        (customer.ids, customer.cookies) = (BloomreachIDs(hard: record.ids), record.cookies)
        // An anonymized customer may have no ids left, but it has a number.
        if customer.name == nil, record.number == nil { return "a customer needs a hard id or a cookie" }
        if let id = customer.names.first(where: { owner(of: $0) != nil }) {
            return "another customer has the \(id.name) \(id.value)"
        }
        customer.set(record.properties)
        // An event without a sequence follows all earlier ones.
        var last = lastSequence
        for event in record.events {
            last = event.sequence == 0 ? Ordinal.next(after: last) : event.sequence
            lastSequence = max(lastSequence, last)
            customer.events.append(BloomreachEventLog.Entry(event, sequence: last))
        }
        table.store(customer)
        return nil
    }

    /// Writes the rows of customers that differ from `start`, the fixtures' ones.
    ///
    /// - Returns: the changes, without customers that calls created.
    mutating func codeRows(_ coder: inout RecordCoder, since start: BloomreachCustomerStore) -> BloomreachChanges {
        var names: [Int: BloomreachID] = [:]
        let changes = BloomreachChanges(of: self, since: start, isExport: true, withCreated: false)
        for changed in changes.customers { names[changed.customer.number] = changed.name }
        coder.rows("customers", &table) { $0.record(name: names[$0.number]) }
        return changes
    }

    mutating func make() -> Int {
        let number = table.nextNumber()
        table.store(BloomreachCustomer(number: number))
        return number
    }

    /// Changes a customer whose ids stay the same.
    mutating func change(_ number: Int, _ change: (inout BloomreachCustomer) -> Void) { table.change(number, change) }

    /// Changes a customer including its ids.
    private mutating func edit(_ number: Int, _ change: (inout BloomreachCustomer) -> Void) {
        guard var customer = table[number] else { return }
        change(&customer)
        table.store(customer)
    }

    /// Adds hard ids to a customer, all in one change.
    mutating func give(_ ids: [BloomreachID], to number: Int) {
        let fresh = ids.filter { owner(of: $0) != number }
        guard !fresh.isEmpty else { return }
        edit(number) { customer in
            var ids = customer.ids
            for id in fresh { ids.set(id) }
            customer.ids = ids
        }
    }

    /// Adds cookies to a customer and removes them from their previous owners; the oldest are dropped for room.
    mutating func give(cookies: [String], to number: Int) {
        let fresh = cookies.filter { owner(ofCookie: $0) != number }
        guard !fresh.isEmpty else { return }
        for cookie in fresh {
            let id = BloomreachID(cookie: cookie)
            if let old = owner(of: id) { edit(old) { $0.take(away: id) } }
        }
        edit(number) { customer in
            customer.cookies = (customer.cookies + fresh).suffix(BloomreachCustomer.maximumCookies)
        }
    }

    /// Adds a cookie to a customer and removes it from its previous owner.
    mutating func give(cookie: String, to number: Int) { give(cookies: [cookie], to: number) }

    mutating func track(_ event: BloomreachEvent, by number: Int) {
        lastSequence = Ordinal.next(after: lastSequence)
        let entry = BloomreachEventLog.Entry(event, sequence: lastSequence)
        change(number) { $0.events.append(entry) }
    }

    /// Moves a customer's cookies and events to another customer, whose properties win, and removes the first.
    mutating func merge(_ number: Int, into other: Int) {
        guard let gone = table.remove(number) else { return }
        change(other) { customer in
            customer.adopt(gone.properties)
            customer.events.merge(gone.events)
        }
        give(cookies: gone.cookies, to: other)
    }

    mutating func remove(_ number: Int) { table.remove(number) }

    /// Removes a customer's hard ids and properties; events and cookies stay (ours).
    mutating func anonymize(_ number: Int) {
        edit(number) {
            $0.ids = BloomreachIDs()
            $0.removeProperties()
        }
    }

    /// Removes all customers, including those of the fixtures.
    mutating func removeAll() {
        table.removeAll()
        lastSequence = 0
    }
}

/// The changes needed so that one customer owns all ids of a write.
struct BloomreachPlacement {
    /// The customer to write to; `nil` for a new one.
    var customer: Int?
    var merged: Int?
    let ids: BloomreachIDs
}

extension BloomreachCustomerStore {
    /// The customer that ids name for a writer, and what happens to the current owners of the ids; changes nothing yet.
    ///
    /// Source: the vendor's page on tracking, for the cases it describes (a guest who signs in is merged, a guest
    /// without history elsewhere keeps the record); the other cases, and conflicts, are ours.
    func placement(of ids: BloomreachIDs) throws(Bloomreach.Refused) -> BloomreachPlacement {
        let owners = Set(ids.hard.compactMap(owner(of:)))
        try Bloomreach.Refused.require(owners.count < 2, .customerIDsConflict, conflict(of: ids))
        let cookieOwner = ids.cookie.flatMap(owner(ofCookie:)).flatMap { self[$0] }
        if let owner = owners.first {
            let own = self[owner]?.ids ?? BloomreachIDs()
            if let other = own.other(than: ids) {
                throw Bloomreach.Refused(
                    .customerIDsConflict,
                    because: "customer \(owner) (\(name(of: owner))) has \(other.name) \(own[other.name] ?? ""), "
                        + "not \(other.value)")
            }
            try checkRoom(for: ids, owner)
            let isGuest = cookieOwner.map { $0.number != owner && $0.isAnonymous } ?? false
            return BloomreachPlacement(customer: owner, merged: isGuest ? cookieOwner?.number : nil, ids: ids)
        }
        // A customer with another value for one of the ids is a different person on the same device.
        let isSame = cookieOwner.map { $0.ids.other(than: ids) == nil } ?? false
        if let cookieOwner, isSame { try checkRoom(for: ids, cookieOwner.number) }
        return BloomreachPlacement(customer: isSame ? cookieOwner?.number : nil, merged: nil, ids: ids)
    }

    /// Which id names which customer.
    private func conflict(of ids: BloomreachIDs) -> String {
        let owners = ids.hard.compactMap { id in
            owner(of: id).map { "\(id.name) \(id.value) is customer \($0) (\(name(of: $0)))" }
        }
        return "the ids belong to different customers: \(owners.joined(separator: ", ")); expected ids of one customer"
    }

    private func name(of number: Int) -> String {
        guard let name = self[number]?.name else { return "without id" }
        return "\(name.name) \(name.value)"
    }

    /// Rejects ids that would give a customer more than ``BloomreachIDs/maximum`` (ours).
    private func checkRoom(for ids: BloomreachIDs, _ number: Int) throws(Bloomreach.Refused) {
        let own = self[number]?.ids ?? BloomreachIDs()
        let fresh = ids.hard.count { own[$0.name] == nil }
        guard fresh == 0 || own.hard.count + fresh <= BloomreachIDs.maximum else {
            throw .invalidField(
                "customer_ids",
                because: "customer \(number) would have \(own.hard.count + fresh) hard ids; expected at most "
                    + "\(BloomreachIDs.maximum)")
        }
    }
}

extension BloomreachState {
    @discardableResult
    mutating func settle(_ placement: BloomreachPlacement, in project: String) -> Int {
        let number = placement.customer ?? projects[project, default: .init()].customers.make()
        if let merged = placement.merged { merge(merged, into: number, in: project) }
        projects[project, default: .init()].customers.give(placement.ids.hard, to: number)
        if let cookie = placement.ids.cookie {
            projects[project, default: .init()].customers.give(cookie: cookie, to: number)
        }
        return number
    }

    /// - Throws: ``BloomreachFailure/customerIDsConflict``; nothing is stored then.
    mutating func store(
        _ event: BloomreachEvent, of ids: BloomreachIDs, in project: String
    ) throws(Bloomreach.Refused) {
        let number = settle(try projects[project, default: .init()].customers.placement(of: ids), in: project)
        change(project) { $0.customers.track(event, by: number) }
    }

    /// Stores properties for the customer that the ids name; null is a value like any other (ours).
    mutating func store(_ properties: JSONObject, of ids: BloomreachIDs, in project: String) throws(Bloomreach.Refused)
    {
        var placement = try projects[project, default: BloomreachRecords()].customers.placement(of: ids)
        let known = placement.customer.flatMap { projects[project]?.customers[$0] }
        try BloomreachCustomer.checkRoom(for: properties, besides: known)
        let number = placement.customer ?? change(project) { $0.customers.make() }
        // Before merging a guest, whose properties only fill the remaining room.
        if !properties.isEmpty { change(project) { $0.customers.change(number) { $0.set(properties) } } }
        placement.customer = number
        settle(placement, in: project)
    }
}
