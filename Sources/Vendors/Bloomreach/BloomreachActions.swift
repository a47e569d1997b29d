import Emulation
import JSON

/// Actions on customers and events without a call from the app, and queries about them (all ours).
extension Bloomreach {
    static let trackingActions = [
        action(
            "identify-customer",
            about: "Creates or changes a customer, merging like a tracked update; returns ids and properties.",
            members: [customer, project, .optional("properties", "object; merged key by key")],
            body: identifyCustomer),
        action(
            "track-event", about: "Adds an event to a customer, as another part of the vendor's backend would.",
            members: [
                customer, project, .required("event_type", "the type of the event"),
                .optional("properties", "object; none"),
                .optional("timestamp", "Unix seconds or ISO 8601; by default the time of the sandbox's clock"),
            ], body: trackEventOfBackend),
        action(
            "delete-customer", about: "Removes a customer with ids, events and inbox; numbers are not reused.",
            members: [customer, project],
            body: { (call, state) throws(ControlRefusal) in try change(call, &state) { $0.remove($1) } }),
        action(
            "anonymize-customer", about: "Removes a customer's ids, properties and inbox; events and cookies stay.",
            members: [customer, project],
            body: { (call, state) throws(ControlRefusal) in try change(call, &state) { $0.anonymize($1) } }),
        action(
            "read-customer", about: "Shows one customer with all events, without changing anything.",
            members: [customer, project],
            reading: { (call, state) throws(ControlRefusal) in try call.namedCustomer(state).customer.record() }),
        action(
            "expect-event",
            about: "Counts tracked events; refused, with the closest ones, if there are too few or too many.",
            members: [
                .optional("customer", "whose events: a registered id, or an object of ids; by default everybody's"),
                project,
                .optional(
                    "event_type", "the type: a text, or operators such as {\"like\": \"purchase*\"}; by default any"),
                .optional("properties", "object of properties, each with what it must be; by default any"),
                .optional("timestamp", "what the Unix seconds must be; by default any"),
                .optional("at_least", "the fewest; by default 1"),
                .optional("at_most", "the most"), .optional("exactly", "the number"),
            ], reading: expectEvent),
    ]

    static let customer = ActionMember.required("customer", "the customer's registered id, or an object of ids")
    static let project = ActionMember.optional("project", "token of the project; by default the first one")

    private static func identifyCustomer(_ call: Action, _ state: inout State) throws(ControlRefusal) -> JSON {
        let (ids, project) = (try call.namedIDs(), try call.namedProject().token)
        let properties = try call.read { $0.object("properties") ?? [:] }
        try call.storing { () throws(Refused) in try state.store(properties, of: ids, in: project) }
        return state.summary(of: ids, in: project)
    }

    private static func trackEventOfBackend(_ call: Action, _ state: inout State) throws(ControlRefusal) -> JSON {
        let (ids, project) = (try call.namedIDs(), try call.namedProject().token)
        let type = try call.required("event_type")
        guard !type.isEmpty, type.utf8.count <= BloomreachEvent.longestType else {
            throw ControlRefusal("event_type must have 1 to \(BloomreachEvent.longestType) bytes")
        }
        let properties = try call.read { $0.object("properties") ?? [:] }
        try call.storing { () throws(Refused) in
            let timestamp = try Fields<Bloomreach>(call.members).read { $0.timestamp(at: call.moment) }
            let event = BloomreachEvent(type: type, timestamp: timestamp, properties: properties)
            try state.store(event, of: ids, in: project)
        }
        return state.summary(of: ids, in: project)
    }

    private static func change(
        _ call: Action, _ state: inout State, _ change: (inout State, BloomreachCustomerKey) -> Void
    ) throws(ControlRefusal) -> JSON {
        let key = try call.namedCustomer(state).key
        change(&state, key)
        return ["project": .string(key.project), "customer": JSON(key.number)]
    }

    private static func expectEvent(_ call: Action, _ state: State) throws(ControlRefusal) -> JSON {
        let named = try call.namedProject()
        let records = state.projects[named.token] ?? BloomreachRecords()
        // An unknown customer has no events; it may be unknown because nothing should have been tracked.
        let ids = call.members["customer"] == nil ? nil : try call.namedIDs()
        let customers = ids.map { [state.customer($0, of: named)].compactMap { $0 } } ?? records.customers.all
        let members = call.members.filter { !["customer", "project"].contains($0.name) }
        let object = JSONObject(members.map { ($0.name, $0.value) })
        let expectation = try call.reading("expect-event", .object(object), BloomreachEventExpectation.init)
        do {
            return try expectation.verdict(on: customers, ids == nil ? records.clicks : [], of: ids) {
                records.customers.all.filter { $0.number != customers.first?.number }
            }
        } catch {
            guard ids != nil, customers.isEmpty else { throw error }
            // An unknown id explains more than too few events.
            let unknown = Result { () throws(ControlRefusal) in try call.namedCustomer(state) }
            guard case .failure(let unknown) = unknown else { throw error }
            throw ControlRefusal("\(unknown.description); \(error.description)")
        }
    }
}

// MARK: - Members of an action

extension ActionCall<Bloomreach> {
    fileprivate func namedProject() throws(ControlRefusal) -> BloomreachProject {
        try vendor.accounts.project(named: try text("project")) { _ in true }
    }

    fileprivate func namedIDs() throws(ControlRefusal) -> BloomreachIDs {
        var ids = BloomreachIDs()
        if let value = members["customer"], value.object != nil {
            do { ids = try BloomreachIDs(value) } catch {
                throw ControlRefusal("customer is not a map of ids: \(error.text)")
            }
        } else {
            let registered = try required("customer")
            if !registered.isEmpty { ids.set(BloomreachID(name: BloomreachID.registered, value: registered)) }
        }
        guard !ids.isEmpty else { throw ControlRefusal("customer names no id") }
        return ids
    }

    /// The customer, who must exist.
    fileprivate func namedCustomer(
        _ state: BloomreachState
    ) throws(ControlRefusal) -> (customer: BloomreachCustomer, key: BloomreachCustomerKey) {
        let (ids, project) = (try namedIDs(), try namedProject())
        guard let customer = state.customer(ids, of: project) else {
            let known = state.customers(of: project).all.prefix(100).compactMap { $0.name?.value }
            let hint = Nearest.names(to: ids.hard.first?.value ?? ids.cookie ?? "", among: known, count: 1).first
            let advice = hint.map { "; did you mean “\($0)”?" } ?? ""
            throw ControlRefusal("no customer of project \(project.token) has one of the ids \(ids.json.text)\(advice)")
        }
        return (customer, BloomreachCustomerKey(project: project.token, number: customer.number))
    }

    /// Stores as an app's call would; a failure becomes the action's refusal.
    fileprivate func storing(_ store: () throws(Bloomreach.Refused) -> Void) throws(ControlRefusal) {
        do { try store() } catch {
            throw ControlRefusal("\(error.failure.rawValue): \(error.reason ?? "it was refused")")
        }
    }

    fileprivate func inboxOwner(_ state: BloomreachState) throws(ControlRefusal) -> BloomreachCustomerKey {
        let (customer, key) = try namedCustomer(state)
        if customer.isAnonymous { throw ControlRefusal("the customer has no hard id, and so no app inbox") }
        return key
    }

    fileprivate func reading<Value>(
        _ name: String, _ json: JSON, _ read: (FixtureNode) throws(FixtureProblem) -> Value
    ) throws(ControlRefusal) -> Value {
        try ControlRefusal.wording { try read(FixtureNode(json, from: name)) }
    }
}

extension BloomreachState {
    /// The customer an action was about.
    fileprivate func summary(of ids: BloomreachIDs, in project: String) -> JSON {
        guard let customer = projects[project]?.customers.customer(ids) else { return .null }
        return [
            "project": .string(project), "customer": JSON(customer.number), "ids": customer.idsJSON,
            "events": JSON(customer.events.entries.count),
        ]
    }
}

/// Changes to inboxes, segments and consents without a request from the app (all ours).
extension Bloomreach {
    static let contentActions = [
        action(
            "add-inbox-message", about: "Sends a message to a customer's app inbox, as a campaign would.",
            members: owner + [
                .required(
                    "message",
                    "the message as in content/app-inbox.yaml; by default id is new, create_time is now and expire_time 30 days "
                        + "later; durations count from now")
            ], body: addInboxMessage),
        ofMessage(
            "delete-inbox-message",
            about: "Removes a message from a customer's app inbox; sync tokens issued before become stale."
        ) { inbox, id, _ in inbox.remove(id) },
        ofMessage("expire-inbox-message", about: "Expires a message in a customer's app inbox now.") {
            inbox, id, moment in inbox.expire(id, at: moment)
        },
        ofMessage(
            "read-inbox-message", about: "Marks a message as read, as another device of the customer would."
        ) { inbox, id, _ in inbox.markRead([id]) },
        action(
            "clear-inbox", about: "Removes all messages from a customer's app inbox; sync tokens become stale.",
            members: owner, body: clearInbox),
        action(
            "set-segments", about: "Puts a customer into segments, and out of all others.",
            members: owner + [.required("segments", "lists by category as in content/segments.yaml")],
            body: setSegments),
        action(
            "set-consent", about: "Gives or withdraws a customer's consent to a category.",
            members: owner + [.required("category", "id of the category"), .required("value", "true or false")],
            body: setConsent),
    ]

    private static let owner = [customer, project]

    // MARK: Inboxes

    private static func addInboxMessage(_ call: Action, _ state: inout State) throws(ControlRefusal) -> JSON {
        let owner = try call.inboxOwner(state)
        var object = call.members["message"]?.object ?? [:]
        if object["id"] == nil { object.append("id", .string("msg-" + call.identifiers.uuid())) }
        let message = try call.reading("message", .object(object)) { (node) throws(FixtureProblem) in
            var message = InboxMessage()
            try message.read(node, .order(call.moment))
            return message
        }
        let inbox = state.content[owner].inbox
        try ControlRefusal.require(!inbox.contains(message.id), "the inbox has a message \(message.id) already")
        try ControlRefusal.require(!inbox.isFull, "the inbox is full: it has \(Inbox.capacity) messages")
        state.content[owner].inbox.add(message)
        return state.content[owner].inbox.summary(message.id, owner)
    }

    private static func clearInbox(_ call: Action, _ state: inout State) throws(ControlRefusal) -> JSON {
        let owner = try call.inboxOwner(state)
        state.content[owner].inbox.clear()
        return state.content[owner].inbox.summary(nil, owner)
    }

    private static func ofMessage(
        _ name: String, about: String, _ change: @escaping @Sendable (inout Inbox, String, Moment) -> Void
    ) -> VendorAction<Bloomreach> {
        let message = ActionMember.required("message", "id of the message")
        return action(name, about: about, members: owner + [message]) { (call, state) throws(ControlRefusal) in
            let owner = try call.inboxOwner(state)
            let id = try call.required("message")
            let known = state.content[owner].inbox.messages.map(\.id)
            try ControlRefusal.require(
                state.content[owner].inbox.contains(id), "the inbox has no message", id, among: known)
            change(&state.content[owner].inbox, id, call.moment)
            return state.content[owner].inbox.summary(id, owner)
        }
    }

    // MARK: Segments and consents

    private static func setSegments(_ call: Action, _ state: inout State) throws(ControlRefusal) -> JSON {
        let customer = try call.namedCustomer(state).key
        let segments = try call.reading("segments", call.members["segments"] ?? .null, CustomerSegments.init)
        state.content[customer].segments = segments
        return segments.allCategories
    }

    private static func setConsent(_ call: Action, _ state: inout State) throws(ControlRefusal) -> JSON {
        let key = try call.namedCustomer(state).key
        let category = try call.required("category")
        let categories = call.vendor.content.consentCategories(of: key.project).map(\.id)
        try ControlRefusal.require(
            categories.contains(where: { $0.hasSameBytes(as: category) }),
            "project \(key.project) has no consent category", category, among: categories)
        let value = try call.read { members in
            members.value("value", isRequired: true, expecting: "true or false") {
                $0.bool ?? $0.string.flatMap(Bool.init)
            } ?? false
        }
        state.content.setConsent(value, to: category, of: key)
        return ["category": .string(category), "value": .bool(value)]
    }
}

extension Inbox {
    /// What an action reports about an inbox it changed.
    fileprivate func summary(_ message: String?, _ owner: BloomreachCustomerKey) -> JSON {
        var object: JSONObject = [
            "project": .string(owner.project), "customer": JSON(owner.number), "messages": JSON(messages.count),
            "sync_token": .string(token(for: owner.number).text),
        ]
        if let message { object.append("message", .string(message)) }
        return .object(object)
    }
}
