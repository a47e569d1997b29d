import Emulation
import JSON
import Wire

/// Participants of a conversation, and typing events. Source: observed, all SDKs; all permissions are ours.
extension Comapi {
    static func listParticipants(_ call: inout ComapiCall, _ state: inout State) throws(Refused) -> Reply {
        let conversation = try conversation(call, state)
        try conversation.checkReading(by: call.caller.profileID)
        return .json(.array(conversation.joined.sorted { $0.id < $1.id }.map(\.json)))
    }

    static func addParticipants(_ call: inout ComapiCall, _ state: inout State) throws(Refused) -> Reply {
        let participants = try call.list { ComapiParticipant.list(FieldReader.elements, in: &$0) }
        let conversation = try conversation(call, state)
        try conversation.check(.canAddParticipants, for: call.caller.profileID)
        let changes = Self.changes(by: participants, in: conversation)
        guard changes.count <= mostAtOnce else {
            throw refusal("body", "\(changes.count) newcomers and new roles are more than \(mostAtOnce) in one call")
        }
        let newcomers = Set(changes.map(\.id)).subtracting(conversation.participants.keys)
        try ComapiConversationDraft.checkCount(conversation.participants.count + newcomers.count)
        for participant in changes { add(participant, to: conversation.id, &call, &state) }
        return .empty(.created)
    }

    /// New participants and role changes, one per participant; the last entry for each wins.
    private static func changes(
        by participants: [ComapiParticipant], in conversation: ComapiConversation
    ) -> [ComapiParticipant] {
        var roles: [ComapiID: ComapiRole] = [:]
        for participant in participants { roles[participant.id] = participant.role }
        var seen: Set<ComapiID> = []
        return participants.filter { seen.insert($0.id).inserted }
            .compactMap { participant in roles[participant.id].map { ComapiParticipant(id: participant.id, role: $0) } }
            .filter { conversation.participants[$0.id] != $0.role }
    }

    /// ours: each change is announced to all participants, so a call with thousands of them would take minutes.
    private static let mostAtOnce = 100

    /// Adds a participant, or changes its role.
    private static func add(
        _ participant: ComapiParticipant, to id: ComapiID, _ call: inout ComapiCall, _ state: inout State
    ) {
        let space = call.space.id
        let role = state[space].conversations[id]?.participants[participant.id]
        state[space].conversations.change(id) { $0.join(participant) }
        call.send(
            .participant(role == nil ? "Added" : "Updated", participant, of: id, ComapiOccasion(call)),
            to: state[space].conversations[id]?.audience(in: space) ?? [])
    }

    static func removeParticipants(_ call: inout ComapiCall, _ state: inout State) throws(Refused) -> Reply {
        let ids = try idsToRemove(&call)
        let conversation = try conversation(call, state)
        let present = conversation.joined.filter { ids.contains($0.id) }
        let isLeaving = present.allSatisfy { $0.id == call.caller.profileID } && !present.isEmpty
        if isLeaving {
            _ = try conversation.role(of: call.caller.profileID)
        } else {
            try conversation.check(.canRemoveParticipants, for: call.caller.profileID)
        }
        guard present.count <= mostAtOnce else {
            throw refusal("id", "\(present.count) are more than \(mostAtOnce) in one call")
        }
        let audience = conversation.audience(in: call.space.id)
        state[call.space.id].conversations.change(conversation.id) { $0.leave(Set(present.map(\.id))) }
        for participant in present {
            call.send(.participant("Removed", participant, of: conversation.id, ComapiOccasion(call)), to: audience)
        }
        return .empty()
    }

    /// The ids of the query combined with those of the body; at least one is required.
    private static func idsToRemove(_ call: inout ComapiCall) throws(Refused) -> Set<ComapiID> {
        var ids = Set(
            call.request.queryItems.filter { $0.name == "id" && !$0.value.isEmpty }.map { ComapiID($0.value) })
        if call.switches.acceptsParticipantIDsInBody, !call.request.body.isEmpty {
            ids.formUnion(try call.list { $0.texts(FieldReader.elements) ?? [] }.map { ComapiID($0) })
            call.note(
                "ids-in-body", "The ids stand in the body of a DELETE, as the iOS SDK sends them.", source: "iOS SDK")
        }
        guard !ids.isEmpty else { throw missing("id") }
        return ids
    }

    static func startTyping(_ call: inout ComapiCall, _ state: inout State) throws(Refused) -> Reply {
        try tell(isTyping: true, &call, state)
    }

    static func stopTyping(_ call: inout ComapiCall, _ state: inout State) throws(Refused) -> Reply {
        try tell(isTyping: false, &call, state)
    }

    /// Notifies the other participants; the body is ignored, since the JS SDK sends an empty object (observed).
    private static func tell(isTyping: Bool, _ call: inout ComapiCall, _ state: State) throws(Refused) -> Reply {
        let conversation = try conversation(call, state)
        let profile = call.caller.profileID
        _ = try conversation.role(of: profile)
        call.send(
            .typing(isTyping, profile, in: conversation.id, ComapiOccasion(call)),
            to: conversation.audience(in: call.space.id, without: profile))
        return .empty()
    }
}
