import Emulation
import JSON

/// Inboxes, segments and consents as JSON.
extension BloomreachContentState {
    /// The state, or what of it is not as in another one; customers are called by their first id.
    ///
    /// - Parameters:
    ///   - start: the state that the fixtures give, for the changes alone; `nil` for all.
    ///   - name: the first id of a customer; whoever has none is left out, since nobody can ask for such a customer.
    /// - Returns: `nil` when nothing is to be told.
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
        // Once somebody has seen content, its times must be the same after a restart.
        if start != nil, self.start == nil, inboxes.isEmpty, segments.isEmpty, consents.isEmpty { return nil }
        var content: JSONObject = [
            "inboxes": .array(inboxes), "segments": .array(segments), "consents": .array(consents),
        ]
        if let began = self.start { content.append("started_at", .number(JSONNumber(began.unixSeconds))) }
        return .object(content)
    }

    /// Lays over this state what ``export(since:name:)`` wrote; over an empty one, it is the whole state.
    ///
    /// - Parameter customer: who has that id in a project.
    mutating func lay(
        _ node: FixtureNode, customer: (String, BloomreachID) -> BloomreachCustomerKey?
    ) throws(FixtureProblem) {
        let document = try node.mapping("inboxes", "segments", "consents", "started_at")
        if let began = document["started_at"] { start = try began.keptMoment() }
        try document["inboxes"]?.forEachRecord { (node) throws(FixtureProblem) in
            let (customer, entry) = try Self.entry(node, ["epoch", "counter", "messages"], customer)
            let old = self
            setInbox(try Inbox(exported: entry), of: customer)
            let byteCount = byteCount
            guard byteCount <= Self.byteLimit else {
                self = old
                throw node.problem(
                    "the messages up to here have \(byteCount) bytes; expected at most \(Self.byteLimit)")
            }
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

    /// The state once the fixtures have been replaced: what no request and no action changed follows them.
    ///
    /// - Parameters:
    ///   - new: what the fixtures give now, in the numbers of this sandbox.
    ///   - old: what they gave before, in the numbers of this sandbox.
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
