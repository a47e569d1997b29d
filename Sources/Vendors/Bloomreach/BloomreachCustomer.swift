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
    var cookies: [String] = []
    /// Hard ids, and no cookie.
    var ids = BloomreachIDs()
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
        var count = properties.count + (customer?.properties.count ?? 0)
        var bytes = JSON.object(properties).bytes.count + (customer?.propertyByteCount ?? 0)
        if let customer, count > maximumProperties || bytes > maximumPropertyBytes {
            // Some of them may take the place of others.
            var changed = customer
            changed.set(properties)
            (count, bytes) = (changed.properties.count, changed.propertyByteCount)
        }
        guard count <= maximumProperties, bytes <= maximumPropertyBytes else {
            throw Refusal(
                .bodyTooLarge,
                because:
                    "a sandbox keeps \(maximumProperties) properties of a customer, of \(maximumPropertyBytes) bytes")
        }
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

    /// Roughly the memory that the customer takes.
    var byteCount: Int {
        let texts = cookies.reduce(0) { $0 + $1.utf8.count + 64 }
        return 256 + texts + ids.hard.reduce(0) { $0 + $1.value.utf8.count + 128 } + propertyByteCount
            + events.byteCount
    }

    /// The length of the properties, kept so that it need not be counted again.
    private(set) var propertyByteCount = 0

    /// Sets properties key by key; null is a value like others (ours).
    mutating func set(_ changes: JSONObject) {
        for member in changes { properties[member.name] = member.value }
        propertyByteCount = JSON.object(properties).bytes.count
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
        propertyByteCount = 0
    }
}
