import Emulation
import HTTPTypes
import JSON
import Wire

/// Profiles. Source: observed, all SDKs; write permissions are ours.
extension Comapi {
    static func readProfile(_ call: inout ComapiCall, _ state: inout State) throws(Refused) -> Reply {
        let profile = try profile(call, state)
        return .respond(.tagged(profile.json, profile.etag))
    }

    static func queryProfiles(_ call: inout ComapiCall, _ state: inout State) throws(Refused) -> Reply {
        // The query after an encoded question mark comes first; a regular query narrows further (ours).
        let texts = [ComapiPath.encodedQuery(in: call.request.path), call.request.query.map(String.init)]
        let query = ComapiProfileQuery(texts.compactMap { $0 }.joined(separator: "&")[...])
        guard query.valueCount <= ComapiProfileQuery.capacity else {
            throw refusal("query", "has more than \(ComapiProfileQuery.capacity) terms")
        }
        guard query.longestValue <= ComapiProfileQuery.longestValue else {
            throw refusal("query", "has a value of more than \(ComapiProfileQuery.longestValue) bytes")
        }
        let found = state[call.space.id].profiles.all.filter { query.matches($0.object) }
        return .json(.array(found.prefix(ComapiProfileQuery.rowLimit).map(\.json)))
    }

    /// Replaces everything except the id and the creation time.
    static func replaceProfile(_ call: inout ComapiCall, _ state: inout State) throws(Refused) -> Reply {
        let draft = try profileDraft(call)
        return try write(&call, &state) { _ in JSONObject(draft.filter { !$0.value.isNull }.map { ($0.name, $0.value) })
        }
    }

    /// Sets the given members; `null` removes one (ours).
    static func patchProfile(_ call: inout ComapiCall, _ state: inout State) throws(Refused) -> Reply {
        let draft = try profileDraft(call)
        return try write(&call, &state) { members in
            var members = members
            for member in draft { members[member.name] = member.value.isNull ? JSON?.none : member.value }
            return members
        }
    }

    private static func write(
        _ call: inout ComapiCall, _ state: inout State, _ change: (JSONObject) -> JSONObject
    ) throws(Refused) -> Reply {
        let profile = try profile(call, state)
        try Refused.require(
            profile.id == call.caller.profileID, .foreignProfile,
            "the token is that of \(call.caller.profileID.text), not of \(profile.id.text), whose profile the path names"
        )
        try call.checkPrecondition(profile.etag)
        guard let changed = profile.changed(to: change(profile.members), at: call.moment) else {
            return .respond(.tagged(profile.json, profile.etag, status: writeStatus(call)))
        }
        state[call.space.id].profiles.store(changed)
        call.send(.profileUpdate(changed, ComapiOccasion(call)), to: [.profile(profile.id, in: call.space.id)])
        return .respond(.tagged(changed.json, changed.etag, status: writeStatus(call)))
    }

    private static func writeStatus(_ call: ComapiCall) -> HTTPResponse.Status {
        switch call.switches.profileWriteStatus {
        case .ok: .ok
        case .created: .created
        }
    }

    /// The members to store from a request: the id must match the path, and server-owned members are ignored.
    private static func profileDraft(_ call: ComapiCall) throws(Refused) -> JSONObject {
        let own = ComapiID(call.parameters["profile"])
        let members = try call.body { body in
            if let id = body.object["id"], id.string.map({ ComapiID($0) != own }) ?? true {
                body.refuse("id", "is \(id.text.prefix(100)), not that of the path, and never changes")
            }
            for name in ComapiProfile.textMembers { _ = body.optionalText(name) }
            return body.object
        }
        var draft = JSONObject()
        for member in members where member.name != "id" && !member.name.utf8.starts(with: "_".utf8) {
            draft[member.name] = member.value
        }
        return draft
    }

    private static func profile(_ call: ComapiCall, _ state: State) throws(Refused) -> ComapiProfile {
        let id = ComapiID(call.parameters["profile"])
        return try Refused.require(
            state[call.space.id].profiles[id], .unknownProfile,
            "no profile of the space has the id \(id.text); expected that of one that is there")
    }
}
