import Emulation
import JSON

enum ComapiRole: String, Sendable, CaseIterable, RecordValue {
    case owner
    case participant

    /// The role with this name; `member` means participant (observed, documents of the JS SDK).
    init?(named name: String) {
        if name == "member" { self = .participant } else { self.init(rawValue: name) }
    }
}

/// The permissions of a role; an absent flag is true.
struct ComapiRights: Sendable, Hashable {
    enum Flag: String, CaseIterable { case canSend, canAddParticipants, canRemoveParticipants }

    private let refused: Set<Flag>

    init(refused: [Flag] = []) { self.refused = Set(refused) }

    func allows(_ flag: Flag) -> Bool { !refused.contains(flag) }

    var json: JSON { .object(JSONObject(Flag.allCases.map { ($0.rawValue, .bool(allows($0))) })) }
}

struct ComapiParticipant: CodedRecord {
    var id = ComapiID("")
    var role = ComapiRole.participant

    mutating func code(_ coder: inout RecordCoder) {
        coder.member("id", &id)
        coder.member("role", &role, or: .participant)
    }

    var json: JSON { ["id": id.json, "role": .string(role.rawValue)] }

    /// As `conversation.create` shows it. Source: recordings of the Android and iOS SDKs.
    func member(of conversation: ComapiID, in space: ComapiSpace) -> JSON {
        [
            "id": id.json, "role": .string(role.rawValue), "conversationId": conversation.json,
            "apiSpaceId": space.id.json,
        ]
    }
}

struct ComapiConversation: Sendable, KeyedRecord, CodedRecord {
    private(set) var id: ComapiID
    var name: String?
    var about: String?
    var isPublic = false
    var rights: [ComapiRole: ComapiRights] = [:]
    private(set) var participants: [ComapiID: ComapiRole] = [:]
    /// The participants' ids, in order of joining.
    private var order: [ComapiID] = []
    private var idBytes = 0
    var created: Moment
    var creator: ComapiID
    var updated: Moment
    var updater: ComapiID
    /// The number of changes of its members.
    var revision = 1
    var deleted: Moment?
    var log = ComapiEventLog()

    init(id: ComapiID, by creator: ComapiID, at moment: Moment) {
        self.id = id
        (created, updated) = (moment, moment)
        (self.creator, updater) = (creator, creator)
    }

    /// The maximum number of participants per conversation. ours.
    static let participantCapacity = 10_000

    /// The participants in order of joining.
    var joined: [ComapiParticipant] {
        order.compactMap { id in participants[id].map { ComapiParticipant(id: id, role: $0) } }
    }

    func rights(of role: ComapiRole) -> ComapiRights { rights[role] ?? ComapiRights() }

    /// Adds a participant, or changes its role.
    mutating func join(_ participant: ComapiParticipant) {
        guard participants.updateValue(participant.role, forKey: participant.id) == nil else { return }
        order.append(participant.id)
        idBytes += participant.id.text.utf8.count
    }

    mutating func leave(_ ids: Set<ComapiID>) {
        for id in ids where participants.removeValue(forKey: id) != nil { idBytes -= id.text.utf8.count }
        order.removeAll { ids.contains($0) }
    }

    /// The members that clients set, from which the tag is computed.
    var core: JSONObject {
        var core: JSONObject = ["id": id.json]
        if let name { core.append("name", .string(name)) }
        if let about { core.append("description", .string(about)) }
        core.append("roles", .object(JSONObject(ComapiRole.allCases.map { ($0.rawValue, rights(of: $0).json) })))
        core.append("isPublic", .bool(isPublic))
        return core
    }

    var etag: String { JSON.object(core).entityTag }

    /// The conversation as sent. Source: test data of the Android SDK.
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

    // MARK: - As a record

    var key: ComapiID { id }
    static var keyOrder: ((ComapiID, ComapiID) -> Bool)? { { $0 < $1 } }

    var memory: Int {
        let texts = (name?.utf8.count ?? 0) + (about?.utf8.count ?? 0)
        return 500 + texts + idBytes + 128 * order.count + log.byteCount
    }

    func clash(over name: Never?) -> String { "another conversation has the id \(id.text)" }

    init() { self.init(id: ComapiID(""), by: ComapiID(""), at: Moment(unixSeconds: 0)) }

    mutating func code(_ coder: inout RecordCoder) {
        coder.member("id", &id)
        coder.member("name", &name)
        coder.member("description", &about)
        coder.member("public", &isPublic, or: false)
        coder.member("roles", &rights, or: [:], write: Self.json) { (node) throws(FixtureProblem) in
            var rights: [ComapiRole: ComapiRights] = [:]
            for (name, value) in try node.mapping(ComapiRole.allCases.map(\.rawValue)).members {
                if let role = ComapiRole(rawValue: name) { rights[role] = try ComapiRights(value) }
            }
            return rights
        }
        var participants = joined
        coder.list("participants", &participants, atMost: Self.participantCapacity)
        if coder.isReading { for participant in participants { join(participant) } }
        coder.instant("created", &created)
        coder.member("creator", &creator)
        coder.instant("updated", &updated, or: created)
        coder.member("updater", &updater, or: creator)
        coder.member("revision", &revision, or: 1, in: 1...Ordinal.largest)
        coder.instant("deleted", &deleted)
        log.code(&coder)
    }

    private static func json(_ rights: [ComapiRole: ComapiRights]) -> JSON {
        .object(
            JSONObject(rights.sorted { $0.key.rawValue < $1.key.rawValue }.map { ($0.key.rawValue, $0.value.json) }))
    }
}

extension ComapiRights {
    fileprivate init(_ node: FixtureNode) throws(FixtureProblem) {
        let members = try node.mapping(Flag.allCases.map(\.rawValue)).members
        var refused: [Flag] = []
        for (name, value) in members { if let flag = Flag(rawValue: name), try !value.bool() { refused.append(flag) } }
        self.init(refused: refused)
    }
}

/// The conversation data that a client sends.
struct ComapiConversationDraft {
    let id: ComapiID
    private let name: String?
    private let about: String?
    private let isPublic: Bool?
    private let rights: [ComapiRole: ComapiRights]?
    let participants: [ComapiParticipant]

    /// Reads the members of a body; absent members stay unchanged.
    ///
    /// - Parameter current: the conversation to change; `nil` for a new one, which may name participants.
    init(_ body: inout FieldReader, changing current: ComapiID? = nil) {
        if let current, let value = body["id"], value.string.map({ ComapiID($0) != current }) ?? true {
            body.refuse(
                "id", "is \(value.text.prefix(100)), not \(JSON.string(current.text).text), and never changes")
        }
        id = current ?? ComapiID(body.text("id"))
        name = body.optionalText("name")
        about = body.optionalText("description")
        isPublic = body.bool("isPublic")
        rights = body.nested("roles", Self.rights)
        participants = current == nil ? ComapiParticipant.list("participants", in: &body) : []
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
