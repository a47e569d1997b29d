import Emulation
import HTTPTypes
import JSON
import Wire

/// The profile of a user: a free-form object.
///
/// Source: members observed, iOS SDK; `_createdOn` and `_updatedOn` observed, mock of the JS SDK.
struct ComapiProfile: Sendable, KeyedRecord, CodedRecord {
    private(set) var id = ComapiID("")
    /// Without `id` and members that start with `_`.
    private(set) var members: JSONObject = [:]
    private(set) var created = Moment(unixSeconds: 0)
    private(set) var updated = Moment(unixSeconds: 0)
    private(set) var revision = 1

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

    var etag: String { JSON.object(bare).entityTag }

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

    // MARK: - As a record

    var key: ComapiID { id }
    static var keyOrder: ((ComapiID, ComapiID) -> Bool)? { { $0 < $1 } }
    /// A value takes about four times its text.
    var memory: Int { 4 * JSON.object(bare).bytes.count + 200 }

    func clash(over name: Never?) -> String { "another profile has the id \(id.text)" }

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

/// Profiles. Source: observed, all SDKs; write permissions are ours.
extension Comapi {
    static func readProfile(_ call: inout ComapiCall, _ state: inout State) throws(Refused) -> Reply {
        let profile = try call.named("profile", in: state[call.space.id].profiles, orFail: .unknownProfile)
        return .tagged(profile.json, profile.etag)
    }

    static func queryProfiles(_ call: inout ComapiCall, _ state: inout State) throws(Refused) -> Reply {
        call.arrival.acceptQuery()
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
        let profile = try call.named("profile", in: state[call.space.id].profiles, orFail: .unknownProfile)
        try Refused.require(
            profile.id == call.caller.profileID, .foreignProfile,
            "the token is that of \(call.caller.profileID.text), not of \(profile.id.text), whose profile the path names"
        )
        try call.checkPrecondition(profile.etag)
        let status: HTTPResponse.Status = call.switches.profileWriteStatus == .created ? .created : .ok
        guard let changed = profile.changed(to: change(profile.members), at: call.moment) else {
            return .tagged(profile.json, profile.etag, status: status)
        }
        state[call.space.id].profiles.store(changed)
        call.send(.profileUpdate(changed, ComapiOccasion(call)), to: [.profile(profile.id, in: call.space.id)])
        return .tagged(changed.json, changed.etag, status: status)
    }

    /// The members to store from a request: the id must match the path, and server-owned members are ignored.
    private static func profileDraft(_ call: ComapiCall) throws(Refused) -> JSONObject {
        let own = ComapiID(call.parameters["profile"])
        let members = try call.body { body in
            if let id = body["id"], id.string.map({ ComapiID($0) != own }) ?? true {
                body.refuse("id", "is \(id.text.prefix(100)), not that of the path, and never changes")
            }
            for name in ComapiProfile.textMembers { _ = body.optionalText(name) }
            return body.whole
        }
        var draft = JSONObject()
        for member in members where member.name != "id" && !member.name.utf8.starts(with: "_".utf8) {
            draft[member.name] = member.value
        }
        return draft
    }
}

/// A query for profiles, in the language of npm `mongo-querystring` as far as the SDKs use it.
///
/// Source: operators observed, JS SDK profileManager.ts and Android SDK QueryBuilder.java; typing of values is ours.
struct ComapiProfileQuery: Sendable {
    /// ours: limits, so that a call stays fast.
    static let capacity = 100
    static let rowLimit = 1000

    enum Test: Sendable {
        case exists
        case isAbsent
        case equal(String)
        case notEqual(String)
        case oneOf([String])
        case noneOf([String])
        /// The value is less (-1), equal (0) or greater (1).
        case order(ClosedRange<Int>, String)
        case text(Part, String)
    }

    enum Part: Sendable { case start, end, anywhere }

    /// All of them must hold.
    private(set) var terms: [(path: [Substring], test: Test)] = []

    /// ours: the maximum length of a value, in bytes, and of the part of a text searched for it; a query runs with the
    /// state locked, so it must be fast.
    static let longestValue = 256
    private static let searchedBytes = 4096

    /// The number of values in the terms, and the length of the longest in bytes.
    private(set) var valueCount = 0
    private(set) var longestValue = 0

    /// Reads the raw text after the question mark; `+` stays `+`.
    init(_ text: Substring) {
        var (one, none): ([String: [String]], [String: [String]]) = ([:], [:])
        for (name, value) in PercentEncoding.items(of: text) {
            valueCount += 1
            longestValue = max(longestValue, value.utf8.count)
            if name.hasSuffix("[]") {
                let name = String(name.dropLast(2))
                if value.hasPrefix("!") {
                    none[name, default: []].append(String(value.dropFirst()))
                } else {
                    one[name, default: []].append(value)
                }
            } else if name.hasSuffix("!") {
                // The iOS SDK writes `k!=v`.
                add(String(name.dropLast()), value.isEmpty ? .isAbsent : .notEqual(value))
            } else {
                add(name, Self.test(value))
            }
        }
        for (name, values) in one { add(name, .oneOf(values)) }
        for (name, values) in none { add(name, .noneOf(values)) }
    }

    private mutating func add(_ name: String, _ test: Test) {
        terms.append((name.split(separator: ".", omittingEmptySubsequences: false), test))
    }

    private static func test(_ value: String) -> Test {
        if value.isEmpty { return .exists }
        if value == "!" { return .isAbsent }
        for (sign, test) in signs where value.utf8.starts(with: sign.utf8) {
            return test(String(decoding: value.utf8.dropFirst(sign.utf8.count), as: UTF8.self))
        }
        return .equal(value)
    }

    /// Longer operators come first.
    private static let signs: [(String, @Sendable (String) -> Test)] = [
        (">=", { .order(0...1, $0) }), ("<=", { .order(-1...0, $0) }),
        (">", { .order(1...1, $0) }), ("<", { .order(-1 ... -1, $0) }), ("!", { .notEqual($0) }),
        ("^", { .text(.start, $0) }), ("$", { .text(.end, $0) }), ("~", { .text(.anywhere, $0) }),
    ]

    func matches(_ profile: JSONObject) -> Bool {
        terms.allSatisfy { term in Self.holds(term.test, for: Self.value(at: term.path[...], in: profile)) }
    }

    private static func value(at path: ArraySlice<Substring>, in object: JSONObject) -> JSON? {
        guard let name = path.first, let value = object[String(name)] else { return nil }
        let rest = path.dropFirst()
        if rest.isEmpty { return value }
        return value.object.flatMap { Self.value(at: rest, in: $0) }
    }

    private static func holds(_ test: Test, for value: JSON?) -> Bool {
        switch test {
        case .exists: value != nil
        case .isAbsent: value == nil
        case .equal(let wanted): value.map { equals($0, wanted) } ?? false
        case .notEqual(let wanted): value.map { !equals($0, wanted) } ?? true
        case .oneOf(let wanted): value.map { value in wanted.contains { equals(value, $0) } } ?? false
        case .noneOf(let wanted): value.map { value in !wanted.contains { equals(value, $0) } } ?? true
        case .order(let range, let wanted): value.flatMap { order($0, wanted) }.map(range.contains) ?? false
        case .text(let part, let wanted): value.flatMap(text).map { contains($0, part, wanted) } ?? false
        }
    }

    /// A text that parses as a number or boolean equals both itself and that value.
    private static func equals(_ value: JSON, _ wanted: String) -> Bool {
        switch value {
        case .string(let text): text.hasSameBytes(as: wanted)
        case .number(let number): self.number(wanted).map(number.isEquivalent(to:)) ?? false
        case .bool(let bool): wanted == (bool ? "true" : "false")
        case .null, .array, .object: false
        }
    }

    /// How a value compares; `nil` if it has no text.
    private static func order(_ value: JSON, _ wanted: String) -> Int? {
        if let number = value.number, let wanted = self.number(wanted) {
            return number.isLess(than: wanted) ? -1 : wanted.isLess(than: number) ? 1 : 0
        }
        guard let text = text(value).map({ ComapiID($0) }) else { return nil }
        return text < ComapiID(wanted) ? -1 : ComapiID(wanted) < text ? 1 : 0
    }

    private static func contains(_ text: String, _ part: Part, _ wanted: String) -> Bool {
        let wanted = wanted.lowercased()
        return switch part {
        case .start: text.lowercased().hasPrefix(wanted)
        case .end: text.lowercased().hasSuffix(wanted)
        case .anywhere:
            wanted.isEmpty
                || String(decoding: text.utf8.prefix(searchedBytes), as: UTF8.self).lowercased().contains(wanted)
        }
    }

    /// The value as text for comparison; `nil` for arrays, objects and `null`.
    private static func text(_ value: JSON) -> String? {
        switch value {
        case .string(let text): text
        case .number(let number): number.literal
        case .bool(let bool): bool ? "true" : "false"
        case .null, .array, .object: nil
        }
    }

    private static func number(_ text: String) -> JSONNumber? {
        // Text that is not valid JSON is not a number.
        (try? JSON.parse(text.utf8))?.number
    }
}
