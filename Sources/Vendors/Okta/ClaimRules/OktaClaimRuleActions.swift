import Emulation
import JSON

/// Adding and removing claim rules (all ours).
extension Okta {
    static let claimRuleActions: [VendorAction<Okta>] = [
        VendorAction(
            "claim-rule", about: "Makes coming tokens or answers wrong on purpose; a prepared name alone is enough.",
            members: [
                ActionMember(
                    "name",
                    "a prepared rule (\(OktaPreparedRules.all.map(\.name).joined(separator: ", "))) or a new name; rule-1 and so on"
                ),
                ActionMember("of", OktaClaimRule.Target.allCases.map(\.rawValue).joined(separator: ", ")),
                ActionMember("client", "id or name of the client; any"),
                ActionMember("user", "id or login of the user; any"),
                ActionMember("server", "id of the authorization server; any"),
                ActionMember("grant", "the grant type; any"), ActionMember("scope", "a scope that is granted; any"),
                ActionMember("times", "how many answers, or always; 1"),
                ActionMember(
                    "set", "members to set; a value may be {\"add\": n}, {\"append\": x} or {\"join\": \" \"}"),
                ActionMember("remove", "a list of members to drop"),
                ActionMember("header", "members of the token's header to set"),
                ActionMember("defect", "a defect of minting, such as retired-key"),
            ], body: addClaimRule),
        VendorAction(
            "remove-claim-rule", about: "Removes a claim rule.",
            members: [ActionMember("name", "its name", isRequired: true)], body: removeClaimRule),
    ]

    @Sendable private static func addClaimRule(
        _ call: ActionCall<Okta>, _ state: inout OktaState
    ) throws(ActionRefusal) -> JSON {
        guard JSON.object(call.members).bytes.count <= OktaClaimRule.longest else {
            throw .invalidRule("the rule has more than \(OktaClaimRule.longest) bytes")
        }
        let rule = try named(try OktaClaimRule(call.members), in: state, call)
        let isNew = state.claimRules[rule.key] == nil
        guard !isNew || state.claimRules.count < OktaClaimRule.most else {
            throw .invalidRule("name: there are \(OktaClaimRule.most) claim rules already")
        }
        // A rule that is set again is the newest one.
        state.claimRules.remove(rule.key)
        state.claimRules.store(rule)
        return .object(["claim_rule": rule.json(.whole)])
    }

    @Sendable private static func removeClaimRule(
        _ call: ActionCall<Okta>, _ state: inout OktaState
    ) throws(ActionRefusal) -> JSON {
        let name = try call.required("name")
        guard let gone = state.claimRules.remove(ExactText(name)) else {
            let known = state.claimRules.all.map(\.name)
            throw ActionRefusal(
                "name: no claim rule \(name) is set\(Nearest.hint(to: name, among: known))", code: "claim-rule-unknown")
        }
        return .object(["claim_rule": gone.json(.whole)])
    }

    /// The rule with the ids of those that its members name, and with a name.
    private static func named(
        _ rule: OktaClaimRule, in state: OktaState, _ call: ActionCall<Okta>
    ) throws(ActionRefusal) -> OktaClaimRule {
        let accounts = call.vendor.accounts
        var rule = rule
        if let name = rule.clientID {
            let client = accounts.clients[name] ?? accounts.clients.all.first { $0.name.hasSameBytes(as: name) }
            guard let client else { throw .unknown("client", name, among: accounts.clients.all.map(\.id)) }
            rule.clientID = client.id
        }
        if let name = rule.userID {
            guard let user = state.user(name) else {
                throw .unknown("user", name, among: state.users.all.prefix(50).map(\.login))
            }
            rule.userID = user.id
        }
        if let name = rule.serverID, accounts.server(name) == nil {
            throw .unknown("server", name, among: accounts.servers.map(\.id))
        }
        if let name = rule.grant, OktaGrantType(rawValue: name) == nil {
            throw .unknown("grant", name, among: OktaGrantType.allCases.map(\.rawValue))
        }
        if rule.name.isEmpty {
            let free = (1...OktaClaimRule.most + 1).first { state.claimRules[ExactText("rule-\($0)")] == nil }
            rule.name = "rule-\(free ?? 1)"
        }
        return rule
    }
}

extension OktaClaimRule {
    /// Reads a rule from the members of a request. A prepared one brings what is not said: what it does, and of what.
    fileprivate init(_ members: JSONObject) throws(ActionRefusal) {
        let name = members["name"]?.string
        let prepared = name.flatMap(OktaPreparedRules.rule)
        var members = members
        if name == nil, members["name"] == nil { members["name"] = "" }
        self.init()
        do throws(FixtureProblem) {
            try read(FixtureNode(.object(members), from: "the rule"), .export(.whole))
        } catch {
            throw .invalidRule(error.message)
        }
        guard !hasEffect else {
            if members["of"] == nil { throw .invalidRule("of is missing: what the rule is to change") }
            return
        }
        guard let prepared else {
            guard let name else {
                throw .invalidRule("set is missing, or another member that says what is to be wrong")
            }
            let known = OktaPreparedRules.all.map(\.name)
            throw ActionRefusal(
                "name: no claim rule \(name) is prepared\(Nearest.hint(to: name, among: known)); set, remove, header or defect make one",
                code: "claim-rule-unknown")
        }
        if members["of"] == nil { target = prepared.target }
        guard prepared.target.covers(target) else {
            throw .invalidRule("of is \(target.rawValue); \(prepared.name) is for \(prepared.target.rawValue)")
        }
        (values, removed, header, defect) = (prepared.values, prepared.removed, prepared.header, prepared.defect)
    }
}

extension ActionRefusal {
    fileprivate static func invalidRule(_ message: String) -> ActionRefusal {
        ActionRefusal(message, code: "claim-rule-invalid")
    }

    fileprivate static func unknown(_ member: String, _ name: String, among known: [String]) -> ActionRefusal {
        invalidRule("\(member): there is no \(member) \(name)\(Nearest.hint(to: name, among: known))")
    }
}
