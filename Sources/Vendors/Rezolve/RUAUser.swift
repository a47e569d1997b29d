import Emulation
import JSON

/// A user of RUA, the sample sign-in server; represents one customer.
struct RUAUser: Sendable, KeyedRecord, CodedRecord {
    private(set) var id: Int
    /// The customer that the user represents.
    private(set) var entityID: String
    private(set) var partnerID: String
    private(set) var username: String
    /// `nil` for guests.
    var password: String?
    var firstName: String?
    var lastName: String?
    var email: String
    var phone: String
    private(set) var created: Moment
    /// When the details last changed.
    var updated: Moment
    var isGuest = false
    var isConfirmed = false
    /// `nil` until the first sign-in.
    var timesLoggedIn: Int?
    /// The devices whose sessions were logged out, the latest last.
    private(set) var loggedOutDevices: [String] = []
    /// ours: a limit; sessions dropped from the list count as open again.
    static let maximumLoggedOutDevices = 100

    init(
        id: Int, customer: RezolveCustomer, username: String = "", password: String? = nil, firstName: String? = nil,
        lastName: String? = nil, email: String = "", phone: String = "", created: Moment
    ) {
        (self.id, entityID, partnerID) = (id, customer.entityID, customer.partnerID)
        (self.username, self.password) = (username, password)
        (self.firstName, self.lastName, self.email, self.phone) = (firstName, lastName, email, phone)
        (self.created, updated) = (created, created)
    }

    /// Whether the session on that device was logged out. A session that was never opened counts as open: a partner's
    /// own server may have signed its token (ours).
    func isLoggedOut(on device: String) -> Bool { loggedOutDevices.contains { $0.hasSameBytes(as: device) } }

    /// The maximum number of counted sign-ins. ours.
    static let mostLogins = 1_000_000_000

    /// Opens a session on that device, even after a logout, and counts the sign-in.
    mutating func logIn(on device: String) {
        timesLoggedIn = min(timesLoggedIn ?? 0, Self.mostLogins - 1) + 1
        loggedOutDevices.removeAll { $0.hasSameBytes(as: device) }
    }

    mutating func logOut(on device: String) {
        guard !isLoggedOut(on: device) else { return }
        if loggedOutDevices.count == Self.maximumLoggedOutDevices { loggedOutDevices.removeFirst() }
        loggedOutDevices.append(device)
    }

    /// The user as RUA answers it. Source: observed, QA tests; `ios` needs `id`, `username`, `email`, `sdkEntity` and
    /// `sdkPartner` to decode it.
    var json: JSON {
        [
            "id": JSON(id), "username": .string(username), "title": nil, "firstName": JSON(firstName),
            "lastName": JSON(lastName), "email": .string(email), "phone": .string(phone), "language": "en",
            "sdkEntity": .string(entityID), "sdkPartner": .string(partnerID), "createdAt": Self.timestamp(created),
            "updatedAt": Self.timestamp(updated), "enabled": true, "partnerId": .string(partnerID),
            "applicationId": nil, "timesLoggedIn": timesLoggedIn.map { JSON($0) } ?? .null,
            "roles": [["role": "ROLE_USER"]], "socialProviders": nil, "guest": .bool(isGuest),
            "accountNonExpired": true, "accountNonLocked": true, "credentialsNonExpired": true, "timezone": "GMT",
        ]
    }

    /// RUA omits the time zone; the time is UTC.
    private static func timestamp(_ moment: Moment) -> JSON { .string(String(moment.rfc3339.dropLast())) }

    // MARK: - As a record

    /// A name of a user: the customer, or what it signs in with; unique per partner.
    struct Name: Hashable, Sendable {
        enum Kind: Hashable, Sendable {
            case customer
            case username
            case email
            case phone
        }

        let partnerID: String
        let kind: Kind
        @ExactText var text: String

        init(_ kind: Kind, _ text: String, of partnerID: String) {
            (self.partnerID, self.kind) = (partnerID, kind)
            _text = ExactText(text)
        }

        /// The customer that a user represents; its id is unique among all partners.
        static func customer(_ entityID: String) -> Name { Name(.customer, entityID, of: "") }
    }

    var key: Int { id }
    var secretText: String? { password }
    var memory: Int {
        let texts = [username, password, firstName, lastName, email, phone].compactMap(\.self) + loggedOutDevices
        return texts.reduce(512) { $0 + $1.utf8.count }
    }
    static var keyOrder: ((Int, Int) -> Bool)? { { $0 < $1 } }

    /// Empty texts are not names.
    var names: [Name] {
        var names = [Name.customer(entityID)]
        if !username.isEmpty { names.append(Name(.username, username, of: partnerID)) }
        if !email.isEmpty { names.append(Name(.email, email, of: partnerID)) }
        if !phone.isEmpty { names.append(Name(.phone, phone, of: partnerID)) }
        return names
    }

    func clash(over name: Name?) -> String {
        guard let name, name.kind != .customer else {
            return "another user has the id \(id) or stands for the same customer"
        }
        return "another user of partner \(partnerID) signs in with “\(name.text)” too"
    }

    mutating func keepSecrets(of known: RUAUser, fromWhole _: Bool) {
        let isSamePerson =
            entityID.hasSameBytes(as: known.entityID) && partnerID == known.partnerID
            && username.hasSameBytes(as: known.username)
        if password == nil, !isGuest, isSamePerson { password = known.password }
    }

    /// The largest id that may be imported: ids continue from the largest one of the fixtures.
    static let largestID = 2_000_000_000
    private static let largestFixtureID = 1_000_000_000

    init() { self.init(id: 0, customer: RezolveCustomer(), created: Moment(unixSeconds: 0)) }

    mutating func code(_ coder: inout RecordCoder) {
        coder.writesLast("updated", "first_name", "last_name", "times_logged_in", "password")
        coder.member("id", &id)
        coder.member("customer", &entityID)
        coder.member("username", &username)
        coder.secret("password", &password)
        coder.member("first_name", &firstName)
        coder.member("last_name", &lastName)
        coder.member("email", &email, or: "")
        coder.member("phone", &phone, or: "")
        coder.member("created", &created, or: created)
        var changed = updated == created ? nil : updated
        coder.member("updated", &changed)
        updated = changed ?? created
        coder.member("guest", &isGuest, or: false)
        coder.member("confirmed", &isConfirmed, or: false)
        coder.member("times_logged_in", &timesLoggedIn, in: 0...Self.mostLogins)
        let devices = coder.elements { loggedOutDevices.map(JSON.string) }
        coder.list("logged_out_devices", devices, atMost: Self.maximumLoggedOutDevices) {
            (node) throws(FixtureProblem) in logOut(on: try node.string())
        }
        if coder.extent == nil { coder.check(password != nil || isGuest, or: "member “password” is missing") }
        let largest = coder.extent == nil ? Self.largestFixtureID : Self.largestID
        coder.check((1...largest).contains(id), or: "user id \(id) is not between 1 and \(largest)")
    }
}

extension RecordTable<RUAUser> {
    /// Reads the customer that a user represents, before the user itself.
    static func preparation(_ customers: RecordTable<RezolveCustomer>) -> Preparation {
        { (user, entry) throws(FixtureProblem) in
            let entity = try entry.required("customer").string()
            guard let customer = customers[entity] else {
                throw entry.node.problem("the customer \(entity) is unknown")
            }
            user = RUAUser(id: 0, customer: customer, created: customer.created)
        }
    }

    func user(entity: String) -> RUAUser? { self[named: .customer(entity)] }

    func user(of partner: String, username: String) -> RUAUser? {
        self[named: RUAUser.Name(.username, username, of: partner)]
    }

    /// The partner's user with that email; an empty one never matches.
    func user(of partner: String, email: String) -> RUAUser? { self[named: RUAUser.Name(.email, email, of: partner)] }

    /// The partner's user with that phone; an empty one never matches.
    func user(of partner: String, phone: String) -> RUAUser? { self[named: RUAUser.Name(.phone, phone, of: partner)] }
}
