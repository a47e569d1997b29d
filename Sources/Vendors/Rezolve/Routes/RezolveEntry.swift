import Emulation
import HTTPTypes
import JSON

/// An entry of one of a customer's books: phones, addresses, cards.
///
/// Source of the calls: observed, vendor QA tests; reading and replacing a single address or card follow from the SDK's
/// calls, reading a single phone is ours.
protocol RezolveEntry {
    static var noun: String { get }
    /// The failure for a request with an unknown id.
    static var unknown: RezolveFailure { get }
    static var book: WritableKeyPath<RezolveCustomer, [Self]> { get }

    var id: String { get set }
    var json: JSON { get }
    /// Its texts, as far as clients choose them.
    var texts: [String] { get }

    /// Reads what a client sends, except the id.
    ///
    /// - Parameter old: the entry to change, if there is one with that id.
    init(_ body: inout FieldReader, isNew: Bool, over old: Self?, _ switches: RezolveSwitches)

    /// Checks whether the customer may have the entry; returns what to wait for until this is known.
    func check(_ body: JSONObject, _ call: RezolveCall, _ customer: RezolveCustomer) throws(RezolveRefusal) -> Reply?

    /// Checks that no other record of the customer refers to the entry.
    func checkRemoval(from customer: RezolveCustomer) throws(RezolveRefusal)

    static func list(_ entries: [JSON]) -> JSON
}

extension RezolveEntry {
    func check(_: JSONObject, _: RezolveCall, _: RezolveCustomer) throws(RezolveRefusal) -> Reply? { nil }

    func checkRemoval(from _: RezolveCustomer) throws(RezolveRefusal) {}

    /// An estimate of the entry's memory.
    var byteCount: Int { texts.reduce(256) { $0 + $1.utf8.count } }

    static func list(_ entries: [JSON]) -> JSON { .array(entries) }
}

// MARK: - Calls

extension RezolveEntry {
    static func list(_ call: RezolveCall, _ customer: RezolveCustomer) throws(RezolveRefusal) -> Reply {
        .json(list(customer[keyPath: book].map(\.json)))
    }

    static func create(_ call: inout RezolveCall, _ customer: inout RezolveCustomer) throws(RezolveRefusal) -> Reply {
        let body = try call.body()
        var entry = try body.read { Self(&$0, isNew: true, over: nil, call.switches) }
        if let wait = try entry.check(body.object, call, customer) { return wait }
        try RezolveCustomer.checkRoom(for: customer[keyPath: book].count)
        // Drawn last: a refused request must not advance the ids of a sandbox with a seed.
        entry.id = call.identifiers.uuid()
        customer[keyPath: book].append(entry)
        return .json(entry.json, status: .created)
    }

    static func read(_ call: RezolveCall, _ customer: RezolveCustomer) throws(RezolveRefusal) -> Reply {
        .json(customer[keyPath: book][try customer.place(of: Self.self, call.parameters["id"])].json)
    }

    static func update(_ call: inout RezolveCall, _ customer: inout RezolveCustomer) throws(RezolveRefusal) -> Reply {
        let id = call.parameters["id"]
        let body = try call.body()
        let old = customer[keyPath: book].first { $0.id.hasSameBytes(as: id) }
        var entry = try body.read { Self(&$0, isNew: false, over: old, call.switches) }
        let place = try customer.place(of: Self.self, id)
        if let wait = try entry.check(body.object, call, customer) { return wait }
        entry.id = id
        customer[keyPath: book][place] = entry
        return .json(entry.json)
    }

    static func delete(_ call: inout RezolveCall, _ customer: inout RezolveCustomer) throws(RezolveRefusal) -> Reply {
        let place = try customer.place(of: Self.self, call.parameters["id"])
        try customer[keyPath: book][place].checkRemoval(from: customer)
        customer[keyPath: book].remove(at: place)
        return .empty()
    }
}

extension RezolveCustomer {
    /// The place of an entry in its book.
    ///
    /// - Parameter member: the member of the body that names the entry; `nil` for the path.
    @discardableResult
    func place<Entry: RezolveEntry>(
        of _: Entry.Type, _ id: String, namedBy member: String? = nil
    ) throws(RezolveRefusal) -> Int {
        let entries = self[keyPath: Entry.book]
        if let place = entries.firstIndex(where: { $0.id.hasSameBytes(as: id) }) { return place }
        let found =
            member.map { "\($0) \(id.shown) names no \(Entry.noun) of \(entityID)" }
            ?? "no \(Entry.noun) of \(entityID) has the id \(id)"
        throw Refusal(Entry.unknown, because: found + Nearest.known(entries.lazy.map(\.id)))
    }
}
