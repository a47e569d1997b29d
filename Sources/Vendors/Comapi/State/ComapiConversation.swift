import Emulation
import JSON

/// What a participant is.
enum ComapiRole: String, Sendable, CaseIterable {
    case owner
    case participant

    /// The role of that name; `member` means participant (observed, documents of the JS SDK).
    init?(named name: String) {
        if name == "member" { self = .participant } else { self.init(rawValue: name) }
    }
}

/// What a role may do; a flag that is not given is true.
struct ComapiRights: Sendable, Hashable {
    enum Flag: String, CaseIterable { case canSend, canAddParticipants, canRemoveParticipants }

    private let refused: Set<Flag>

    init(refused: [Flag] = []) { self.refused = Set(refused) }

    func allows(_ flag: Flag) -> Bool { !refused.contains(flag) }

    var json: JSON { .object(JSONObject(Flag.allCases.map { ($0.rawValue, .bool(allows($0))) })) }
}

/// Somebody in a conversation.
struct ComapiParticipant: Sendable {
    let id: ComapiID
    var role: ComapiRole

    var json: JSON { ["id": id.json, "role": .string(role.rawValue)] }

    /// As `conversation.create` shows it. Source: recordings of the Android and iOS SDKs.
    func member(of conversation: ComapiID, in space: ComapiSpace) -> JSON {
        [
            "id": id.json, "role": .string(role.rawValue), "conversationId": conversation.json,
            "apiSpaceId": space.id.json,
        ]
    }
}

/// A conversation with its participants and its log.
struct ComapiConversation: Sendable {
    let id: ComapiID
    var name: String?
    var about: String?
    var isPublic = false
    var rights: [ComapiRole: ComapiRights] = [:]
    private(set) var participants: [ComapiID: ComapiRole] = [:]
    /// Who joined, in that order.
    private var order: [ComapiID] = []
    var created: Moment
    var creator: ComapiID
    var updated: Moment
    var updater: ComapiID
    /// Counts the changes of its members.
    var revision = 1
    /// `nil` while it lives.
    var deleted: Moment?
    var log = ComapiEventLog()

    init(id: ComapiID, by creator: ComapiID, at moment: Moment) {
        self.id = id
        (created, updated) = (moment, moment)
        (self.creator, updater) = (creator, creator)
    }

    /// How many participants a conversation may have. ours.
    static let participantCapacity = 10_000

    /// The participants in the order in which they joined.
    var joined: [ComapiParticipant] {
        order.compactMap { id in participants[id].map { ComapiParticipant(id: id, role: $0) } }
    }

    func rights(of role: ComapiRole) -> ComapiRights { rights[role] ?? ComapiRights() }

    /// Takes somebody in, or gives somebody another role.
    mutating func join(_ participant: ComapiParticipant) {
        if participants.updateValue(participant.role, forKey: participant.id) == nil { order.append(participant.id) }
    }

    mutating func leave(_ ids: Set<ComapiID>) {
        for id in ids { participants[id] = nil }
        order.removeAll { ids.contains($0) }
    }

    mutating func leaveAll() { (participants, order) = ([:], []) }

    /// The members that clients set, which the tag is made of.
    var core: JSONObject {
        var core: JSONObject = ["id": id.json]
        if let name { core.append("name", .string(name)) }
        if let about { core.append("description", .string(about)) }
        core.append(
            "roles",
            .object(JSONObject(ComapiRole.allCases.map { ($0.rawValue, rights(of: $0).json) })))
        core.append("isPublic", .bool(isPublic))
        return core
    }

    var etag: String { ComapiETag.tag(of: .object(core)) }

    /// As answered. Source: test data of the Android SDK.
    var json: JSON {
        var object = core
        object.append("messageScope", "a2p")
        object.append("participantCount", JSON(participants.count))
        if let latest = log.latestSentID { object.append("latestSentEventId", JSON(latest)) }
        object.append("_etag", .string(etag))
        object.append("_createdOn", .string(created.rfc3339))
        object.append("_createdBy", .string("session:\(creator.text)"))
        object.append("_updatedOn", .string(updated.rfc3339))
        object.append("_updatedBy", .string("session:\(updater.text)"))
        return .object(object)
    }

    /// An estimate of the memory that it takes without its log.
    var byteCount: Int { JSON.object(core).bytes.count + 200 + participantBytes }

    private var participantBytes: Int { order.reduce(0) { $0 + $1.text.utf8.count + 64 } }
}
