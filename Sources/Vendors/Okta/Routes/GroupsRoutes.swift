import Emulation
import HTTPTypes
import JSON
import Wire

/// Groups of users. Source: api; bodies pysdk, recorded answers.
extension Okta {
    static func getGroup(_ call: inout OktaCall, _ state: inout State) throws(Refused) -> Reply {
        .json(try call.group(in: state).json(at: call.arrival.base))
    }

    /// Creates a group, or with PUT changes one.
    static func writeGroup(_ call: inout OktaCall, _ state: inout State) throws(Refused) -> Reply {
        let isNew = call.request.method == .post
        var group =
            isNew ? OktaGroup(id: call.identifiers.oktaID("00g"), created: call.moment) : try call.group(in: state)
        let profile = try call.json { body in
            body.nested("profile", isRequired: true) { ($0.text("name"), $0.optionalText("description")) }
        }
        (group.name, group.description) = (profile?.0 ?? "", profile?.1)
        if let other = state.groups[named: ExactText(group.name)], !other.id.hasSameBytes(as: group.id) {
            throw Refused(
                .userExists, ["member": "name"],
                because: "another group is called \(group.name); expected an unused name")
        }
        state.groups.add(group, within: OktaState.shortBound)
        return .json(group.json(at: call.arrival.base))
    }

    static func deleteGroup(_ call: inout OktaCall, _ state: inout State) throws(Refused) -> Reply {
        let group = try call.group(in: state)
        for user in state.members(of: group) {
            state.users.change(user.key) { user in user.groups.removeAll { $0 == group.id } }
        }
        state.groups.remove(group.key)
        return .empty()
    }

    static func listGroups(_ call: inout OktaCall, _ state: inout State) throws(Refused) -> Reply {
        let base = call.arrival.base
        return try list(state.groups.all, atMost: 10_000, call, words: { [$0.name] }) { $0.json(at: base) }
    }

    static func listGroupMembers(_ call: inout OktaCall, _ state: inout State) throws(Refused) -> Reply {
        let (group, base) = (try call.group(in: state), call.arrival.base)
        return try list(state.members(of: group), atMost: 1000, call) { $0.json(at: base, inList: true) }
    }

    /// Puts a user into a group, or with DELETE takes one out.
    static func changeMembership(_ call: inout OktaCall, _ state: inout State) throws(Refused) -> Reply {
        let (group, user) = (try call.group(in: state), try call.user(in: state))
        let (isAdded, moment) = (call.request.method == .put, call.moment)
        state.users.change(user.key) { user in
            user.groups.removeAll { $0 == group.id }
            if isAdded { user.groups.append(group.id) }
        }
        state.groups.change(group.key) { $0.lastMembershipUpdated = moment }
        return .empty()
    }
}

extension OktaState {
    func members(of group: OktaGroup) -> [OktaUser] {
        users.all.filter { $0.groups.contains(exactly: group.id) }
    }
}

extension OktaCall {
    fileprivate func group(in state: OktaState) throws(Refused) -> OktaGroup {
        let id = parameters["group"]
        if let group = state.groups[id] { return group }
        let hint = state.groups.hint(to: id, by: \.id)
        throw Refused(.groupNotFound, ["id": .string(id)], because: "no group has the id \(id)\(hint)")
    }
}

extension OktaGroup {
    func json(at base: String) -> JSON {
        let address = "\(base)/api/v1/groups/\(id)"
        return [
            "id": .string(id), "created": .string(created.shown), "lastUpdated": .string(created.shown),
            "lastMembershipUpdated": .string((lastMembershipUpdated ?? created).shown),
            "objectClass": ["okta:user_group"], "type": name == "Everyone" ? "BUILT_IN" : "OKTA_GROUP",
            "profile": ["name": .string(name), "description": JSON(description)],
            "_links": ["users": ["href": .string(address + "/users")], "apps": ["href": .string(address + "/apps")]],
        ]
    }
}

/// Lists of the management API. Source: docs:reference/core-okta-api.
extension Okta {
    /// The records that `filter`, `search` and `q` select, by pages that link to the next one.
    ///
    /// - Parameters:
    ///   - isHidden: whether a record is left out unless there is a condition.
    ///   - words: those of which one begins with `q`.
    static func list<Record: KeyedRecord>(
        _ records: [Record], atMost most: Int, _ call: OktaCall, hiding isHidden: (Record) -> Bool = { _ in false },
        words: (Record) -> [String] = { _ in [] }, show: (Record) -> JSON
    ) throws(Refused) -> Reply where Record.Key == ExactText {
        let (limit, after, query, text) = try call.query.read { query in
            (
                query.int("limit", in: 1...most) ?? most, query.optionalText("after"), query.optionalText("q"),
                query.optionalText("search") ?? query.optionalText("filter")
            )
        }
        let condition = try text.map { (text) throws(Refused) in
            try Refused.require(
                OktaSearch(text), .searchInvalid,
                "found \(text); expected profile.login eq \"x\" or the like, with eq, sw, co, gt, lt, and, or")
        }
        let start = query?.lowercased()
        let found = records.filter { record in
            guard condition?.holds(for: show(record)) ?? !isHidden(record) else { return false }
            return start.map { start in words(record).contains { $0.lowercased().hasPrefix(start) } } ?? true
        }
        // An unknown cursor starts over (ours).
        let last = after.flatMap { id in found.firstIndex { $0.key == ExactText(id) } }
        let page = found[(last.map { $0 + 1 } ?? 0)...].prefix(limit)
        var response = Response.json(.array(page.map(show)))
        let others = (call.request.query ?? "").split(separator: "&").filter {
            !$0.hasPrefix("after=") && !$0.hasPrefix("limit=")
        }
        let address =
            "<\(call.arrival.base)\(call.request.path)?" + (others + ["limit=\(limit)"]).joined(separator: "&")
        let own = after.map { last == nil ? address : "\(address)&after=\($0)" } ?? address
        response.fields.append(HTTPField(name: .link, value: own + ">; rel=\"self\""))
        if page.endIndex < found.endIndex, let end = page.last {
            response.fields.append(HTTPField(name: .link, value: "\(address)&after=\(end.key)>; rel=\"next\""))
        }
        return .respond(response)
    }
}

/// A condition of `filter` or `search`: comparisons joined by `and` and `or`, of which `and` binds closer.
///
/// Source: docs:reference/core-okta-api; ours: case never matters, and brackets are not read.
struct OktaSearch {
    private static let operations: [String: @Sendable (String, String) -> Bool] = [
        "eq": { $0 == $1 }, "sw": { $0.hasPrefix($1) }, "co": { $0.contains($1) }, "gt": { $0 > $1 }, "lt": { $0 < $1 },
    ]

    /// Those of which all must hold; one list suffices.
    private var alternatives: [[(path: [Substring], holds: (String) -> Bool)]] = [[]]

    init?(_ text: String) {
        // Every second part is in quotation marks, and may have blanks.
        let parts = text.lowercased().split(separator: "\"", omittingEmptySubsequences: false).enumerated()
        let words = parts.flatMap { $0.isMultiple(of: 2) ? $1.split(separator: " ") : [$1] }.map(String.init)
        for start in stride(from: 0, to: words.count, by: 4) {
            guard words.count >= start + 3, let operation = Self.operations[words[start + 1]] else { return nil }
            alternatives[alternatives.endIndex - 1].append(
                (words[start].split(separator: "."), { operation($0, words[start + 2]) }))
            guard words.count > start + 3 else { return }
            if words[start + 3] == "or" { alternatives.append([]) } else if words[start + 3] != "and" { return nil }
        }
        return nil
    }

    func holds(for record: JSON) -> Bool {
        alternatives.contains { comparisons in
            comparisons.allSatisfy { path, holds in
                let found = path.reduce(JSON?.some(record)) { object, name in
                    object?.object?.first { $0.name.lowercased() == name }?.value
                }
                return (found?.string?.lowercased()).map(holds) ?? false
            }
        }
    }
}
