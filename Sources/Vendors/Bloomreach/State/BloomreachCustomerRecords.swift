import Emulation
import JSON

/// Customers as they stand in `accounts.yaml`, and with their numbers in exports.
extension BloomreachCustomers {
    /// Reads the customers of a project in `accounts.yaml`; they are numbered in the order of the file.
    init(fixture node: FixtureNode) throws(FixtureProblem) {
        self.init()
        guard let list = try node.members().first(where: { $0.name == "customers" })?.value else { return }
        try list.forEachRecord { (node) throws(FixtureProblem) in try add(node, isOfFixtures: { _ in true }) }
    }

    /// Reads a customer.
    ///
    /// - Parameter isOfFixtures: whether that customer stays whatever else is stored.
    /// - Returns: what an export says of the customer's origin.
    @discardableResult
    mutating func add(
        _ node: FixtureNode, isOfFixtures: (BloomreachCustomer) -> Bool
    ) throws(FixtureProblem) -> BloomreachID? {
        let entry = try node.mapping("number", "ids", "cookies", "properties", "events", "forgotten_events", "of")
        let number = try entry["number"].map { node throws(FixtureProblem) in try node.ordinal() } ?? nextNumber
        guard self[number] == nil else { throw node.problem("another customer has the number \(number)") }
        var customer = BloomreachCustomer(number: number)
        let names = try entry["ids"]?.members() ?? []
        guard names.count <= BloomreachIDs.maximum else {
            throw node.problem("a customer has at most \(BloomreachIDs.maximum) hard ids")
        }
        for (name, value) in names { customer.ids.set(BloomreachID(name: name, value: try value.id())) }
        // All in one change: each one has the length of all counted.
        var cookies: [String] = []
        for value in try entry["cookies"]?.elements(atMost: BloomreachCustomer.maximumCookies) ?? [] {
            cookies.append(try value.id())
        }
        customer.cookies = cookies
        // Whoever was made anonymous may have no id any more, but has a number.
        guard customer.name != nil || entry["number"] != nil else {
            throw node.problem("a customer needs a hard id or a cookie")
        }
        let ids = customer.ids.hard + customer.cookies.map { BloomreachID(name: BloomreachID.cookie, value: $0) }
        if let id = ids.first(where: { owner(of: $0) != nil }) {
            throw node.problem("another customer has the \(id.name) \(id.value)")
        }
        if let properties = entry["properties"] { customer.set(try properties.jsonObject()) }
        var types = BloomreachEventTypes()
        let forgotten =
            try entry["forgotten_events"].map { node throws(FixtureProblem) in try node.forgottenCount() } ?? 0
        customer.events = try events(entry["events"], &types, forgotten)
        put(customer, types, isOfFixtures: isOfFixtures(customer))
        return try entry["of"]?.members().first.map { name, value throws(FixtureProblem) in
            BloomreachID(name: name, value: try value.id())
        }
    }

    /// Events in the order of the list, each behind all that came before unless it says its place.
    private func events(
        _ node: FixtureNode?, _ types: inout BloomreachEventTypes, _ forgotten: Int
    ) throws(FixtureProblem) -> BloomreachEventLog {
        var log = BloomreachEventLog(forgotten: forgotten)
        var last = lastSequence
        try node?.forEachRecord { (node) throws(FixtureProblem) in
            let entry = try node.mapping("type", "timestamp", "properties", "sequence")
            last =
                try entry["sequence"].map { node throws(FixtureProblem) in try node.ordinal() }
                ?? Ordinal.next(after: last)
            let properties = try entry["properties"]?.jsonObject() ?? [:]
            log.append(
                type: types.code(of: try entry.required("type").string()), sequence: last,
                timestamp: try entry.required("timestamp").number(), properties: JSON.object(properties).bytes)
        }
        return log
    }

    /// A customer as ``add(_:isOfFixtures:)`` reads it.
    ///
    /// - Parameter name: the first id that the fixtures gave it, if they did and it matters.
    func record(of customer: BloomreachCustomer, name: BloomreachID? = nil) -> JSON {
        let events = events(of: customer).map { event in
            var object = event.json.object ?? [:]
            object["sequence"] = JSON(event.sequence)
            return JSON.object(object)
        }
        var record: JSONObject = [
            "number": JSON(customer.number), "ids": BloomreachIDs(hard: customer.ids.hard).json,
            "cookies": .array(customer.cookies.map(JSON.string)), "properties": .object(customer.properties),
            "events": .array(events),
        ]
        if customer.events.forgottenCount > 0 {
            record.append("forgotten_events", JSON(customer.events.forgottenCount))
        }
        if let name { record["of"] = .object([name.name: .string(name.value)]) }
        return .object(record)
    }
}

extension FixtureNode {
    /// A number that could be a customer's or an event's.
    func ordinal() throws(FixtureProblem) -> Int {
        try int(in: 0...Ordinal.largest)
    }

    /// The value of an id: a text that is not empty.
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
