import Emulation
import JSON

/// Inboxes, segments and consents as JSON.
extension BloomreachContentState {
    /// The state, or only what differs from another state; customers are identified by their first id.
    ///
    /// - Parameters:
    /// - start: the state from the fixtures, to export only changes; `nil` to export everything.
    /// - name: the first id of a customer; a customer without one is omitted, since no request can name it.
    /// - Returns: `nil` if there is nothing to export.
    func export(
        since start: BloomreachContentState?, name: (BloomreachCustomerKey) -> BloomreachID?
    ) -> JSON? {
        func entries<Part>(
            _ parts: ContentParts<Part>, since start: ContentParts<Part>?, _ record: (Part) -> [(String, JSON)]
        ) -> [JSON] {
            parts.changed(since: start).compactMap { Self.entry($0, name($0), record($1)) }
        }
        let inboxes = entries(inboxes, since: start?.inboxes, \.record)
        let segments = entries(segments, since: start?.segments) { [("segments", $0.record)] }
        let consents = entries(consents, since: start?.consents) { [("consents", Self.record($0))] }
        // After content was first served, its times must be the same after a restart.
        if start != nil, self.start == nil, inboxes.isEmpty, segments.isEmpty, consents.isEmpty { return nil }
        var content: JSONObject = [
            "inboxes": .array(inboxes), "segments": .array(segments), "consents": .array(consents),
        ]
        if let began = self.start { content.append("started_at", .number(JSONNumber(began.unixSeconds))) }
        return .object(content)
    }

    /// Overlays the output of ``export(since:name:)`` on this state; on an empty state, that is the whole state.
    ///
    /// - Parameter customer: finds the customer with that id in a project.
    mutating func lay(
        _ node: FixtureNode, customer: (String, BloomreachID) -> BloomreachCustomerKey?
    ) throws(FixtureProblem) {
        let document = try node.mapping("inboxes", "segments", "consents", "started_at")
        if let began = document["started_at"] { start = try began.keptMoment() }
        try document["inboxes"]?.forEachRecord { (node) throws(FixtureProblem) in
            let (customer, entry) = try Self.entry(node, ["epoch", "counter", "messages"], customer)
            let inbox = try Inbox(exported: entry)
            // Not by going back to an old state: to keep one would copy it for each inbox.
            let byteCount = byteCount + inbox.byteCount - self.inbox(of: customer).byteCount
            guard byteCount <= Self.byteLimit else {
                throw node.problem(
                    "the messages up to here have \(byteCount) bytes; expected at most \(Self.byteLimit)")
            }
            setInbox(inbox, of: customer)
        }
        try document["segments"]?.forEachRecord { (node) throws(FixtureProblem) in
            let (customer, entry) = try Self.entry(node, ["segments"], customer)
            setSegments(try CustomerSegments(try entry.required("segments")), of: customer)
        }
        try document["consents"]?.forEachRecord { (node) throws(FixtureProblem) in
            let (customer, entry) = try Self.entry(node, ["consents"], customer)
            var consents: [String: Bool] = [:]
            for (category, value) in try entry.required("consents").members() { consents[category] = try value.bool() }
            self.consents[customer] = consents
        }
    }

    /// The state after the fixtures were replaced: whatever no request or action changed takes the new values.
    ///
    /// - Parameters:
    /// - new: the new content of the fixtures, with this sandbox's customer numbers.
    /// - old: the previous content of the fixtures, with this sandbox's customer numbers.
    func following(
        _ new: BloomreachContentState, insteadOf old: BloomreachContentState
    ) -> BloomreachContentState {
        var state = new
        state.start = start
        let customers = Set(inboxes.parts.keys).union(old.inboxes.parts.keys).union(new.inboxes.parts.keys)
        for customer in customers {
            let inbox = inboxes[customer].following(new.inboxes[customer], insteadOf: old.inboxes[customer])
            state.setInbox(inbox, of: customer)
        }
        for (customer, part) in segments.changed(since: old.segments) { state.segments[customer] = part }
        for (customer, part) in consents.changed(since: old.consents) { state.consents[customer] = part }
        return state
    }

    private static func record(_ consents: [String: Bool]) -> JSON {
        .object(JSONObject(consents.sorted { $0.key < $1.key }.map { ($0.key, .bool($0.value)) }))
    }

    private static func entry(
        _ customer: BloomreachCustomerKey, _ name: BloomreachID?, _ members: [(String, JSON)]
    ) -> JSON? {
        guard let name else { return nil }
        let id = JSON.object(JSONObject([(name.name, .string(name.value))]))
        return .object(JSONObject([("project", .string(customer.project)), ("customer", id)] + members))
    }

    private static func entry(
        _ node: FixtureNode, _ members: [String], _ customer: (String, BloomreachID) -> BloomreachCustomerKey?
    ) throws(FixtureProblem) -> (BloomreachCustomerKey, FixtureMapping) {
        let entry = try node.mapping(["project", "customer"] + members)
        let project = try entry.required("project").string()
        let id = try BloomreachID(naming: try entry.required("customer"))
        guard let customer = customer(project, id) else {
            throw node.problem("project \(project) has no customer whose \(id.name) is “\(id.value)”")
        }
        return (customer, entry)
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
