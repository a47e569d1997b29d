import Emulation
import JSON

/// The key of a customer in a sandbox, under which content is stored.
struct BloomreachCustomerKey: Sendable, Hashable {
    let project: String
    /// The customer's number in the project, never reused.
    let number: Int
}

struct BloomreachCustomer: Sendable, Hashable, KeyedRecord {
    /// 1, 2, … in fixture order, then in order of creation by calls.
    private(set) var number: Int
    /// Soft ids, oldest first.
    var cookies: [String] = []
    /// Hard ids only; the cookie is never set.
    var ids = BloomreachIDs()
    var properties = JSONObject()
    var events = BloomreachEventLog()

    init(number: Int) { self.number = number }

    /// The maximum number of soft ids (ours); beyond it, the oldest is forgotten.
    static let maximumCookies = 1000

    /// The maximum number of properties per customer, and their maximum size in bytes (ours).
    static let maximumProperties = 1000
    static let maximumPropertyBytes = 256 << 10

    /// Rejects properties if there is no room for them.
    ///
    /// - Throws: ``BloomreachFailure/bodyTooLarge`` (ours: the vendor's own limits are unknown).
    static func checkRoom(for properties: JSONObject, besides customer: BloomreachCustomer?) throws(Bloomreach.Refused)
    {
        // Checked before any merge, which takes time per property.
        guard properties.count <= maximumProperties else {
            throw noRoom(properties.count, JSON.object(properties).bytes.count)
        }
        var count = properties.count + (customer?.properties.count ?? 0)
        var bytes = JSON.object(properties).bytes.count + (customer?.propertyByteCount ?? 0)
        if let customer, count > maximumProperties || bytes > maximumPropertyBytes {
            // Some of them may replace existing ones.
            var changed = customer
            changed.set(properties)
            (count, bytes) = (changed.properties.count, changed.propertyByteCount)
        }
        guard count <= maximumProperties || count <= customer?.properties.count ?? 0,
            bytes <= maximumPropertyBytes || bytes <= customer?.propertyByteCount ?? 0
        else { throw noRoom(count, bytes) }
    }

    private static func noRoom(_ count: Int, _ bytes: Int) -> Bloomreach.Refused {
        Bloomreach.Refused(
            .bodyTooLarge,
            because: "the customer would have \(count) properties of \(bytes) bytes; expected at most "
                + "\(maximumProperties) of \(maximumPropertyBytes)")
    }

    /// Whether only cookies name the customer.
    var isAnonymous: Bool { ids.hard.isEmpty }

    /// The customer's identity across reloads of the fixtures: its first id.
    var name: BloomreachID? { ids.hard.first ?? cookies.first.map(BloomreachID.init(cookie:)) }

    /// All ids: hard ids as texts, the cookies as a list.
    var idsJSON: JSON {
        var object = JSONObject(ids.hard.map { ($0.name, .string($0.value)) })
        object.append(BloomreachID.cookie, .array(cookies.map(JSON.string)))
        return .object(object)
    }

    /// The length of ids and properties as text.
    var recordByteCount: Int {
        let idBytes = ids.hard.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count }
        return cookies.reduce(idBytes + propertyByteCount) { $0 + $1.utf8.count }
    }

    /// The length of the properties, cached.
    private(set) var propertyByteCount = 0

    /// Sets properties by key; null is a value like any other (ours).
    mutating func set(_ changes: JSONObject) {
        guard !changes.isEmpty else { return }
        var members = properties.map { ($0.name, $0.value) }
        // By hash table: both lists may have the maximum length.
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
    }

    /// Adopts the properties of a customer merged into this one: existing values win, and others are added while there
    /// is room (ours).
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

    mutating func take(away id: BloomreachID) {
        if id.name == BloomreachID.cookie {
            cookies.removeAll { $0.hasSameBytes(as: id.value) }
        } else {
            ids.remove(id.name)
        }
    }

    func numbered(_ number: Int) -> BloomreachCustomer {
        var customer = self
        customer.number = number
        return customer
    }

    mutating func removeProperties() {
        properties = JSONObject()
        propertyByteCount = 0
    }

    /// The customer in the form that ``BloomreachCustomerStore/add(_:as:)`` reads.
    ///
    /// - Parameter name: its first id in the fixtures, if it has one and it matters.
    func record(name: BloomreachID? = nil) -> JSON {
        BloomreachCustomerRecord(
            number: number, ids: ids.hard, cookies: cookies, properties: properties,
            events: events.entries.map(\.event), name: name
        ).json(.changes)
    }

    var key: Int { number }
    var names: [BloomreachID] { ids.hard + cookies.map(BloomreachID.init(cookie:)) }
    /// As measured: a property takes about four times its text, an id has its place in two tables.
    var memory: Int {
        320 + recordByteCount + 3 * propertyByteCount + 192 * (cookies.count + ids.hard.count) + events.byteCount
    }
    static var keyOrder: ((Int, Int) -> Bool)? { { $0 < $1 } }

    func isSame(as other: BloomreachCustomer) -> Bool { self == other }
}

/// One id of a customer: a name and a value, compared byte by byte.
struct BloomreachID: Sendable, Hashable {
    /// The soft id; a customer has many.
    static let cookie = "cookie"
    /// The hard id that every project has.
    static let registered = "registered"

    @ExactText var name: String
    @ExactText var value: String

    var json: JSON { .object([name: .string(value)]) }
}

/// The ids by which a request or a token names a customer, without nulls and empty values.
struct BloomreachIDs: Sendable, Hashable {
    /// The maximum number of hard ids in a request, a token or a customer (ours).
    static let maximum = 50

    var cookie: String?
    /// The hard ids, `registered` first, the others ordered by name.
    private(set) var hard: [BloomreachID] = []

    init() {}

    /// A soft id, and hard ids in any order; if a name repeats, the last value wins.
    init(cookie: String? = nil, hard: [BloomreachID]) {
        self.cookie = cookie
        for id in hard { set(id) }
    }

    /// Why an object is not a valid map of ids.
    struct Fault: Error { let text: String }

    /// Reads a map of ids: name to string. Nulls and empty strings are dropped.
    init(_ value: JSON) throws(Fault) {
        guard let object = value.object else {
            throw Fault(text: "a JSON \(value.typeName), not an object of id names with texts")
        }
        if let name = object.duplicateNames.first {
            throw Fault(text: "the name \(name.prefix(100)) occurs twice; expected each once")
        }
        for member in object {
            if member.value.isNull { continue }
            guard let text = member.value.string else {
                throw Fault(text: "\(member.name.prefix(100)) is a JSON \(member.value.typeName), not a string")
            }
            if text.isEmpty || member.name.isEmpty { continue }
            if member.name.hasSameBytes(as: BloomreachID.cookie) {
                cookie = text
            } else {
                guard hard.count < Self.maximum else {
                    throw Fault(text: "found more ids; expected at most \(Self.maximum)")
                }
                set(BloomreachID(name: member.name, value: text))
            }
        }
    }

    var isEmpty: Bool { cookie == nil && hard.isEmpty }

    subscript(name: String) -> String? { hard.first { $0.name.hasSameBytes(as: name) }?.value }

    var names: [String] { (cookie == nil ? [] : [BloomreachID.cookie]) + hard.map(\.name) }

    func containsAll(of others: BloomreachIDs) -> Bool {
        others.cookie.map { cookie?.hasSameBytes(as: $0) == true } ?? true
            && others.hard.allSatisfy { self[$0.name]?.hasSameBytes(as: $0.value) == true }
    }

    /// The first of other hard ids that has another value here.
    func other(than others: BloomreachIDs) -> BloomreachID? {
        others.hard.first { id in self[id.name].map { !$0.hasSameBytes(as: id.value) } ?? false }
    }

    mutating func set(_ id: BloomreachID) {
        hard.removeAll { $0.name.hasSameBytes(as: id.name) }
        let place = hard.firstIndex { Self.comes(id.name, before: $0.name) } ?? hard.endIndex
        hard.insert(id, at: place)
    }

    mutating func remove(_ name: String) { hard.removeAll { $0.name.hasSameBytes(as: name) } }

    private static func comes(_ name: String, before other: String) -> Bool {
        if name == BloomreachID.registered { return true }
        if other == BloomreachID.registered { return false }
        return name.utf8.lexicographicallyPrecedes(other.utf8)
    }

    var json: JSON {
        var object = JSONObject(hard.map { ($0.name, .string($0.value)) })
        if let cookie { object.append(BloomreachID.cookie, .string(cookie)) }
        return .object(object)
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

extension RecordCoder {
    /// An object as a client sent it; empty if absent.
    mutating func object(_ name: String, _ value: inout JSONObject) {
        member(name, &value, or: [:], write: { .object($0) }) { (node) throws(FixtureProblem) in try node.jsonObject() }
    }
}

extension BloomreachID {
    init(cookie: String) { self.init(name: Self.cookie, value: cookie) }

    /// Reads one id of a customer, such as `{ registered: "…" }`.
    init(naming node: FixtureNode) throws(FixtureProblem) {
        let members = try node.members()
        guard let (name, value) = members.first, members.count == 1 else {
            throw node.problem("expected one id of the customer, such as { registered: \"…\" }")
        }
        self.init(name: name, value: try value.string())
    }

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
