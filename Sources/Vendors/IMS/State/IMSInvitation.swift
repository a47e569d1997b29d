import Emulation
import JSON

/// An invitation that a user sends. Source: the SDK's calls are documented (site); the members are ours.
struct IMSInvitation: Sendable, Hashable {
    enum Kind: String, CaseIterable, Sendable {
        case account
        case vehicle

        /// The member that lists what is shared.
        var member: String { self == .account ? "account_ids" : "vehicle_ids" }
    }

    /// ours: a limit.
    private static let mostShared = 100

    let kind: Kind
    let name: String
    let email: String
    let phone: String
    let sharedIDs: [String]
    let number: Int
    let user: Int
    let created: Moment

    init(_ body: inout FieldReader, number: Int, user: Int, created: Moment) {
        kind = body.choice("kind", isRequired: true) ?? .account
        name = body.text("name")
        email = body.email("email") ?? ""
        phone = body.optionalText("phone") ?? ""
        if email.isEmpty, phone.isEmpty {
            body.refuse("email", "was not sent, and neither was phone; expected one of them")
        }
        sharedIDs = Self.ids(kind.member, &body)
        (self.number, self.user, self.created) = (number, user, created)
    }

    private static func ids(_ name: String, _ body: inout FieldReader) -> [String] {
        let values = body.list(name) ?? []
        if values.count > mostShared { body.refuse(name, "has more than \(mostShared) elements") }
        for (index, value) in values.prefix(mostShared).enumerated()
        where !(1...IMSBody.longestText).contains(value.string?.unicodeScalars.count ?? 0) {
            body.refuse("\(name).\(index)", "is not a string of 1 to \(IMSBody.longestText) characters")
        }
        return values.compactMap(\.string)
    }

    var byteCount: Int { ([name, email, phone] + sharedIDs).reduce(256) { $0 + $1.utf8.count } }

    var json: JSON {
        [
            "kind": .string(kind.rawValue), "name": .string(name), "email": .string(email), "phone": .string(phone),
            kind.member: .array(sharedIDs.map(JSON.string)), "invitation_id": .string("inv-\(number)"),
            "from_user_id": .string(IMSUser.id(user)), "status": "sent", "created_at": JSON(created.wholeSeconds),
        ]
    }
}

/// The invitations of a sandbox, in the order in which they were sent.
struct IMSInvitations: Sendable {
    private(set) var all: [IMSInvitation] = []
    /// An estimate of their memory.
    private(set) var byteCount = 0
    private(set) var lastNumber = 0

    func invitations(of user: Int) -> [IMSInvitation] { all.filter { $0.user == user } }

    mutating func add(_ invitation: IMSInvitation) {
        all.append(invitation)
        byteCount += invitation.byteCount
        count(from: invitation.number)
    }

    var nextNumber: Int {
        guard lastNumber >= IMSUserStore.numbers.upperBound else { return lastNumber + 1 }
        let taken = Set(all.map(\.number))
        return Ordinal.free(after: lastNumber, upTo: IMSUserStore.numbers.upperBound, taken.contains)
    }

    /// Continues the numbering after that number, unless it is already further.
    mutating func count(from number: Int) { lastNumber = max(lastNumber, number) }

    mutating func keep(_ users: (Int) -> Bool) {
        all = all.filter { users($0.user) }
        byteCount = all.reduce(0) { $0 + $1.byteCount }
    }
}
