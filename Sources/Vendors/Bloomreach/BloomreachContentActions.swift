import Emulation
import JSON

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
            members: owner + [
                .required("segments", "lists by category as in content/segments.yaml")
            ], body: setSegments),
        action(
            "set-consent", about: "Gives or withdraws a customer's consent to a category.",
            members: owner + [
                .required("category", "id of the category"),
                .required("value", "true or false"),
            ], body: setConsent),
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
        let inbox = state.content.inboxes[owner]
        try ControlRefusal.require(!inbox.contains(message.id), "the inbox has a message \(message.id) already")
        try ControlRefusal.require(!inbox.isFull, "the inbox is full: it has \(Inbox.capacity) messages")
        state.content.inboxes[owner].add(message)
        return state.content.inboxes[owner].summary(message.id, owner)
    }

    private static func clearInbox(_ call: Action, _ state: inout State) throws(ControlRefusal) -> JSON {
        let owner = try call.inboxOwner(state)
        state.content.inboxes[owner].clear()
        return state.content.inboxes[owner].summary(nil, owner)
    }

    private static func ofMessage(
        _ name: String, about: String, _ change: @escaping @Sendable (inout Inbox, String, Moment) -> Void
    ) -> VendorAction<Bloomreach> {
        let message = ActionMember.required("message", "id of the message")
        return action(name, about: about, members: owner + [message]) { (call, state) throws(ControlRefusal) in
            let owner = try call.inboxOwner(state)
            let id = try call.required("message")
            let known = state.content.inboxes[owner].messages.map(\.id)
            try ControlRefusal.require(
                state.content.inboxes[owner].contains(id), "the inbox has no message", id, among: known)
            change(&state.content.inboxes[owner], id, call.moment)
            return state.content.inboxes[owner].summary(id, owner)
        }
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
    private static func setSegments(_ call: Action, _ state: inout State) throws(ControlRefusal) -> JSON {
        let customer = try call.customerKey(state)
        let segments = try call.reading("segments", call.members["segments"] ?? .null) {
            (node) throws(FixtureProblem) in try CustomerSegments(node)
        }
        state.content.segments[customer] = segments
        return segments.allCategories
    }

    private static func setConsent(_ call: Action, _ state: inout State) throws(ControlRefusal) -> JSON {
        let key = try call.customerKey(state)
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

// MARK: - The customer an action names

extension ActionCall<Bloomreach> {
    fileprivate func customerKey(_ state: BloomreachState) throws(ControlRefusal) -> BloomreachCustomerKey {
        let (customer, project) = try namedCustomer(state)
        return BloomreachCustomerKey(project: project, number: customer.number)
    }

    fileprivate func inboxOwner(_ state: BloomreachState) throws(ControlRefusal) -> BloomreachCustomerKey {
        let (customer, project) = try namedCustomer(state)
        if customer.isAnonymous { throw ControlRefusal("the customer has no hard id, and so no app inbox") }
        return BloomreachCustomerKey(project: project, number: customer.number)
    }

    fileprivate func reading<Value>(
        _ name: String, _ json: JSON, _ read: (FixtureNode) throws(FixtureProblem) -> Value
    ) throws(ControlRefusal) -> Value {
        try ControlRefusal.wording { try read(FixtureNode(json, from: name)) }
    }
}

/// The content of all customers in an export, who are identified by their first ids.
struct BloomreachContentRecord: CodedRecord {
    /// What is exported, or what the export overlays.
    private(set) var content = BloomreachContentState()
    /// The content of the fixtures, to export only changes; `nil` to export everything.
    private var start: BloomreachContentState?
    /// The projects of the sandbox with their customers, by token.
    private var projects: [String: BloomreachRecords] = [:]

    init() {}

    init(_ content: BloomreachContentState, since start: BloomreachContentState? = nil, of state: BloomreachState) {
        (self.content, self.start, projects) = (content, start, state.projects)
    }

    mutating func code(_ coder: inout RecordCoder) {
        list("inboxes", \.inboxes, &coder)
        list("segments", \.segments, &coder)
        list("consents", \.consents, &coder)
        // After content was first served, its times must be the same after a restart.
        coder.note(isChanged: content.start != nil)
        coder.member("started_at", &content.start, or: .some(content.start), write: { $0?.written }) {
            (node) throws(FixtureProblem) in try node.keptMoment()
        }
    }

    private mutating func list<Part>(
        _ name: String, _ parts: WritableKeyPath<BloomreachContentState, ContentParts<Part>>,
        _ coder: inout RecordCoder
    ) {
        let written = coder.elements {
            content[keyPath: parts].changed(since: start?[keyPath: parts]).compactMap { key, part in
                // A customer without an id is omitted, since no request can name it.
                projects[key.project]?.customers[key.number]?.name.map {
                    BloomreachContentEntry(project: key.project, customer: $0, part: part).json(.changes)
                }
            }
        }
        coder.list(name, of: BloomreachContentEntry<Part>.self, written) { entry in
            let (project, id) = (entry.project, entry.customer)
            guard let number = projects[project]?.customers.owner(of: id) else {
                return "project \(project) has no customer whose \(id.name) is “\(id.value)”"
            }
            content[keyPath: parts][BloomreachCustomerKey(project: project, number: number)] = entry.part
            return nil
        }
    }
}

/// One part of a customer's content in an export.
private struct BloomreachContentEntry<Part: CodedRecord>: CodedRecord {
    var project = ""
    var customer = BloomreachID(name: "", value: "")
    var part = Part()

    mutating func code(_ coder: inout RecordCoder) {
        coder.member("project", &project)
        coder.member(
            "customer", &customer, or: nil,
            write: { $0.json }, read: BloomreachID.init(naming:))
        part.code(&coder)
    }
}

extension BloomreachID {
    /// Reads one id of a customer, such as `{ registered: "…" }`.
    init(naming node: FixtureNode) throws(FixtureProblem) {
        let members = try node.members()
        guard let (name, value) = members.first, members.count == 1 else {
            throw node.problem("expected one id of the customer, such as { registered: \"…\" }")
        }
        self.init(name: name, value: try value.string())
    }
}
