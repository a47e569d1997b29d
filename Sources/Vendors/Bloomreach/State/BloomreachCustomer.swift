import Emulation
import JSON

/// Where a customer is found in a sandbox, and what content is kept by.
struct BloomreachCustomerKey: Sendable, Hashable {
    /// The token of the project.
    let project: String
    /// The customer's number in it, which is never given out twice.
    let number: Int
}

/// A customer of a project.
struct BloomreachCustomer: Sendable, Hashable {
    /// 1, 2, … in the order of the fixtures, then in the order in which calls made them.
    private(set) var number: Int
    /// Soft ids, the oldest first.
    var cookies: [String] = [] {
        didSet { cookieByteCount = cookies.reduce(0) { $0 + $1.utf8.count } }
    }
    /// Hard ids, and no cookie.
    var ids = BloomreachIDs() {
        didSet { idByteCount = ids.hard.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count } }
    }
    var properties = JSONObject()
    var events = BloomreachEventLog()

    init(number: Int) { self.number = number }

    /// The most soft ids that are kept (ours); beyond, the oldest is forgotten.
    static let maximumCookies = 1000

    /// The most properties of a customer, and the most bytes that they may take (ours).
    static let maximumProperties = 1000
    static let maximumPropertyBytes = 256 << 10

    /// Refuses properties for which there is no room.
    ///
    /// - Throws: ``BloomreachFailure/bodyTooLarge`` (ours: nothing is known of the vendor's own limits).
    static func checkRoom(
        for properties: JSONObject, besides customer: BloomreachCustomer?
    ) throws(BloomreachRefusal) {
        // Before anything is laid over anything: that takes time for each.
        guard properties.count <= maximumProperties else {
            throw noRoom(properties.count, JSON.object(properties).bytes.count)
        }
        var count = properties.count + (customer?.properties.count ?? 0)
        var bytes = JSON.object(properties).bytes.count + (customer?.propertyByteCount ?? 0)
        if let customer, count > maximumProperties || bytes > maximumPropertyBytes {
            // Some of them may take the place of others.
            var changed = customer
            changed.set(properties)
            (count, bytes) = (changed.properties.count, changed.propertyByteCount)
        }
        guard count <= maximumProperties || count <= customer?.properties.count ?? 0,
            bytes <= maximumPropertyBytes || bytes <= customer?.propertyByteCount ?? 0
        else {
            throw noRoom(count, bytes)
        }
    }

    private static func noRoom(_ count: Int, _ bytes: Int) -> BloomreachRefusal {
        Refusal(
            .bodyTooLarge,
            because:
                "the customer would have \(count) properties of \(bytes) bytes; expected at most \(maximumProperties) of \(maximumPropertyBytes)"
        )
    }

    /// Whether nothing but cookies names the customer.
    var isAnonymous: Bool { ids.hard.isEmpty }

    /// What the customer is called between two readings of the fixtures: its first id.
    var name: BloomreachID? {
        ids.hard.first ?? cookies.first.map { BloomreachID(name: BloomreachID.cookie, value: $0) }
    }

    /// All ids: hard ones as texts, and the cookies as a list.
    var idsJSON: JSON {
        var object = JSONObject(ids.hard.map { ($0.name, .string($0.value)) })
        object.append(BloomreachID.cookie, .array(cookies.map(JSON.string)))
        return .object(object)
    }

    /// Roughly the memory that the customer takes, as it was measured: the record and its places in tables, ids with theirs
    /// there, properties as values, events packed.
    var byteCount: Int {
        Self.placeByteCount + idMemory + propertyMemory + events.byteCount
    }

    /// The record itself, and its place in the table of customers, which is half empty when it has just grown.
    private static let placeByteCount = 320
    /// An id in its list and in the table of owners.
    private static let idPlaceByteCount = 192

    private var idMemory: Int {
        cookieByteCount + idByteCount + (cookies.count + ids.hard.count) * Self.idPlaceByteCount
    }

    /// The length of ids and properties as text.
    var recordByteCount: Int { cookieByteCount + idByteCount + propertyByteCount }

    private var cookieByteCount = 0
    private var idByteCount = 0

    /// The length of the properties, kept so that it need not be counted again.
    private(set) var propertyByteCount = 0
    /// What the properties take in memory.
    private var propertyMemory = 0

    /// Sets properties key by key; null is a value like others (ours).
    mutating func set(_ changes: JSONObject) {
        guard !changes.isEmpty else { return }
        var members = properties.map { ($0.name, $0.value) }
        // By table: each may be as many as there can be.
        var places: [ExactText: Int] = [:]
        for (place, member) in members.enumerated() { places[ExactText(member.0)] = place }
        for change in changes {
            if let place = places[ExactText(change.name)] {
                members[place].1 = change.value
            } else {
                places[ExactText(change.name)] = members.count
                members.append((change.name, change.value))
            }
        }
        properties = JSONObject(members)
        propertyByteCount = JSON.object(properties).bytes.count
        propertyMemory = properties.heapByteCount
    }

    /// Takes the properties of a customer who becomes part of this one: its own win, and of the others there are as many
    /// as there is room for (ours).
    mutating func adopt(_ others: JSONObject) {
        let own = Set(properties.map { ExactText($0.name) })
        var count = properties.count
        var bytes = propertyByteCount
        let taken = others.filter { member in
            guard !own.contains(ExactText(member.name)), count < Self.maximumProperties else { return false }
            let size = JSON.object([member.name: member.value]).bytes.count
            guard bytes + size <= Self.maximumPropertyBytes else { return false }
            count += 1
            bytes += size
            return true
        }
        set(JSONObject(taken.map { ($0.name, $0.value) }))
    }

    /// Takes an id from the customer.
    mutating func take(away id: BloomreachID) {
        if id.name == BloomreachID.cookie {
            cookies.removeAll { $0.hasSameBytes(as: id.value) }
        } else {
            ids.remove(id.name)
        }
    }

    /// The same customer under another number.
    func numbered(_ number: Int) -> BloomreachCustomer {
        var customer = self
        customer.number = number
        return customer
    }

    /// Removes all properties.
    mutating func removeProperties() {
        properties = JSONObject()
        (propertyByteCount, propertyMemory) = (0, 0)
    }
}

extension BloomreachCustomer: KeyedRecord {
    var key: Int { number }
    var names: [BloomreachID] { ids.hard + cookies.map(BloomreachID.init(cookie:)) }
    var memory: Int { byteCount }
    static var keyOrder: ((Int, Int) -> Bool)? { { $0 < $1 } }

    func isSame(as other: BloomreachCustomer) -> Bool { self == other }
}
