import Emulation
import HTTPTypes
import JSON
import Wire

/// Conversations. Source: observed, all SDKs; all permissions are ours.
extension Comapi {
    static func createConversation(_ call: inout ComapiCall, _ state: inout State) throws(Refused) -> Reply {
        let draft = try call.body { ComapiConversationDraft(&$0) }
        let space = call.space.id
        let old = state[space].conversations[draft.id]
        if let old, old.deleted == nil {
            throw Refused(
                .conversationExists,
                because:
                    "conversation \(draft.id.text) exists already; expected an id that no existing conversation has")
        }
        var conversation = ComapiConversation(id: draft.id, by: call.caller.profileID, at: call.moment)
        if let old { (conversation.log, conversation.revision) = (old.log, Ordinal.next(after: old.revision)) }
        draft.change(&conversation)
        // The creator joins as owner, regardless of the list (observed, mock of the JS SDK).
        conversation.join(ComapiParticipant(id: call.caller.profileID, role: .owner))
        for participant in draft.participants where participant.id != call.caller.profileID {
            conversation.join(participant)
        }
        state[space].conversations.store(conversation)
        announce(conversation, isRevived: old != nil, &call)
        return .tagged(conversation.json, conversation.etag, status: .created)
    }

    private static func announce(_ conversation: ComapiConversation, isRevived: Bool, _ call: inout ComapiCall) {
        let occasion = ComapiOccasion(call)
        let audience = conversation.audience(in: call.space.id)
        if isRevived || call.switches.emitsConversationCreate {
            let change = isRevived ? "undelete" : "create"
            call.send(.conversation(change, conversation, occasion), to: audience)
        }
        for participant in conversation.joined {
            call.send(.participant("Added", participant, of: conversation.id, occasion), to: audience)
        }
    }

    /// Which conversations to list: the caller's, or all public ones.
    private enum Scope: String, CaseIterable { case participant, `public` }

    static func listConversations(_ call: inout ComapiCall, _ state: inout State) throws(Refused) -> Reply {
        let (scope, profileID) = try call.query.read {
            ($0.choice("scope", of: Scope.self) ?? .participant, $0.optionalText("profileId"))
        }
        let living = state[call.space.id].conversations.all.filter { $0.deleted == nil }
        if scope == .public { return .json(.array(living.filter(\.isPublic).map(\.json))) }
        let profile = profileID.map { ComapiID($0) } ?? call.caller.profileID
        try Refused.require(
            profile == call.caller.profileID, .foreignProfile,
            "the token is that of \(call.caller.profileID.text), not of \(profile.text), whose conversations are requested"
        )
        return .json(.array(living.filter { $0.participants[profile] != nil }.map(\.json)))
    }

    static func readConversation(_ call: inout ComapiCall, _ state: inout State) throws(Refused) -> Reply {
        let conversation = try conversation(call, state)
        try conversation.checkReading(by: call.caller.profileID)
        return .tagged(conversation.json, conversation.etag)
    }

    static func updateConversation(_ call: inout ComapiCall, _ state: inout State) throws(Refused) -> Reply {
        let id = ComapiID(call.parameters["conversation"])
        let draft = try call.body { ComapiConversationDraft(&$0, changing: id) }
        let old = try conversation(call, state)
        try old.checkOwner(call.caller.profileID)
        try call.checkPrecondition(old.etag)
        var conversation = old
        draft.change(&conversation)
        guard conversation.etag != old.etag else { return .tagged(old.json, old.etag) }
        (conversation.updated, conversation.updater) = (call.moment, call.caller.profileID)
        conversation.revision = Ordinal.next(after: conversation.revision)
        state[call.space.id].conversations.store(conversation)
        call.send(
            .conversation("update", conversation, ComapiOccasion(call)), to: conversation.audience(in: call.space.id))
        return .tagged(conversation.json, conversation.etag)
    }

    /// Hides a conversation from every read; its log continues if the conversation is created again (ours).
    static func deleteConversation(_ call: inout ComapiCall, _ state: inout State) throws(Refused) -> Reply {
        let conversation = try conversation(call, state)
        try conversation.checkOwner(call.caller.profileID)
        try call.checkPrecondition(conversation.etag)
        call.send(
            .conversation("delete", conversation, ComapiOccasion(call)), to: conversation.audience(in: call.space.id))
        state[call.space.id].conversations.change(conversation.id) { $0.deleted = call.moment }
        return .empty()
    }

    /// The conversation of the path, which must exist and not be deleted.
    static func conversation(_ call: ComapiCall, _ state: State) throws(Refused) -> ComapiConversation {
        let conversation = try call.named(
            "conversation", in: state[call.space.id].conversations, orFail: .unknownConversation)
        try Refused.require(
            conversation.deleted == nil, .unknownConversation,
            "conversation \(conversation.id.text) was deleted; expected an existing one")
        return conversation
    }
}

extension ComapiState {
    /// Adds a participant or changes its role, and announces that to all of them.
    mutating func join(
        _ participant: ComapiParticipant, to id: ComapiID, _ occasion: ComapiOccasion, _ outbox: inout Outbox
    ) {
        let space = occasion.space.id
        let change = self[space].conversations[id]?.participants[participant.id] == nil ? "Added" : "Updated"
        self[space].conversations.change(id) { $0.join(participant) }
        outbox.send(
            ComapiFrame.participant(change, participant, of: id, occasion).message,
            to: self[space].conversations[id]?.audience(in: space) ?? [])
    }
}

// MARK: - Permissions (ours)

extension ComapiConversation {
    /// The sockets of the participants, except one if given.
    func audience(in space: ComapiID, without absent: ComapiID? = nil) -> [SocketTopic] {
        joined.filter { $0.id != absent }.map { .profile($0.id, in: space) }
    }

    /// Checks read access: participants may read, and anyone if the conversation is public.
    func checkReading(by profile: ComapiID) throws(Comapi.Refused) {
        if !isPublic { _ = try role(of: profile) }
    }

    func role(of profile: ComapiID) throws(Comapi.Refused) -> ComapiRole {
        return try Comapi.Refused.require(
            participants[profile], .notAParticipant,
            "\(profile.text) is not in the conversation \(id.text); expected one of \(people)")
    }

    /// The participants, shortened to the first few.
    private var people: String {
        let listed = joined.prefix(10).map(\.id.text).joined(separator: ", ")
        return joined.isEmpty ? "nobody" : participants.count > 10 ? listed + ", …" : listed
    }

    func checkOwner(_ profile: ComapiID) throws(Comapi.Refused) {
        try Comapi.Refused.require(
            role(of: profile) == .owner, .ownerOnly,
            "\(profile.text) is a participant of the conversation \(id.text), not an owner")
    }

    func check(_ flag: ComapiRights.Flag, for profile: ComapiID) throws(Comapi.Refused) {
        let role = try role(of: profile)
        try Comapi.Refused.require(
            rights(of: role).allows(flag), .roleForbids,
            "\(flag.rawValue) is false for the role \(role.rawValue) of \(profile.text); expected true")
    }
}

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
        try Refused.require(
            conversation.participants.count + newcomers.count < ComapiConversation.participantCapacity, .bodyTooLarge,
            "a conversation takes \(ComapiConversation.participantCapacity) participants at most")
        for participant in changes {
            state.join(participant, to: conversation.id, ComapiOccasion(call), &call.outbox)
        }
        return .empty(.created)
    }

    /// New participants and role changes, one per participant; the last entry for each wins.
    private static func changes(
        by participants: [ComapiParticipant], in conversation: ComapiConversation
    ) -> [ComapiParticipant] {
        let last = Dictionary(participants.map { ($0.id, $0) }, uniquingKeysWith: { $1 })
        var seen: Set<ComapiID> = []
        return participants.filter { seen.insert($0.id).inserted }.compactMap { last[$0.id] }
            .filter { conversation.participants[$0.id] != $0.role }
    }

    /// ours: each change is announced to all participants, so a call with thousands of them would take minutes.
    private static let mostAtOnce = 100

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
        var ids = Set(call.arrival.queryValues("id").filter { !$0.isEmpty }.map { ComapiID($0) })
        if call.switches.acceptsParticipantIDsInBody, !call.request.body.isEmpty {
            ids.formUnion(try call.list { $0.texts(FieldReader.elements) ?? [] }.map { ComapiID($0) })
            call.note(
                "ids-in-body", "The ids are in the body of a DELETE, as the iOS SDK sends them.", source: "iOS SDK")
        }
        guard !ids.isEmpty else { throw missing("id") }
        return ids
    }

    /// Notifies the other participants; the body is ignored, since the JS SDK sends an empty object (observed).
    static func notify(isTyping: Bool) -> Handler {
        { (call, state) throws(Refused) in
            let conversation = try conversation(call, state)
            let profile = call.caller.profileID
            _ = try conversation.role(of: profile)
            call.send(
                .typing(isTyping, profile, in: conversation.id, ComapiOccasion(call)),
                to: conversation.audience(in: call.space.id, without: profile))
            return .empty()
        }
    }
}
