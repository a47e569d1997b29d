import Emulation
import HTTPTypes
import JSON
import Wire

/// Groups of users. Source: api; bodies pysdk, recorded answers.
extension Okta {
    static func getGroup(_ call: inout OktaCall, _ state: inout State) throws(Refused) -> Reply {
        .json(try call.group(in: state).json(at: call.arrival.base))
    }

    static func writeGroup(_ call: inout OktaCall, _ state: inout State) throws(Refused) -> Reply {
        let isNew = call.request.method == .post
        var group =
            isNew ? OktaGroup(id: call.identifiers.oktaID("00g"), created: call.moment) : try call.group(in: state)
        (group.name, group.description) = try call.json { body in
            body.nested("profile", isRequired: true) { ($0.text("name"), $0.optionalText("description")) } ?? ("", nil)
        }
        let other = state.groups[named: ExactText(group.name)]
        try Refused.require(
            other == nil || other?.id.hasSameBytes(as: group.id) == true, .userExists, with: ["member": "name"],
            "another group is called \(group.name); expected an unused name")
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
        try list(state.groups.all, atMost: 10_000, call, words: { [$0.name] }) { $0.json(at: $1) }
    }

    static func listGroupMembers(_ call: inout OktaCall, _ state: inout State) throws(Refused) -> Reply {
        try list(state.members(of: try call.group(in: state)), atMost: 1000, call) { $0.json(at: $1, inList: true) }
    }

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

extension OktaCall {
    fileprivate func group(in state: OktaState) throws(Refused) -> OktaGroup {
        let id = parameters["group"]
        return try Refused.require(
            state.groups[id], .groupNotFound, with: ["id": .string(id)],
            "no group has the id \(id)\(state.groups.hint(to: id, by: \.id))")
    }

    func ownSession(in state: OktaState) -> OktaSession? {
        request.cookie("sid").flatMap { state.session($0, at: moment) }
    }

    fileprivate var sessionName: String { parameters["session"].isEmpty ? OktaSession.own : parameters["session"] }
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
    /// The records that `filter`, `search` and `q` select, by pages that link to the next one. Hidden ones are left out
    /// unless there is a condition; of the words, one begins with `q`.
    static func list<Record: KeyedRecord>(
        _ records: [Record], atMost most: Int, _ call: OktaCall, hiding isHidden: (Record) -> Bool = { _ in false },
        words: (Record) -> [String] = { _ in [] }, show: (Record, _ base: String) -> JSON
    ) throws(Refused) -> Reply where Record.Key == ExactText {
        let base = call.arrival.base
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
            guard condition?.holds(for: show(record, base)) ?? !isHidden(record) else { return false }
            return start.map { start in words(record).contains { $0.lowercased().hasPrefix(start) } } ?? true
        }
        // An unknown cursor starts over (ours).
        let last = after.flatMap { id in found.firstIndex { $0.key == ExactText(id) } }
        let page = found[(last.map { $0 + 1 } ?? 0)...].prefix(limit)
        var response = Response.json(.array(page.map { show($0, base) }))
        let others = (call.request.query ?? "").split(separator: "&").filter {
            !$0.hasPrefix("after=") && !$0.hasPrefix("limit=")
        }
        let address = "<\(base)\(call.request.path)?" + (others + ["limit=\(limit)"]).joined(separator: "&")
        let own = after.map { last == nil ? address : "\(address)&after=\($0)" } ?? address
        response.fields.append(HTTPField(name: .link, value: own + ">; rel=\"self\""))
        if page.endIndex < found.endIndex, let end = page.last {
            response.fields.append(HTTPField(name: .link, value: "\(address)&after=\(end.key)>; rel=\"next\""))
        }
        return .respond(response)
    }
}

/// A condition of `filter` or `search`: comparisons joined by `and` and `or`, of which `and` binds closer. Source:
/// docs:reference/core-okta-api; ours: case never matters, and brackets are not read.
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

/// Sessions in browsers: a page reaches its own as `me`, by the cookie; administrators reach each by its id. Source:
/// recorded answers (pysdk); that pages use `me`: authjs.
extension Okta {
    static func createSession(_ call: inout OktaCall, _ state: inout State) throws(Refused) -> Reply {
        let text = try call.json { $0.text("sessionToken") }
        let (session, user) = try Refused.require(
            state.openSession(by: text, call), .authnFailed,
            "sessionToken is unknown, used or expired; expected one of authn, used once")
        return .json(session.json(of: user, as: "me", call, state))
    }

    /// Shows a session; with POST it first lasts as long again.
    static func readSession(_ call: inout OktaCall, _ state: inout State) throws(Refused) -> Reply {
        var (session, user) = try session(call, state)
        if call.request.method == .post { session = state.refresh(session, at: call.moment) }
        return .json(session.json(of: user, as: call.sessionName, call, state))
    }

    static func endSession(_ call: inout OktaCall, _ state: inout State) throws(Refused) -> Reply {
        let (session, _) = try session(call, state)
        state.sessions.remove(session.key)
        if call.sessionName == OktaSession.own { call.setCookie("sid", nil) }
        return .empty()
    }

    static func getOwnUser(_ call: inout OktaCall, _ state: inout State) throws(Refused) -> Reply {
        let user = try Refused.require(
            call.ownSession(in: state).flatMap { state.users[$0.userID] }, .sessionInvalid,
            "\(missingSession(call)); expected one from a sign-in in this browser")
        return .json(user.json(at: call.arrival.base))
    }

    /// Exchanges a session token for the cookie of a session, and sends the browser on. Source: guide:session-cookie;
    /// that a bad token leads there too, without a cookie: ours.
    static func redirectWithSession(_ call: inout OktaCall, _ state: inout State) throws(Refused) -> Reply {
        let parameters = try call.form()
        let (token, address) = (try parameters.required("token"), try parameters.required("redirectUrl"))
        guard let origin = OktaAddress(address)?.origin.text, call.isTrusted(origin, in: &state) else {
            throw Okta.refusal("redirectUrl", "is \(address); expected an address at a trusted origin")
        }
        if let (session, _) = state.openSession(by: token, call) {
            call.setCookie("sid", session.id)
        } else {
            call.findings.note(
                "session-token", expected: .text("a session token of authn, used once"),
                found: .text("one that is unknown, used or expired"), source: "ours")
        }
        // What it has no place for in a field; its own escapes stay.
        let location = PercentEncoding.encode(address, sparing: "-._~:/?#[]@!$&'()*+,;=%")
        return .respond(.onward(to: location, from: call.request))
    }

    private static func session(_ call: OktaCall, _ state: State) throws(Refused) -> (OktaSession, OktaUser) {
        let (name, isOwn) = (call.sessionName, call.sessionName == OktaSession.own)
        let session = isOwn ? call.ownSession(in: state) : state.session(name, at: call.moment)
        if let session, let user = state.users[session.userID] { return (session, user) }
        let found = isOwn ? missingSession(call) : "no session has the id \(name)"
        throw Refused(
            .sessionNotFound, ["id": .string(name), "kind": isOwn ? "Session" : "AppSession"],
            because: found + "; expected one that is open")
    }

    static func missingSession(_ call: OktaCall) -> String {
        call.request.cookie("sid") == nil ? "there is no cookie sid" : "the cookie sid names no session"
    }
}

extension OktaSession {
    /// What the session of the browser that asks is called.
    fileprivate static let own = "me"

    fileprivate func json(of user: OktaUser, as name: String, _ call: OktaCall, _ state: OktaState) -> JSON {
        let (base, time) = (call.arrival.base + "/api/v1", JSON.string(authenticated.shown))
        return [
            "id": .string(id), "userId": .string(user.id), "login": .string(user.login), "createdAt": time,
            "expiresAt": .string(expires.shown), "status": "ACTIVE", "lastPasswordVerification": time,
            "lastFactorVerification": methods.contains("mfa") ? time : .null, "amr": .array(methods.map(JSON.string)),
            "idp": ["id": .string(call.vendor.accounts.orgID), "type": "OKTA"],
            "mfaActive": .bool(!state.activeFactors(of: user.id).isEmpty),
            "_links": [
                "self": .link("\(base)/sessions/\(name)", "GET", "DELETE"),
                "refresh": .link("\(base)/sessions/\(name)/lifecycle/refresh", "POST"),
                "user": .link("\(base)/users/\(name == Self.own ? name : user.id)", "GET", named: user.name),
            ],
        ]
    }
}

extension OktaState {
    func members(of group: OktaGroup) -> [OktaUser] {
        users.all.filter { $0.groups.contains(exactly: group.id) }
    }

    func session(_ id: String, at moment: Moment) -> OktaSession? {
        sessions[id].flatMap { moment < $0.expires ? $0 : nil }
    }

    /// Lets a session last as long again from now.
    @discardableResult
    mutating func refresh(_ session: OktaSession, at moment: Moment) -> OktaSession {
        var refreshed = session
        refreshed.refreshed = moment
        sessions.change(session.key) { $0 = refreshed }
        return refreshed
    }

    mutating func openSession(_ authentication: OktaAuthentication, of userID: String, _ call: OktaCall) -> OktaSession
    {
        let session = OktaSession(
            id: call.identifiers.oktaID(ofLength: 25), userID: userID, authenticated: authentication.moment,
            methods: authentication.methods)
        sessions.add(session, within: Self.bound)
        users.change(ExactText(userID)) { $0.lastLogin = call.moment }
        return session
    }

    /// A session by a session token; `nil` if the token is unknown, used or expired, or its user gone.
    fileprivate mutating func openSession(by token: String, _ call: OktaCall) -> (OktaSession, OktaUser)? {
        guard let ticket = sessionTokens[token], ticket.complaint(at: call.moment) == nil,
            let user = ticket.content.userID.flatMap({ users[$0] }), user.isActive
        else { return nil }
        sessionTokens.change(ticket.key) { $0.isUsed = true }
        var authentication = ticket.content
        authentication.moment = call.moment
        return (openSession(authentication, of: user.id, call), user)
    }
}
