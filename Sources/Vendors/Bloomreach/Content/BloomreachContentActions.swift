import Emulation
import JSON

/// Changes to inboxes, segments and consents without a request from the app (all ours).
extension Bloomreach {
    static let contentActions: [VendorAction<Bloomreach>] = inboxActions + customerActions

    private static let inboxActions: [VendorAction<Bloomreach>] = [
        VendorAction(
            "add-inbox-message", about: "Sends a message to a customer's app inbox, as a campaign would.",
            members: owner + [
                ActionMember(
                    "message",
                    "the message as in content/app-inbox.yaml; id is a fresh one, create_time now and expire_time 30 days "
                        + "later unless it says otherwise; durations count from now",
                    isRequired: true)
            ], body: addInboxMessage),
        VendorAction(
            "delete-inbox-message",
            about: "Takes a message out of a customer's app inbox; sync tokens given out before become stale.",
            members: owner + [message],
            body: { (call, state) throws(ActionRefusal) in try changeMessage(call, &state) { $0.remove($1) } }),
        VendorAction(
            "expire-inbox-message", about: "Has a message in a customer's app inbox expire at this moment.",
            members: owner + [message],
            body: { (call, state) throws(ActionRefusal) in
                try changeMessage(call, &state) { $0.expire($1, at: call.moment) }
            }),
        VendorAction(
            "read-inbox-message", about: "Marks a message as read, as another device of the customer would.",
            members: owner + [message],
            body: { (call, state) throws(ActionRefusal) in try changeMessage(call, &state) { $0.markRead([$1]) } }),
        VendorAction(
            "clear-inbox", about: "Takes all messages out of a customer's app inbox; sync tokens become stale.",
            members: owner, body: clearInbox),
    ]

    private static let customerActions: [VendorAction<Bloomreach>] = [
        VendorAction(
            "set-segments", about: "Puts a customer into segments, and out of all others.",
            members: owner + [
                ActionMember("segments", "lists by category as in content/segments.yaml", isRequired: true)
            ], body: setSegments),
        VendorAction(
            "set-consent", about: "Has a customer agree to a consent category, or withdraw.",
            members: owner + [
                ActionMember("category", "id of the category", isRequired: true),
                ActionMember("value", "true or false", isRequired: true),
            ], body: setConsent),
    ]

    private static let owner = [
        ActionMember("customer", "the customer's registered id, or an object of ids", isRequired: true),
        ActionMember("project", "token of the project; the first one"),
    ]
    private static let message = ActionMember("message", "id of the message", isRequired: true)
}

// MARK: - Inboxes

extension Bloomreach {
    private static func addInboxMessage(_ call: Action, _ state: inout State) throws(ActionRefusal) -> JSON {
        let owner = try call.inboxOwner(state)
        var object = call.members["message"]?.object ?? [:]
        if object["id"] == nil { object.append("id", .string("msg-" + call.identifiers.uuid())) }
        let message = try call.reading("message", .object(object)) { (node) throws(FixtureProblem) in
            var message = InboxMessage()
            try message.read(node, .order(call.moment))
            return message
        }
        var inbox = state.content.inbox(of: owner)
        if let obstacle = state.content.obstacle(to: message, in: inbox) { throw ActionRefusal(obstacle) }
        inbox.add(message)
        state.content.setInbox(inbox, of: owner)
        return inbox.summary(message.id, owner)
    }

    private static func clearInbox(_ call: Action, _ state: inout State) throws(ActionRefusal) -> JSON {
        let owner = try call.inboxOwner(state)
        var inbox = state.content.inbox(of: owner)
        inbox.clear()
        state.content.setInbox(inbox, of: owner)
        return inbox.summary(nil, owner)
    }

    private static func changeMessage(
        _ call: Action, _ state: inout State, _ change: (inout Inbox, String) -> Void
    ) throws(ActionRefusal) -> JSON {
        let owner = try call.inboxOwner(state)
        let id = try call.required("message")
        var inbox = state.content.inbox(of: owner)
        guard inbox.contains(id) else {
            let hint = Nearest.hint(to: id, among: inbox.messages.map(\.id))
            throw ActionRefusal("the inbox has no message \(id)\(hint)")
        }
        change(&inbox, id)
        state.content.setInbox(inbox, of: owner)
        return inbox.summary(id, owner)
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

// MARK: - Segments and consents

extension Bloomreach {
    private static func setSegments(_ call: Action, _ state: inout State) throws(ActionRefusal) -> JSON {
        let customer = try call.customerKey(state)
        let segments = try call.reading("segments", call.members["segments"] ?? .null) {
            (node) throws(FixtureProblem) in try CustomerSegments(node)
        }
        state.content.segments[customer] = segments
        return segments.allCategories
    }

    private static func setConsent(_ call: Action, _ state: inout State) throws(ActionRefusal) -> JSON {
        let key = try call.customerKey(state)
        let category = try call.required("category")
        let categories = call.vendor.content[key.project].consentCategories.map(\.id)
        guard categories.contains(where: { $0.hasSameBytes(as: category) }) else {
            let hint = Nearest.hint(to: category, among: categories)
            throw ActionRefusal("project \(key.project) has no consent category \(category)\(hint)")
        }
        let value = try call.read { members in
            members.value("value", isRequired: true, expecting: "true or false") {
                $0.bool ?? $0.string.flatMap(Bool.init)
            } ?? false
        }
        state.content.setConsent(value, to: category, of: key)
        return ["category": .string(category), "value": .bool(value)]
    }
}

// MARK: - The customer an action names

extension ActionCall<Bloomreach> {
    fileprivate func customerKey(_ state: BloomreachState) throws(ActionRefusal) -> BloomreachCustomerKey {
        let (customer, project) = try namedCustomer(state)
        return BloomreachCustomerKey(project: project, number: customer.number)
    }

    fileprivate func inboxOwner(_ state: BloomreachState) throws(ActionRefusal) -> BloomreachCustomerKey {
        let (customer, project) = try namedCustomer(state)
        if customer.isAnonymous { throw ActionRefusal("the customer has no hard id, and so no app inbox") }
        return BloomreachCustomerKey(project: project, number: customer.number)
    }

    fileprivate func reading<Value>(
        _ name: String, _ json: JSON, _ read: (FixtureNode) throws(FixtureProblem) -> Value
    ) throws(ActionRefusal) -> Value {
        do {
            return try read(FixtureNode(json, from: name))
        } catch {
            throw ActionRefusal(error.description)
        }
    }
}
