import Emulation
import JSON

/// The customers of one project in one sandbox.
struct BloomreachCustomers: Sendable {
    /// The most customers of a project in a sandbox (ours); beyond, those that calls made first are forgotten.
    static let capacity = 50_000
    /// The most bytes of memory that a project's customers may take in a sandbox, events included (ours); beyond, those that
    /// calls made first are forgotten. What counts is ``BloomreachCustomer/byteCount``, which follows what was measured.
    static let maximumBytes = 512 << 20

    private(set) var byNumber: [Int: BloomreachCustomer] = [:]
    private var owners: [BloomreachID: Int] = [:]
    private(set) var eventTypes = BloomreachEventTypes()
    /// Numbers of customers whom calls made, the oldest first.
    private(set) var made = ArrivalOrder<Int>()
    /// The number of the customer that was made last.
    private(set) var lastNumber = 0
    /// The place of the event that came last.
    private(set) var lastSequence = 0
    /// Roughly the memory that the customers take.
    private(set) var byteCount = 0
    /// What had to make room.
    private(set) var forgotten = BloomreachForgotten()

    /// No customers.
    init() {}

    // MARK: - Finding

    /// All customers, by number.
    var all: [BloomreachCustomer] { byNumber.keys.sorted().compactMap { byNumber[$0] } }

    /// The customer of that number.
    subscript(number: Int) -> BloomreachCustomer? { byNumber[number] }

    /// The number of the customer who owns an id.
    func owner(of id: BloomreachID) -> Int? { owners[id] }

    /// The number of the customer who owns a cookie.
    func owner(ofCookie cookie: String) -> Int? { owners[BloomreachID(name: BloomreachID.cookie, value: cookie)] }

    /// Whom ids name for a reader: by hard ids, `registered` first, else by cookie. Nothing is made or merged.
    func customer(_ ids: BloomreachIDs) -> BloomreachCustomer? {
        customer(hard: ids) ?? ids.cookie.flatMap(owner(ofCookie:)).flatMap { byNumber[$0] }
    }

    /// Whom the hard ids alone name.
    func customer(hard ids: BloomreachIDs) -> BloomreachCustomer? {
        ids.hard.lazy.compactMap { owners[$0] }.first.flatMap { byNumber[$0] }
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
        forget(customer.number)
        for id in customer.ids.hard {
            if let other = owners[id] { change(other) { $0.ids.remove(id.name) } }
        }
        for cookie in customer.cookies {
            let owner = owner(ofCookie: cookie)
            if let owner { change(owner) { $0.cookies.removeAll { $0.hasSameBytes(as: cookie) } } }
        }
        var customer = customer
        customer.events = recoded(customer.events, types)
        byNumber[customer.number] = customer
        byteCount += customer.byteCount
        for id in customer.ids.hard { owners[id] = customer.number }
        for cookie in customer.cookies {
            owners[BloomreachID(name: BloomreachID.cookie, value: cookie)] = customer.number
        }
        if !isOfFixtures { made.append(customer.number) }
        count(from: customer.number, lastSequence)
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
        forgotten.events = max(earlier.events, byNumber.values.reduce(0) { $0 + $1.events.forgottenCount })
    }

    /// Has numbers and places of events count on from there, if they have not come so far.
    mutating func count(from number: Int, _ sequence: Int) {
        lastNumber = max(lastNumber, number)
        lastSequence = max(lastSequence, sequence)
    }

    // MARK: - Changing

    /// The number of the next customer.
    var nextNumber: Int { Ordinal.free(after: lastNumber) { byNumber[$0] != nil } }

    /// Makes a customer who has nothing yet.
    mutating func make(isOfFixtures: Bool = false) -> Int {
        let number = nextNumber
        lastNumber = max(lastNumber, number)
        let customer = BloomreachCustomer(number: number)
        byNumber[number] = customer
        byteCount += customer.byteCount
        if !isOfFixtures { made.append(number) }
        return number
    }

    /// Changes a customer, and keeps count of the memory.
    mutating func change(_ number: Int, _ change: (inout BloomreachCustomer) -> Void) {
        guard let before = byNumber[number].map({ ($0.byteCount, $0.events.forgottenCount) }) else { return }
        // In place: a copy would double the events.
        change(&byNumber[number, default: BloomreachCustomer(number: number)])
        guard let after = byNumber[number].map({ ($0.byteCount, $0.events.forgottenCount) }) else { return }
        byteCount += after.0 - before.0
        forgotten.events = Ordinal.sum(forgotten.events, after.1 - before.1)
    }

    /// Gives a customer hard ids, all in one change.
    mutating func give(_ ids: [BloomreachID], to number: Int) {
        let fresh = ids.filter { owners[$0] != number }
        guard !fresh.isEmpty else { return }
        for id in fresh { owners[id] = number }
        change(number) { customer in
            var ids = customer.ids
            for id in fresh { ids.set(id) }
            customer.ids = ids
        }
    }

    /// Gives a customer a hard id.
    mutating func give(_ id: BloomreachID, to number: Int) { give([id], to: number) }

    /// Gives a customer a cookie, whoever had it before.
    mutating func give(cookie: String, to number: Int) {
        let id = BloomreachID(name: BloomreachID.cookie, value: cookie)
        if let old = owners[id] {
            if old == number { return }
            change(old) { $0.cookies.removeAll { $0.hasSameBytes(as: cookie) } }
        }
        owners[id] = number
        var dropped: String?
        change(number) { customer in
            customer.cookies.append(cookie)
            if customer.cookies.count > BloomreachCustomer.maximumCookies { dropped = customer.cookies.removeFirst() }
        }
        if let dropped { owners[BloomreachID(name: BloomreachID.cookie, value: dropped)] = nil }
    }

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
        guard let gone = byNumber[number] else { return }
        remove(number)
        change(other) { customer in
            customer.adopt(gone.properties)
            customer.events.merge(gone.events)
        }
        // They were counted when they went.
        forgotten.events = max(0, forgotten.events - gone.events.forgottenCount)
        for cookie in gone.cookies { give(cookie: cookie, to: other) }
    }

    /// Removes a customer with all that belongs to it.
    mutating func remove(_ number: Int) {
        forget(number)
        made.remove(number)
    }

    private mutating func forget(_ number: Int) {
        guard let customer = byNumber.removeValue(forKey: number) else { return }
        byteCount -= customer.byteCount
        for id in customer.ids.hard { owners[id] = nil }
        for cookie in customer.cookies { owners[BloomreachID(name: BloomreachID.cookie, value: cookie)] = nil }
    }

    /// Takes hard ids and properties from a customer; events and cookies stay (ours).
    mutating func anonymize(_ number: Int) {
        guard let customer = byNumber[number] else { return }
        for id in customer.ids.hard { owners[id] = nil }
        change(number) {
            $0.ids = BloomreachIDs()
            $0.removeProperties()
        }
    }

    /// Whether a sandbox may keep as much.
    var isWithinBounds: Bool { made.count <= Self.capacity && byteCount <= Self.maximumBytes }

    /// Keeps within the bounds: forgets customers whom calls made, the oldest first, but not that one.
    ///
    /// - Returns: the numbers of those who are gone.
    mutating func shrink(sparing number: Int) -> [Int] {
        guard !isWithinBounds else { return [] }
        var gone: [Int] = []
        // A hundredth at once: taking single elements off the front would move all the others each time.
        let enough = max(1, made.count / 100)
        for candidate in made where candidate != number {
            if gone.count >= enough, byteCount <= Self.maximumBytes { break }
            forgotten.events = Ordinal.sum(forgotten.events, byNumber[candidate]?.events.count ?? 0)
            forget(candidate)
            gone.append(candidate)
        }
        forgotten.customers = Ordinal.sum(forgotten.customers, gone.count)
        for number in gone { made.remove(number) }
        return gone
    }
}
