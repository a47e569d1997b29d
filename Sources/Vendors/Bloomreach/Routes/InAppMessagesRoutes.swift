import Emulation
import JSON

/// Messages over an app's own screens. Source: the path with `v=1` is documented (SDK page); the query of newer SDKs
/// and the bodies are observed in both.
extension Bloomreach {
    /// The lowest value of the query `compatibility` whose senders read rich payloads: iOS 3.2.0, Android 4.2.0.
    private static let richCompatibility = 3

    /// Returns all messages for a customer; the SDK decides whether and when to show one.
    static func inAppMessages(_ call: inout BloomreachCall, _ state: inout State) throws(Refused) -> Reply {
        let (body, ids) = try call.customerBody()
        try body.read { body in
            if let device = body.optionalText("device"), !["ios", "android"].contains(device) {
                body.refuse("device", "device is \(device.shown), not ios or android")
            }
        }
        let owner = try call.bind(ids)
        let project = try call.project()
        let customer = state.reader(owner, in: project)
        // ours: a client without the query cannot read rich payloads.
        let compatibility = call.request.queryValue("compatibility").flatMap { Int($0) } ?? 0
        let messages = call.vendor.content[project.token].inAppMessages.filter { message in
            message.audience.includes(customer) && (!message.isRichText || compatibility >= richCompatibility)
        }
        let start = state.content.begin(at: call.moment)
        return .json(["success": true, "data": .array(messages.map { $0.json(for: customer, since: start) })])
    }
}

extension BloomreachState {
    /// The reader of content that the ids name; anonymous if no customer has them.
    func reader(_ ids: BloomreachIDs, in project: BloomreachProject) -> ContentReader {
        guard let customer = customer(ids, of: project) else { return .anonymous }
        var values = customer.properties
        for id in customer.ids.hard where values[id.name] == nil { values.append(id.name, .string(id.value)) }
        return ContentReader(number: customer.number, registered: customer.ids[BloomreachID.registered], values: values)
    }
}
