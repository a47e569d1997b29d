import Emulation
import JSON

/// Inboxes, segments and consents as JSON.
extension BloomreachContentState {
    /// The state, or what of it is not as in another one.
    ///
    /// - Parameter start: the state that the fixtures give, for the changes alone; `nil` for all.
    /// - Returns: `nil` when nothing is to be told.
    func export(since start: BloomreachContentState?) -> JSON? {
        let inboxes = Self.changed(inboxes, since: start?.inboxes ?? [:], otherwise: Inbox())
        let segments = Self.changed(segments, since: start?.segments ?? [:], otherwise: CustomerSegments())
        let consents = Self.changed(consents, since: start?.consents ?? [:], otherwise: [:])
        if start != nil, inboxes.isEmpty, segments.isEmpty, consents.isEmpty { return nil }
        return [
            "inboxes": .array(inboxes.map { Self.entry($0, $1.record) }),
            "segments": .array(segments.map { Self.entry($0, [("segments", $1.record)]) }),
            "consents": .array(consents.map { Self.entry($0, [("consents", Self.record($1))]) }),
        ]
    }

    /// Lays over this state what ``export(since:)`` wrote; onto an empty one, it is the whole state.
    ///
    /// - Parameter exists: whether there is such a customer.
    mutating func lay(
        _ node: FixtureNode, exists: (BloomreachCustomerKey) -> Bool
    ) throws(FixtureProblem) {
        let document = try node.mapping("inboxes", "segments", "consents")
        for node in try document["inboxes"]?.elements() ?? [] {
            let (customer, entry) = try Self.entry(node, ["epoch", "counter", "messages"], exists)
            let inbox = try Inbox(exported: entry)
            setInbox(inbox, of: customer)
            guard byteCount <= Self.byteLimit else {
                throw node.problem(
                    "the messages up to here have \(byteCount) bytes; expected at most \(Self.byteLimit)")
            }
        }
        for node in try document["segments"]?.elements() ?? [] {
            let (customer, entry) = try Self.entry(node, ["segments"], exists)
            setSegments(try CustomerSegments(try entry.required("segments")), of: customer)
        }
        for node in try document["consents"]?.elements() ?? [] {
            let (customer, entry) = try Self.entry(node, ["consents"], exists)
            consents[customer] = [:]
            for (category, value) in try entry.required("consents").members() {
                setConsent(try value.bool(), to: category, of: customer)
            }
        }
    }

    /// The state once the fixtures have been replaced: what no request and no action changed follows them.
    func following(
        _ new: BloomreachContentState, insteadOf old: BloomreachContentState
    ) -> BloomreachContentState {
        var state = new
        for customer in Set(inboxes.keys).union(old.inboxes.keys).union(new.inboxes.keys) {
            let inbox = inbox(of: customer)
                .following(new.inbox(of: customer), insteadOf: old.inbox(of: customer))
            if inbox != Inbox() || inboxes[customer] != nil { state.setInbox(inbox, of: customer) }
        }
        for (customer, segments) in Self.changed(segments, since: old.segments, otherwise: CustomerSegments()) {
            state.segments[customer] = segments
        }
        for (customer, consents) in Self.changed(consents, since: old.consents, otherwise: [:]) {
            state.consents[customer] = consents
        }
        return state
    }

    /// The values that are not as in another state, by customer and in their order; what is gone is as if it never was.
    private static func changed<Value: Equatable>(
        _ values: [BloomreachCustomerKey: Value], since start: [BloomreachCustomerKey: Value], otherwise none: Value
    ) -> [(BloomreachCustomerKey, Value)] {
        let gone = start.keys.filter { values[$0] == nil }.map { ($0, none) }
        return (values.filter { start[$0.key] != $0.value }.map { ($0.key, $0.value) } + gone)
            .sorted { ($0.0.project, $0.0.number) < ($1.0.project, $1.0.number) }
    }

    private static func record(_ consents: [String: Bool]) -> JSON {
        .object(JSONObject(consents.sorted { $0.key < $1.key }.map { ($0.key, .bool($0.value)) }))
    }

    private static func entry(_ customer: BloomreachCustomerKey, _ members: [(String, JSON)]) -> JSON {
        .object(JSONObject([("project", .string(customer.project)), ("customer", JSON(customer.number))] + members))
    }

    private static func entry(
        _ node: FixtureNode, _ members: [String], _ exists: (BloomreachCustomerKey) -> Bool
    ) throws(FixtureProblem) -> (BloomreachCustomerKey, FixtureMapping) {
        let entry = try node.mapping(["project", "customer"] + members)
        let customer = BloomreachCustomerKey(
            project: try entry.required("project").string(), number: try entry.required("customer").int())
        guard exists(customer) else {
            throw node.problem("project \(customer.project) has no customer of the number \(customer.number)")
        }
        return (customer, entry)
    }
}
