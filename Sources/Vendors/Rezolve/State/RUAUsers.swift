import Emulation
import JSON

/// The users of RUA, found by id, by customer, and by what they sign in with.
struct RUAUsers: Sendable {
    /// What a user is known by; unique per partner.
    struct Name: Hashable, Sendable {
        let partnerID: String
        let kind: Kind
        @ExactText var text: String

        enum Kind: Hashable, Sendable {
            case username
            case email
            case phone
        }
    }

    private var users: [Int: RUAUser] = [:]
    private var idsByEntity = ExactTextMap<Int>()
    private var idsByName: [Name: Int] = [:]
    /// The passwords that users have, or had.
    private(set) var passwords = SecretLedger()
    /// The id of the user that registered last.
    private(set) var lastID = 1000

    /// All users, by id.
    var all: [RUAUser] { users.values.sorted { $0.id < $1.id } }

    /// The largest id; ids go on from the largest one of the fixtures, and an export has those too.
    static let largestID = 2_000_000_000

    /// The id of the next user that registers.
    var nextID: Int { nextID { _ in false } }

    /// The id of the next user that registers, for whom something else must be free as well.
    func nextID(besides isTaken: (Int) -> Bool) -> Int {
        Ordinal.free(after: lastID, upTo: Self.largestID) { users[$0] != nil || isTaken($0) }
    }

    /// The user of that id.
    subscript(id: Int) -> RUAUser? { users[id] }

    /// The user that stands for a customer.
    func user(entity: String) -> RUAUser? { idsByEntity[entity].flatMap { users[$0] } }

    /// The user of a partner with that username.
    func user(of partner: String, username: String) -> RUAUser? { user(partner, .username, username) }

    /// The user of a partner with that email; nobody has an empty one.
    func user(of partner: String, email: String) -> RUAUser? { user(partner, .email, email) }

    /// The user of a partner with that phone; nobody has an empty one.
    func user(of partner: String, phone: String) -> RUAUser? { user(partner, .phone, phone) }

    private func user(_ partner: String, _ kind: Name.Kind, _ text: String) -> RUAUser? {
        idsByName[Name(partnerID: partner, kind: kind, text: text)].flatMap { users[$0] }
    }

    /// Stores a new or changed user.
    mutating func store(_ user: RUAUser) {
        if let password = user.password, users[user.id]?.password != password { passwords.add(password) }
        users[user.id] = user
        idsByEntity[user.entityID] = user.id
        for name in user.names where idsByName[name] == nil { idsByName[name] = user.id }
        lastID = max(lastID, user.id)
    }

    /// Stores a user in the place of what it was, whose names nobody is known by any more.
    mutating func rename(_ user: RUAUser) {
        for name in users[user.id]?.names ?? [] where idsByName[name] == user.id { idsByName[name] = nil }
        store(user)
    }

    /// Has ids count on from there, if they have not come so far.
    mutating func count(from id: Int) { lastID = max(lastID, id) }

    /// Forgets the user that stands for a customer.
    mutating func remove(entity: String) {
        guard let user = idsByEntity.removeValue(forKey: entity).flatMap({ users.removeValue(forKey: $0) }) else {
            return
        }
        for name in user.names where idsByName[name] == user.id { idsByName[name] = nil }
    }
}

extension RUAUser {
    /// What the user is known by.
    var names: [RUAUsers.Name] {
        [(RUAUsers.Name.Kind.username, username), (.email, email), (.phone, phone)]
            .filter { !$0.1.isEmpty }.map { RUAUsers.Name(partnerID: partnerID, kind: $0.0, text: $0.1) }
    }
}
