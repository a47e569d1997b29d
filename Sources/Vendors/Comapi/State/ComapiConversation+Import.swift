import Emulation
import JSON

extension ComapiConversation {
    /// Reads a conversation of an export.
    init(_ node: FixtureNode) throws(FixtureProblem) {
        let entry = try node.mapping(
            "id", "name", "description", "public", "roles", "participants", "created", "creator", "updated", "updater",
            "revision", "deleted", "last_event", "events")
        self.init(
            id: ComapiID(try entry.required("id").string()), by: ComapiID(try entry.required("creator").string()),
            at: try entry.required("created").instant())
        name = try entry["name"]?.string()
        about = try entry["description"]?.string()
        isPublic = try entry["public"]?.bool() ?? false
        updated = try entry["updated"]?.instant() ?? created
        updater = try entry["updater"].map { node throws(FixtureProblem) in ComapiID(try node.string()) } ?? creator
        revision = try entry["revision"]?.int(in: 1...Ordinal.largest) ?? 1
        deleted = try entry["deleted"]?.instant()
        for (name, value) in try entry["roles"]?.mapping(ComapiRole.allCases.map(\.rawValue)).members ?? [] {
            guard let role = ComapiRole(rawValue: name) else { continue }
            rights[role] = try ComapiRights(value)
        }
        try entry["participants"]?.forEachRecord(atMost: Self.participantCapacity) { (node) throws(FixtureProblem) in
            let member = try node.mapping("id", "role")
            let role = try member["role"]?.choice(of: ComapiRole.self) ?? .participant
            join(ComapiParticipant(id: ComapiID(try member.required("id").string()), role: role))
        }
        try readLog(entry)
    }

    private mutating func readLog(_ entry: FixtureMapping) throws(FixtureProblem) {
        var (events, messages): ([ComapiEvent], [String: ComapiMessage]) = ([], [:])
        try entry["events"]?.forEachRecord(atMost: ComapiEventLog.capacity) { (node) throws(FixtureProblem) in
            let event = try ComapiEvent(node)
            if let last = events.last, event.id != last.id + 1 {
                throw node.problem("event \(event.id) follows event \(last.id); events have no gaps")
            }
            if event.isSent, messages.updateValue(try ComapiMessage(node, event), forKey: event.messageID) != nil {
                throw node.problem("another message has the id \(event.messageID)")
            }
            events.append(event)
        }
        let last = try entry["last_event"]?.int(in: 0...ComapiEventLog.largestID) ?? events.last?.id ?? 0
        guard last >= events.last?.id ?? 0, events.isEmpty || last == events.last?.id else {
            throw entry.node.problem("last_event is \(last), and the last event listed is \(events.last?.id ?? 0)")
        }
        log.restore(events, messages, lastID: last)
    }
}

extension ComapiRights {
    fileprivate init(_ node: FixtureNode) throws(FixtureProblem) {
        var refused: [Flag] = []
        for (name, value) in try node.mapping(Flag.allCases.map(\.rawValue)).members where try !value.bool() {
            if let flag = Flag(rawValue: name) { refused.append(flag) }
        }
        self.init(refused: refused)
    }
}

extension ComapiEvent {
    private static let members = [
        "id", "event", "actor", "at", "message", "kind", "on", "from", "metadata", "parts", "alert", "statuses",
    ]

    fileprivate init(_ node: FixtureNode) throws(FixtureProblem) {
        let entry = try node.mapping(Self.members)
        let name = try entry.required("kind").string()
        let kind: Kind
        if let status = ComapiMessageStatus(rawValue: name) {
            kind = .status(status, on: try entry.required("on").instant())
        } else if name == "sent" {
            kind = .sent
        } else {
            throw try entry.required("kind").problem("“\(name)” is none of sent, delivered, read")
        }
        self.init(
            id: try entry.required("id").int(in: 1...ComapiEventLog.largestID),
            eventID: try entry.required("event").string(),
            actor: ComapiID(try entry.required("actor").string()), moment: try entry.required("at").instant(),
            messageID: try entry.required("message").string(), kind: kind)
    }
}

extension ComapiMessage {
    fileprivate init(_ node: FixtureNode, _ event: ComapiEvent) throws(FixtureProblem) {
        var values: [String: JSON] = [:]
        var statuses: [ComapiID: (status: ComapiMessageStatus, on: Moment)] = [:]
        for (name, value) in try node.members() where ["from", "metadata", "parts", "alert"].contains(name) {
            values[name] = try value.verbatim()
        }
        for (name, value) in try node.members() where name == "statuses" {
            try value.forEachRecord { (node) throws(FixtureProblem) in
                let entry = try node.mapping("profile", "status", "on")
                let profile = ComapiID(try entry.required("profile").string())
                let status = try entry.required("status").choice(of: ComapiMessageStatus.self)
                statuses[profile] = (status, try entry.required("on").instant())
            }
        }
        guard let parts = values["parts"], parts.array != nil else { throw node.problem("a message has parts") }
        let metadata = values["metadata"] ?? [:]
        let bytes = metadata.bytes.count + parts.bytes.count + (values["alert"]?.bytes.count ?? 0) + 500
        self.init(
            id: event.messageID, sentEventID: event.id, sender: event.actor,
            from: values["from"] ?? ["id": event.actor.json, "name": event.actor.json], sent: event.moment,
            metadata: metadata, parts: parts, alert: values["alert"], statuses: statuses, byteCount: bytes)
    }
}
