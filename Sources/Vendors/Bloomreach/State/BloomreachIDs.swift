import Emulation
import JSON

/// One id of a customer: a name and a value, compared byte by byte.
struct BloomreachID: Sendable, Hashable {
    /// The soft id; a customer has many.
    static let cookie = "cookie"
    /// The hard id that every project has.
    static let registered = "registered"

    let name: String
    let value: String

    var json: JSON { .object([name: .string(value)]) }

    static func == (left: BloomreachID, right: BloomreachID) -> Bool {
        left.name.hasSameBytes(as: right.name) && left.value.hasSameBytes(as: right.value)
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(name)
        hasher.combine(value)
    }
}

/// The ids by which a request or a token names a customer, without nulls and empty values.
struct BloomreachIDs: Sendable, Hashable {
    /// The maximum number of hard ids in a request, a token or a customer (ours).
    static let maximum = 50

    /// The soft id.
    var cookie: String?
    /// The hard ids, `registered` first, the others ordered by name.
    private(set) var hard: [BloomreachID] = []

    init() {}

    /// A soft id, and hard ids in any order; if a name repeats, the last value wins.
    init(cookie: String? = nil, hard: [BloomreachID]) {
        self.cookie = cookie
        for id in hard { set(id) }
    }

    /// Why an object is not a valid map of ids.
    enum Fault: Error, CustomStringConvertible {
        /// Not an object, but a value of this type.
        case notAnObject(String)
        case repeatedName(String)
        /// More than ``BloomreachIDs/maximum`` ids.
        case tooMany
        /// The value for this name is neither a string nor null.
        case wrongValue(String, String)

        /// What was found and what is expected.
        var description: String {
            switch self {
            case .notAnObject(let type): "a JSON \(type), not an object of id names with texts"
            case .repeatedName(let name): "the name \(name.prefix(100)) occurs twice; expected each once"
            case .tooMany: "found more ids; expected at most \(BloomreachIDs.maximum)"
            case .wrongValue(let name, let type): "\(name.prefix(100)) is a JSON \(type), not a string"
            }
        }
    }

    /// Reads a map of ids: name to string. Nulls and empty strings are dropped.
    init(_ value: JSON) throws(Fault) {
        guard let object = value.object else { throw .notAnObject(value.typeName) }
        if let name = object.duplicateNames.first { throw .repeatedName(name) }
        for member in object {
            if member.value.isNull { continue }
            guard let text = member.value.string else { throw .wrongValue(member.name, member.value.typeName) }
            if text.isEmpty || member.name.isEmpty { continue }
            if member.name.hasSameBytes(as: BloomreachID.cookie) {
                cookie = text
            } else {
                guard hard.count < Self.maximum else { throw .tooMany }
                set(BloomreachID(name: member.name, value: text))
            }
        }
    }

    /// Whether the ids name no customer.
    var isEmpty: Bool { cookie == nil && hard.isEmpty }

    subscript(name: String) -> String? { hard.first { $0.name.hasSameBytes(as: name) }?.value }

    var names: [String] { (cookie == nil ? [] : [BloomreachID.cookie]) + hard.map(\.name) }

    mutating func set(_ id: BloomreachID) {
        hard.removeAll { $0.name.hasSameBytes(as: id.name) }
        let place = hard.firstIndex { Self.comes(id.name, before: $0.name) } ?? hard.endIndex
        hard.insert(id, at: place)
    }

    mutating func remove(_ name: String) { hard.removeAll { $0.name.hasSameBytes(as: name) } }

    private static func comes(_ name: String, before other: String) -> Bool {
        if name == BloomreachID.registered { return true }
        if other == BloomreachID.registered { return false }
        return name.utf8.lexicographicallyPrecedes(other.utf8)
    }

    var json: JSON {
        var object = JSONObject(hard.map { ($0.name, .string($0.value)) })
        if let cookie { object.append(BloomreachID.cookie, .string(cookie)) }
        return .object(object)
    }
}
