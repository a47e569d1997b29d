import Emulation
import JSON

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
            var cookies: [String] = []
            for value in try node.elements(atMost: BloomreachCustomer.maximumCookies) { cookies.append(try value.id()) }
            return cookies
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
    /// A soft id.
    init(cookie: String) { self.init(name: Self.cookie, value: cookie) }

    /// Reads ids by name.
    static func list(_ node: FixtureNode) throws(FixtureProblem) -> [BloomreachID] {
        var ids: [BloomreachID] = []
        for (name, value) in try node.members() { ids.append(BloomreachID(name: name, value: try value.id())) }
        return ids
    }
}

extension FixtureNode {
    /// A valid number of a customer or an event.
    func ordinal() throws(FixtureProblem) -> Int {
        try int(in: 0...Ordinal.largest)
    }

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
