import Emulation
import JSON

/// State as JSON. Customers have the members that they have in `accounts.yaml`, and those that only calls change.
extension Bloomreach {
    func export(_ state: BloomreachState, _ extent: StateExtent) -> JSON? {
        let records = accounts.projects.compactMap { project -> JSON? in
            let records = state.projects[project.token] ?? BloomreachRecords()
            switch extent {
            case .whole: return records.json(of: project.token)
            case .changes:
                let start = initialState.customers(of: project)
                let changes = BloomreachChanges(of: records.customers, since: start)
                let isUntouched = changes.isEmpty(since: start) && records.isQuiet
                // Not in one expression with nil, which would be a null.
                if isUntouched { return nil }
                return records.json(of: project.token, changes)
            }
        }
        let content = state.exportContent(since: extent == .changes ? initialState : nil)
        if extent == .changes, records.isEmpty, content == nil { return nil }
        return ["projects": .array(records), "content": content ?? .null]
    }

    func state(
        importing node: FixtureNode, _ extent: StateExtent, over current: BloomreachState
    ) throws(FixtureProblem) -> BloomreachState {
        let document = try node.mapping("projects", "content")
        var state = current
        if extent == .whole { state.projects = [:] }
        var seen: Set<String> = []
        try document.required("projects").forEachRecord { (node) throws(FixtureProblem) in
            let entry = try node.mapping(
                "token", "customers", "removed", "clicks", "self_checks", "last_number", "last_sequence", "forgotten")
            let token = try entry.required("token").string()
            guard accounts.project(token) != nil else {
                throw node.problem(
                    "no project has the token \(token)\(Nearest.hint(to: token, among: accounts.projects.map(\.token)))"
                )
            }
            guard seen.insert(token).inserted else { throw node.problem("project \(token) stands there twice") }
            let start = initialState.projects[token]?.customers ?? BloomreachCustomers()
            let changes = try BloomreachChanges(entry, start)
            var records = BloomreachRecords(
                customers: extent == .whole
                    ? changes.whole(start) : state.projects[token, default: .init()].customers.with(changes))
            guard records.customers.isWithinBounds else {
                throw node.problem(
                    "the customers of \(token) are more than \(BloomreachCustomers.capacity), or take more than "
                        + "\(BloomreachCustomers.maximumBytes) bytes")
            }
            try records.read(entry)
            state.projects[token] = records
        }
        try state.importContent(document["content"], over: extent == .changes ? current : nil)
        return state
    }

    func adopt(_ state: BloomreachState, startedFrom old: Bloomreach) -> BloomreachState {
        var adopted = initialState
        for project in accounts.projects {
            guard let records = state.projects[project.token] else { continue }
            let changes = BloomreachChanges(of: records.customers, since: old.initialState.customers(of: project))
            var fresh = records
            fresh.customers = initialState.customers(of: project).with(changes)
            adopted.projects[project.token] = fresh
        }
        adopted.adoptContent(of: state, from: old.initialState, to: initialState)
        return adopted
    }
}

// MARK: - A project's records

extension BloomreachRecords {
    /// Everything.
    fileprivate func json(of token: String) -> JSON {
        json(of: token, customers.all.map { customers.record(of: $0) }, removed: nil)
    }

    /// What differs from the fixtures.
    fileprivate func json(of token: String, _ changes: BloomreachChanges) -> JSON {
        json(
            of: token, changes.customers.map { customers.record(of: $0.customer, name: $0.name) },
            removed: changes.removed)
    }

    private func json(of token: String, _ customers: [JSON], removed: [BloomreachID]?) -> JSON {
        var object: JSONObject = ["token": .string(token), "customers": .array(customers)]
        if let removed { object["removed"] = .array(removed.map { .object([$0.name: .string($0.value)]) }) }
        object["clicks"] = .array(clicks.map(\.json))
        object["self_checks"] = .array(selfChecks)
        object["last_number"] = JSON(self.customers.lastNumber)
        object["last_sequence"] = JSON(self.customers.lastSequence)
        if !forgotten.isEmpty { object["forgotten"] = forgotten.json }
        return .object(object)
    }

    /// Reads what is no customer.
    fileprivate mutating func read(_ entry: FixtureMapping) throws(FixtureProblem) {
        try entry["clicks"]?.forEachRecord(atMost: BloomreachLatest.maximumCount) { (node) throws(FixtureProblem) in
            let click = try node.mapping("type", "timestamp", "properties")
            let event = TrackedEntry(
                properties: try click["properties"]?.jsonObject() ?? [:],
                timestamp: try click.required("timestamp").number())
            add(click: try click.required("type").string(), event)
        }
        try entry["self_checks"]?.forEachRecord(atMost: BloomreachLatest.maximumCount) {
            (node) throws(FixtureProblem) in
            add(selfCheck: .object(try node.jsonObject()))
        }
        count(try BloomreachForgotten(entry["forgotten"]))
    }
}

extension BloomreachChanges {
    /// Reads the customers of an export.
    fileprivate init(_ entry: FixtureMapping, _ start: BloomreachCustomers) throws(FixtureProblem) {
        self.init()
        var customers = BloomreachCustomers()
        var names: [Int: BloomreachID] = [:]
        try entry.required("customers").forEachRecord { (node) throws(FixtureProblem) in
            var number = 0
            let name = try customers.add(node) {
                number = $0.number
                return true
            }
            names[number] = name
        }
        types = customers.eventTypes
        self.customers = customers.all.map { Changed(customer: $0, name: names[$0.number]) }
        try entry["removed"]?.forEachRecord { (node) throws(FixtureProblem) in
            for (name, value) in try node.members() {
                removed.append(BloomreachID(name: name, value: try value.string()))
            }
        }
        lastNumber = max(customers.lastNumber, try entry["last_number"]?.ordinal() ?? 0, start.lastNumber)
        lastSequence = max(customers.lastSequence, try entry["last_sequence"]?.ordinal() ?? 0)
        forgotten = try BloomreachForgotten(entry["forgotten"])
    }

    /// The customers as if there were no others.
    fileprivate func whole(_ start: BloomreachCustomers) -> BloomreachCustomers {
        var whole = BloomreachCustomers()
        for changed in customers {
            let isOfFixtures = changed.customer.name.flatMap { start.owner(of: $0) } != nil
            whole.put(changed.customer, types, isOfFixtures: isOfFixtures)
        }
        whole.count(from: lastNumber, lastSequence)
        whole.count(forgotten)
        return whole
    }
}
