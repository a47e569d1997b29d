import Emulation
import JSON

/// The conversation data that a client sends.
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
    let participants: [ComapiParticipant]

    /// Reads the members of a body; absent members stay unchanged.
    init(_ body: inout FieldReader, for purpose: Purpose) {
        switch purpose {
        case .creation: id = ComapiID(body.text("id"))
        case .update(let current):
            id = current
            if let value = body.object["id"], value.string.map({ ComapiID($0) != current }) ?? true {
                body.refuse(
                    "id", "is \(value.text.prefix(100)), not \(JSON.string(current.text).text), and never changes")
            }
        }
        name = body.optionalText("name")
        about = body.optionalText("description")
        isPublic = body.bool("isPublic")
        rights = body.nested("roles", Self.rights)
        guard case .creation = purpose else {
            participants = []
            return
        }
        participants = ComapiParticipant.list("participants", in: &body)
        if participants.count > Self.mostAtFirst {
            body.refuse(
                "participants",
                "names \(participants.count); at most \(Self.mostAtFirst) at first, others can be added later")
        }
    }

    private static func rights(_ roles: inout FieldReader) -> [ComapiRole: ComapiRights] {
        var rights: [ComapiRole: ComapiRights] = [:]
        for role in ComapiRole.allCases { rights[role] = roles.nested(role.rawValue) { ComapiRights(&$0) } }
        return rights
    }

    /// ours: each participant is announced to all of them.
    private static let mostAtFirst = 1000

    /// Rejects more participants than a conversation may have.
    static func checkCount(_ count: Int) throws(ComapiRefusal) {
        try ComapiRefusal.require(
            count < ComapiConversation.participantCapacity, .bodyTooLarge,
            "a conversation takes \(ComapiConversation.participantCapacity) participants at most")
    }

    /// Applies what the client sent; if present, roles replace all the old ones.
    func change(_ conversation: inout ComapiConversation) {
        if let name { conversation.name = name }
        if let about { conversation.about = about }
        if let isPublic { conversation.isPublic = isPublic }
        if let rights { conversation.rights = rights }
    }
}

extension ComapiRights {
    fileprivate init(_ role: inout FieldReader) {
        self.init(refused: Flag.allCases.filter { role.bool($0.rawValue) == false })
    }
}

extension ComapiParticipant {
    /// Reads participants: each has an id and an optional role.
    static func list(_ name: String, in body: inout FieldReader) -> [ComapiParticipant] {
        body.objects(name) { ComapiParticipant(&$0) }.compactMap(\.self)
    }

    private init?(_ body: inout FieldReader) {
        let id = body.optionalText("id", isRequired: true)
        let name = body.optionalText("role")
        let role = name.flatMap { ComapiRole(named: $0) }
        if let name, role == nil {
            body.report("role", .noChoice(["owner", "participant", "member"]), found: .string(name))
        }
        guard let id else { return nil }
        self.init(id: ComapiID(id), role: role ?? .participant)
    }
}
