import Emulation
import JSON

/// The customers of one project in one sandbox.
struct BloomreachCustomerStore: Sendable {
    /// The most customers of a project in a sandbox (ours); beyond, those that calls made first are forgotten.
    static let capacity = 50_000
    /// The most bytes of memory that a project's customers may take in a sandbox, events included (ours); beyond, those that
    /// calls made first are forgotten. What counts is ``BloomreachCustomer/byteCount``, which follows what was measured.
    static let maximumBytes = 512 << 20

    private static let bound = RecordBound(count: capacity, bytes: maximumBytes)

    /// By number, found by all ids.
    private var table: RecordTable<BloomreachCustomer>
    private(set) var eventTypes = BloomreachEventTypes()
    /// The place of the event that came last.
    private(set) var lastSequence = 0
    /// What had to make room.
    private(set) var forgotten = BloomreachForgotten()

    /// The customers that all sandboxes share.
    init(fixtures customers: [BloomreachCustomer] = []) { table = RecordTable(fixtures: customers) }

    /// The customers of a project in `accounts.yaml`, numbered in the order of the file; all sandboxes share them.
    init(_ project: FixtureNode, _ fixtures: VendorFixtures) throws(FixtureProblem) {
        self.init()
        guard let list = try project.members().first(where: { $0.name == "customers" })?.value else { return }
        var number = 0
        try BloomreachCustomerRecord.read(list, .fixture(fixtures)) { add($0, as: &number) }
        table = RecordTable(fixtures: table.all)
    }

    /// The number of the customer that was made last.
    var lastNumber: Int { table.lastNumber }

    /// Roughly the memory that the customers take.
    var byteCount: Int { table.byteCount }

    // MARK: - Finding

    /// All customers, by number.
    var all: [BloomreachCustomer] { table.all }

    /// The customer of that number.
    subscript(number: Int) -> BloomreachCustomer? { table[number] }

    /// The number of the customer who owns an id.
    func owner(of id: BloomreachID) -> Int? { table.key(named: id) }

    /// The number of the customer who owns a cookie.
    func owner(ofCookie cookie: String) -> Int? { owner(of: BloomreachID(cookie: cookie)) }

    /// Whom ids name for a reader: by hard ids, `registered` first, else by cookie. Nothing is made or merged.
    func customer(_ ids: BloomreachIDs) -> BloomreachCustomer? {
        customer(hard: ids) ?? ids.cookie.flatMap(owner(ofCookie:)).flatMap { table[$0] }
    }

    /// Whom the hard ids alone name.
    func customer(hard ids: BloomreachIDs) -> BloomreachCustomer? {
        ids.hard.lazy.compactMap(owner(of:)).first.flatMap { table[$0] }
    }

    /// The events of a customer, in the order of their arrival.
    func events(of customer: BloomreachCustomer) -> some Sequence<BloomreachEvent> {
        customer.events.records.lazy.map { event($0) }
    }

    /// An event as it was tracked.
    func event(_ record: BloomreachEventLog.Record) -> BloomreachEvent {
        // What lies in the log was made of an object when it came.
        let properties = JSON(kept: record.properties)?.object ?? [:]
        return BloomreachEvent(
            type: eventTypes.name(of: record.type), timestamp: record.timestamp, properties: properties,
            sequence: record.sequence)
    }

    // MARK: - Whole records

    /// Puts a customer with all ids in the place of the one of that number; of others it takes the ids.
    ///
    /// - Parameter types: the table by which the customer's events are numbered.
    mutating func put(_ customer: BloomreachCustomer, _ types: BloomreachEventTypes, isOfFixtures: Bool) {
        remove(customer.number)
        for id in customer.names {
            if let other = owner(of: id) { edit(other) { $0.take(away: id) } }
        }
        var customer = customer
        customer.events = recoded(customer.events, types)
        // Where the fixtures have nobody of that number, calls might as well have made the customer.
        if isOfFixtures { table.put(customer) } else { table.store(customer) }
    }

    private mutating func recoded(_ events: BloomreachEventLog, _ types: BloomreachEventTypes) -> BloomreachEventLog {
        var log = BloomreachEventLog(forgotten: events.forgottenCount)
        for record in events.records {
            lastSequence = max(lastSequence, record.sequence)
            log.append(
                type: eventTypes.code(of: types.name(of: record.type)), sequence: record.sequence,
                timestamp: record.timestamp, properties: Array(record.properties))
        }
        return log
    }

    /// Counts what had made room before: as much as is told, and no less than the customers themselves tell.
    mutating func count(_ earlier: BloomreachForgotten) {
        forgotten.customers = earlier.customers
        forgotten.events = max(earlier.events, all.reduce(0) { $0 + $1.events.forgottenCount })
    }

    /// Has numbers and places of events count on from there, if they have not come so far.
    mutating func count(from number: Int, _ sequence: Int) {
        table.count(from: number)
        lastSequence = max(lastSequence, sequence)
    }

    // MARK: - Changing

    /// Adds a customer as it is listed, unless something of it is another one's already.
    ///
    /// - Parameter number: the number that it has then.
    /// - Returns: why it is not added.
    mutating func add(_ record: BloomreachCustomerRecord, as number: inout Int) -> String? {
        number = record.number ?? nextNumber
        if table[number] != nil { return "another customer has the number \(number)" }
        var customer = BloomreachCustomer(number: number)
        (customer.ids, customer.cookies) = (BloomreachIDs(hard: record.ids), record.cookies)
        // Whoever was made anonymous may have no id any more, but has a number.
        if customer.name == nil, record.number == nil { return "a customer needs a hard id or a cookie" }
        if let id = customer.names.first(where: { owner(of: $0) != nil }) {
            return "another customer has the \(id.name) \(id.value)"
        }
        customer.set(record.properties)
        customer.events = BloomreachEventLog(forgotten: record.forgottenEvents)
        // Each behind all that came before unless it says its place.
        var last = lastSequence
        for event in record.events {
            last = event.sequence == 0 ? Ordinal.next(after: last) : event.sequence
            lastSequence = max(lastSequence, last)
            customer.events.append(
                type: eventTypes.code(of: event.type), sequence: last, timestamp: event.timestamp,
                properties: JSON.object(event.properties).bytes)
        }
        table.store(customer)
        return nil
    }

    /// A customer as ``add(_:as:)`` reads it.
    ///
    /// - Parameter name: the first id that the fixtures gave it, if they did and it matters.
    func record(of customer: BloomreachCustomer, name: BloomreachID? = nil) -> JSON {
        BloomreachCustomerRecord(
            number: customer.number, ids: customer.ids.hard, cookies: customer.cookies, properties: customer.properties,
            events: Array(events(of: customer)), forgottenEvents: customer.events.forgottenCount,
            name: name
        ).json(.changes)
    }

    /// The number of the next customer.
    private var nextNumber: Int { table.nextNumber() }

    /// Makes a customer who has nothing yet.
    mutating func make() -> Int {
        let number = nextNumber
        table.store(BloomreachCustomer(number: number))
        return number
    }

    /// Changes a customer whose ids stay, and keeps count of the memory.
    mutating func change(_ number: Int, _ change: (inout BloomreachCustomer) -> Void) {
        let came = table.change(number) { customer in
            let before = customer.events.forgottenCount
            change(&customer)
            return customer.events.forgottenCount - before
        }
        forgotten.events = Ordinal.sum(forgotten.events, came ?? 0)
    }

    /// Changes a customer with its ids.
    private mutating func edit(_ number: Int, _ change: (inout BloomreachCustomer) -> Void) {
        guard var customer = table[number] else { return }
        change(&customer)
        table.store(customer)
    }

    /// Gives a customer hard ids, all in one change.
    mutating func give(_ ids: [BloomreachID], to number: Int) {
        let fresh = ids.filter { owner(of: $0) != number }
        guard !fresh.isEmpty else { return }
        edit(number) { customer in
            var ids = customer.ids
            for id in fresh { ids.set(id) }
            customer.ids = ids
        }
    }

    /// Gives a customer a hard id.
    mutating func give(_ id: BloomreachID, to number: Int) { give([id], to: number) }

    /// Gives a customer cookies, whoever had them before; the oldest make room.
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

    /// Gives a customer a cookie, whoever had it before.
    mutating func give(cookie: String, to number: Int) { give(cookies: [cookie], to: number) }

    /// Adds an event to a customer's.
    mutating func track(_ type: String, _ properties: JSONObject, at timestamp: Double, by number: Int) {
        lastSequence = Ordinal.next(after: lastSequence)
        let (code, sequence) = (eventTypes.code(of: type), lastSequence)
        let bytes = JSON.object(properties).bytes
        change(number) {
            $0.events.append(type: code, sequence: sequence, timestamp: timestamp, properties: bytes)
        }
    }

    /// Moves the cookies and the events of a customer to another one, whose properties win, and removes the first.
    mutating func merge(_ number: Int, into other: Int) {
        guard let gone = table.remove(number) else { return }
        change(other) { customer in
            customer.adopt(gone.properties)
            customer.events.merge(gone.events)
        }
        // They were counted when they went.
        forgotten.events = max(0, forgotten.events - gone.events.forgottenCount)
        give(cookies: gone.cookies, to: other)
    }

    /// Removes a customer with all that belongs to it.
    mutating func remove(_ number: Int) { table.remove(number) }

    /// Takes hard ids and properties from a customer; events and cookies stay (ours).
    mutating func anonymize(_ number: Int) {
        edit(number) {
            $0.ids = BloomreachIDs()
            $0.removeProperties()
        }
    }

    /// Removes all customers, those of the fixtures too, and forgets what had to make room.
    mutating func removeAll() {
        table.removeAll()
        (lastSequence, forgotten) = (0, BloomreachForgotten())
    }

    /// Whether a sandbox may keep as much.
    var isWithinBounds: Bool { table.fits(Self.bound) }

    /// Keeps within the bounds: forgets customers whom calls made, the oldest first, but not that one.
    ///
    /// - Returns: the numbers of those who are gone.
    mutating func shrink(sparing number: Int) -> [Int] {
        let gone = table.shrink(to: Self.bound, sparing: number)
        forgotten.events = Ordinal.sum(forgotten.events, gone.reduce(0) { $0 + $1.events.count })
        forgotten.customers = Ordinal.sum(forgotten.customers, gone.count)
        return gone.map(\.number)
    }
}
