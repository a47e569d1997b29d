import Emulation
import JSON

/// What a client sends for a conversation.
struct ComapiConversationDraft {
    enum Purpose {
        case creation
        case update(of: ComapiID)
    }

    let id: ComapiID
    private let name: String?
    private let about: String?
    private let isPublic: Bool?
    private let rights: [ComapiRole: ComapiRights]?
    private(set) var participants: [ComapiParticipant] = []

    /// Reads the members of a body; those that are absent stay as they are.
    init(_ body: ComapiMembers, for purpose: Purpose) throws(ComapiRefusal) {
        var faults = ComapiFaults()
        switch purpose {
        case .creation: id = ComapiID(body.text("id", isRequired: true, &faults) ?? "")
        case .update(let current):
            id = current
            if let value = body.object["id"], value.string.map({ ComapiID($0) != current }) ?? true {
                faults.invalid(
                    "id", "is \(value.text.prefix(100)), not \(JSON.string(current.text).text), and never changes")
            }
        }
        name = body.text("name", &faults)
        about = body.text("description", &faults)
        isPublic = body.bool("isPublic", &faults)
        rights = Self.rights(body, &faults)
        if case .creation = purpose {
            participants = Self.participants(body.objects("participants", &faults) ?? [], &faults)
        }
        if participants.count > Self.mostAtFirst {
            faults.invalid(
                "participants",
                "names \(participants.count); at most \(Self.mostAtFirst) at first, others can be added later")
        }
        try faults.check()
    }

    private static func rights(_ body: ComapiMembers, _ faults: inout ComapiFaults) -> [ComapiRole: ComapiRights]? {
        guard let roles = body.object("roles", &faults) else { return nil }
        var rights: [ComapiRole: ComapiRights] = [:]
        for role in ComapiRole.allCases {
            guard let members = roles.object(role.rawValue, &faults) else { continue }
            rights[role] = ComapiRights(members, &faults)
        }
        return rights
    }

    /// Reads participants: an id each, and a role that may be left out.
    static func participants(_ list: [ComapiMembers], _ faults: inout ComapiFaults) -> [ComapiParticipant] {
        var participants: [ComapiParticipant] = []
        for members in list {
            let id = members.text("id", isRequired: true, &faults)
            let name = members.text("role", &faults)
            let role = name.flatMap { ComapiRole(named: $0) }
            if let name, role == nil {
                faults.invalid(members.name("role"), "is “\(name.prefix(40))”; expected owner, participant or member")
            }
            if let id { participants.append(ComapiParticipant(id: ComapiID(id), role: role ?? .participant)) }
        }
        return participants
    }

    /// ours: each of them is told to all of them.
    private static let mostAtFirst = 1000

    /// Refuses more participants than a conversation may have.
    static func checkCount(_ count: Int) throws(ComapiRefusal) {
        guard count < ComapiConversation.participantCapacity else {
            throw Refusal(
                .bodyTooLarge,
                because: "a conversation takes \(ComapiConversation.participantCapacity) participants at most")
        }
    }

    /// Sets what the client has sent; given roles replace the old ones whole.
    func change(_ conversation: inout ComapiConversation) {
        if let name { conversation.name = name }
        if let about { conversation.about = about }
        if let isPublic { conversation.isPublic = isPublic }
        if let rights { conversation.rights = rights }
    }
}
