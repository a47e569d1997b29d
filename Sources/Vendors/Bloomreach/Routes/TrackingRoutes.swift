import Emulation
import JSON
import Tokens
import Wire

/// Tracking by apps and servers: changes of customers, events, clicks.
///
/// Source: documented (SDK page; reference pages on tracking); the response is observed in the test data of the
/// clients.
extension Bloomreach {
    /// The response to every tracking call.
    private static let accepted = Reply.json(["errors": [], "success": true])

    static func trackCustomer(_ call: inout BloomreachCall, _ state: inout State) throws(Refused) -> Reply {
        try updateCustomer(try call.body(), &call, &state)
        return accepted
    }

    static func trackEvent(_ call: inout BloomreachCall, _ state: inout State) throws(Refused) -> Reply {
        try addEvent(try call.body(), &call, &state)
        return accepted
    }

    /// A click on a campaign link: an event of the customer, or of no customer, since Android names none (observed).
    static func trackClick(_ call: inout BloomreachCall, _ state: inout State) throws(Refused) -> Reply {
        let (body, ids) = try call.customerBody(isRequired: false)
        let entry = try call.entry(of: body)
        let (type, url) = try body.read { ($0.eventType() ?? "campaign_click", $0.text("url")) }
        try call.checkPermission(toTrack: type)
        let owner = try call.bind(ids, isWrite: true)
        var properties = entry.properties
        properties["url"] = .string(url)
        let event = TrackedEntry(properties: properties, timestamp: entry.timestamp)
        let project = try call.project().token
        if owner.isEmpty {
            state.change(project) { $0.add(click: type, event) }
        } else {
            try state.store(event, type, of: owner, in: project)
        }
        return accepted
    }

    /// Changes properties of the customer that the ids create, find or merge.
    static func updateCustomer(
        _ body: Fields<Bloomreach>, _ call: inout BloomreachCall, _ state: inout State
    ) throws(Refused) {
        let ids = try call.customerIDs(of: body)
        let entry = try call.entry(of: body)
        if call.credentials.isStream, ids.hard.isEmpty, ids.cookie != nil, entry.properties.isEmpty {
            throw Refusal(
                .streamEmptyUpdate, because: "there is only a cookie, and no property; expected a hard id or a property"
            )
        }
        try call.checkPermission(toWrite: entry.properties)
        let owner = try call.bind(ids, isWrite: true)
        try state.store(entry.properties, of: owner, in: try call.project().token)
    }

    /// Adds an event to the customer that the ids create, find or merge.
    static func addEvent(
        _ body: Fields<Bloomreach>, _ call: inout BloomreachCall, _ state: inout State
    ) throws(Refused) {
        let ids = try call.customerIDs(of: body)
        let entry = try call.entry(of: body)
        guard let type = try body.read({ $0.eventType() }) else {
            let found = body.object["event_type"].map { "event_type is \($0.isNull ? "null" : "empty")" }
            throw Refusal(
                .missingEventType, because: "\(found ?? "there is no event_type"); expected the type of the event")
        }
        try call.checkPermission(toTrack: type)
        let owner = try call.bind(ids, isWrite: true)
        try state.store(entry, type, of: owner, in: try call.project().token)
        if type == ConsentEvent.type { try follow(ConsentEvent(entry.properties), of: owner, &call, &state) }
    }

    /// Updates the customer's consent from a consent event.
    private static func follow(
        _ event: ConsentEvent?, of ids: BloomreachIDs, _ call: inout BloomreachCall, _ state: inout State
    ) throws(Refused) {
        let project = try call.project()
        guard let event, let customer = state.customer(ids, of: project) else { return }
        let isKnown = call.vendor.content[project.token].consentCategories.contains {
            $0.id.hasSameBytes(as: event.category)
        }
        call.findings.note(event.finding(isKnown: isKnown, in: project.token, at: call.moment))
        guard isKnown else { return }
        let key = BloomreachCustomerKey(project: project.token, number: customer.number)
        state.content.setConsent(event.isGiven(at: call.moment), to: event.category, of: key)
    }
}

/// The members shared by all tracking bodies.
struct TrackedEntry {
    let properties: JSONObject
    /// Unix seconds.
    let timestamp: Double

}

extension TrackedEntry {
    fileprivate init(_ body: inout FieldReader, at moment: Moment) {
        self.init(properties: body.object("properties") ?? [:], timestamp: body.timestamp(at: moment))
    }
}

extension BloomreachCall {
    /// The tracked entry of a body; a time that looks like milliseconds is accepted, with a remark.
    fileprivate mutating func entry(of body: Fields<Bloomreach>) throws(BloomreachRefusal) -> TrackedEntry {
        let entry = try body.read { TrackedEntry(&$0, at: moment) }
        let value = JSON.number(JSONNumber(entry.timestamp))
        guard let remark = NumericDate(value).millisecondsRemark(on: "timestamp") else { return entry }
        findings.note(
            Finding(
                "milliseconds-timestamp", .noted, expected: .text("seconds"), found: .json(value), note: remark,
                source: "reference page on adding events"))
        return entry
    }
}

extension Call<Bloomreach> {
    /// Checks that the public key may write these properties of a customer.
    fileprivate func checkPermission(toWrite properties: JSONObject) throws(BloomreachRefusal) {
        guard let key = credentials.publicKey else { return }
        if let denied = properties.first(where: { !key.mayUse(property: $0.name) }) {
            throw Refusal(
                .noPermission,
                because:
                    "the key may not write the property \(denied.name.shown); expected any but \(Nearest.list(key.deniedProperties))"
            )
        }
    }

    /// Checks that the public key may track events of this type.
    fileprivate func checkPermission(toTrack type: String) throws(BloomreachRefusal) {
        if let key = credentials.publicKey, !key.mayTrack(event: type) {
            throw Refusal(
                .noPermission,
                because:
                    "the key may not track events of type \(type); expected any but \(Nearest.list(key.deniedEvents))")
        }
    }
}

// MARK: - Storing

extension BloomreachState {
    /// Stores an event for the customer that the ids name.
    ///
    /// - Throws: ``BloomreachFailure/customerIDsConflict``; nothing is stored then.
    mutating func store(
        _ event: TrackedEntry, _ type: String, of ids: BloomreachIDs, in project: String
    ) throws(BloomreachRefusal) {
        let number = settle(try projects[project, default: .init()].customers.placement(of: ids), in: project)
        change(project) { $0.customers.track(type, event.properties, at: event.timestamp, by: number) }
    }

    /// Stores properties for the customer that the ids name; null is a value like any other (ours).
    mutating func store(_ properties: JSONObject, of ids: BloomreachIDs, in project: String) throws(BloomreachRefusal) {
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
