import Emulation
import JSON

/// The profile of a user: a free-form object.
///
/// Source: members observed, iOS SDK; `_createdOn` and `_updatedOn` observed, mock of the JS SDK.
struct ComapiProfile: Sendable {
    private(set) var id: ComapiID
    /// Without `id` and members that start with `_`.
    private(set) var members: JSONObject
    private(set) var created: Moment
    private(set) var updated: Moment
    private(set) var revision = 1

    init(id: ComapiID, members: JSONObject, created: Moment, updated: Moment? = nil, revision: Int = 1) {
        self.id = id
        self.members = members
        self.created = created
        self.updated = updated ?? created
        self.revision = revision
    }

    /// The members that must be texts if present.
    static let textMembers = [
        "firstName", "lastName", "email", "gender", "phoneNumber", "phoneNumberCountryCode", "profilePicture",
    ]

    var json: JSON { .object(object) }

    var object: JSONObject {
        var object = bare
        object.append("_createdOn", .string(created.rfc3339))
        object.append("_updatedOn", .string(updated.rfc3339))
        return object
    }

    private var bare: JSONObject { JSONObject([("id", id.json)] + members.map { ($0.name, $0.value) }) }

    var etag: String { ComapiETag.tag(of: .object(bare)) }

    /// First and last name, else the id (ours).
    var displayName: String {
        let names = ["firstName", "lastName"].compactMap { members[$0]?.string }.filter { !$0.utf8.isEmpty }
        return names.isEmpty ? id.text : names.joined(separator: " ")
    }

    /// The profile with other members and the next revision; `nil` if nothing changes.
    func changed(to members: JSONObject, at moment: Moment) -> ComapiProfile? {
        if JSON.object(members).isEquivalent(to: .object(self.members)) { return nil }
        return ComapiProfile(
            id: id, members: members, created: created, updated: moment, revision: Ordinal.next(after: revision))
    }
}

// MARK: - As a record

extension ComapiProfile: KeyedRecord, CodedRecord {
    var key: ComapiID { id }
    static var keyOrder: ((ComapiID, ComapiID) -> Bool)? { { $0 < $1 } }
    /// A value takes about four times its text.
    var memory: Int { 4 * JSON.object(bare).bytes.count + 200 }

    func clash(over name: Never?) -> String { "another profile has the id \(id.text)" }

    init() { self.init(id: ComapiID(""), members: [:], created: Moment(unixSeconds: 0)) }

    mutating func code(_ coder: inout RecordCoder) {
        coder.member("id", &id)
        coder.member("members", &members, or: [:], write: { .object($0) }) { (node) throws(FixtureProblem) in
            var members = JSONObject()
            for (name, value) in try node.members() {
                guard name != "id", !name.utf8.starts(with: "_".utf8) else {
                    throw value.nameProblem("\(name) is the server's own")
                }
                // Stored members have no duplicate names.
                members.append(name, try value.verbatim())
            }
            return members
        }
        coder.instant("created", &created)
        coder.instant("updated", &updated, or: created)
        coder.member("revision", &revision, or: 1, in: 1...Ordinal.largest)
    }
}
